//===-- Diagnostics.h - MLIR diagnostics as Python exceptions -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_PYTHON_DIAGNOSTICS_H
#define TILE_PYTHON_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"

#include <string>
#include <vector>

namespace tile::python {

/// One place in the user's sources.
struct SourcePlace {
  std::string file;
  unsigned line = 0;
  unsigned column = 0;
};

/// A diagnostic, detached from the context that reported it.
struct CollectedDiagnostic {
  std::string severity;
  std::string message;
  /// The place, then the places of the calls that lead there, innermost first.
  std::vector<SourcePlace> places;
  /// How MLIR prints the location.
  std::string location;
  std::vector<CollectedDiagnostic> notes;
};

/// Finds the source places a location stands for, innermost first.
std::vector<SourcePlace> getSourcePlaces(mlir::Location loc);

/// Thrown for a diagnostic of error severity; becomes `tile._C.ir.MLIRError`.
struct MLIRError {
  std::string message;
  std::vector<CollectedDiagnostic> diagnostics;
};

/// Collects what a context reports while this lives; nothing reaches stderr.
class DiagnosticCollector {
public:
  explicit DiagnosticCollector(mlir::MLIRContext *context);

  /// Throws the collected errors, under `what` if none was reported.
  [[noreturn]] void raise(const char *what);
  /// The same, unless all went well: an error that was reported is one,
  /// whatever the result says.
  void check(mlir::LogicalResult result, const char *what);

  std::vector<CollectedDiagnostic> diagnostics;

private:
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace tile::python

#endif // TILE_PYTHON_DIAGNOSTICS_H
