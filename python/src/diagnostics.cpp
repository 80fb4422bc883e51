//===-- diagnostics.cpp - MLIR diagnostics as Python exceptions -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Diagnostics.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace tile::python {

static void appendSourcePlaces(Location loc, std::vector<SourcePlace> &places) {
  TypeSwitch<LocationAttr>(loc)
      .Case([&](FileLineColLoc file) {
        places.push_back(
            {file.getFilename().str(), file.getLine(), file.getColumn()});
      })
      .Case(
          [&](NameLoc name) { appendSourcePlaces(name.getChildLoc(), places); })
      .Case([&](CallSiteLoc call) {
        appendSourcePlaces(call.getCallee(), places);
        appendSourcePlaces(call.getCaller(), places);
      })
      .Case([&](FusedLoc fused) {
        // Any of the fused places will do; the first is the one merged into.
        if (!fused.getLocations().empty())
          appendSourcePlaces(fused.getLocations().front(), places);
      })
      .Case([&](OpaqueLoc opaque) {
        appendSourcePlaces(opaque.getFallbackLocation(), places);
      });
}

std::vector<SourcePlace> getSourcePlaces(Location loc) {
  std::vector<SourcePlace> places;
  appendSourcePlaces(loc, places);
  return places;
}

static const char *getSeverityName(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Note:
    return "note";
  case DiagnosticSeverity::Warning:
    return "warning";
  case DiagnosticSeverity::Error:
    return "error";
  case DiagnosticSeverity::Remark:
    return "remark";
  }
  return "error";
}

static CollectedDiagnostic collect(const Diagnostic &diag) {
  CollectedDiagnostic result;
  result.severity = getSeverityName(diag.getSeverity());
  result.message = diag.str();
  result.places = getSourcePlaces(diag.getLocation());
  llvm::raw_string_ostream(result.location) << diag.getLocation();
  for (const Diagnostic &note : diag.getNotes())
    result.notes.push_back(collect(note));
  return result;
}

DiagnosticCollector::DiagnosticCollector(MLIRContext *context)
    : handler(context, [this](Diagnostic &diag) {
        diagnostics.push_back(collect(diag));
        return success();
      }) {}

void DiagnosticCollector::raise(const char *what) {
  std::string message;
  for (const CollectedDiagnostic &diag : diagnostics) {
    if (diag.severity != "error")
      continue;
    message = diag.message;
    break;
  }
  if (message.empty())
    message = what;
  throw MLIRError{std::move(message), std::move(diagnostics)};
}

void DiagnosticCollector::check(LogicalResult result, const char *what) {
  if (failed(result) ||
      llvm::any_of(diagnostics, [](const CollectedDiagnostic &diag) {
        return diag.severity == "error";
      }))
    raise(what);
}

} // namespace tile::python
