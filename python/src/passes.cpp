//===-- passes.cpp - PassManager ------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Bindings.h"
#include "Diagnostics.h"
#include "Handles.h"
#include "Registry.h"

#include "tile/Pipeline/InitAll.h"
#include "tile/Support/PassStatistic.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/Debug.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <mutex>

namespace nb = nanobind;
using namespace nb::literals;
using namespace mlir;

namespace tile::python {

namespace {
/// A remark, detached from the context that reported it.
struct CollectedRemark {
  std::string pass, name, message;
  /// As in CollectedDiagnostic.
  std::vector<SourcePlace> places;
};

/// Keeps the remarks that an engine reports.
class RemarkCollector : public remark::detail::MLIRRemarkStreamerBase {
public:
  explicit RemarkCollector(std::vector<CollectedRemark> &remarks)
      : remarks(remarks) {}

  void streamOptimizationRemark(const remark::detail::Remark &remark) override {
    CollectedRemark result{remark.getCategoryName().str(),
                           remark.getRemarkName().str(), "",
                           getSourcePlaces(remark.getLocation())};
    for (const remark::detail::Remark::Arg &arg : remark.getArgs())
      result.message += arg.val;
    std::lock_guard<std::mutex> lock(mutex);
    remarks.push_back(std::move(result));
  }

private:
  std::vector<CollectedRemark> &remarks;
  std::mutex mutex;
};

/// A pass manager that knows which of its passes failed.
struct PyPassManager {
  ContextRef context;
  /// Where the IR is printed, if not to stderr.
  std::unique_ptr<llvm::raw_fd_ostream> out;
  std::unique_ptr<PassManager> pm;
  std::shared_ptr<std::string> failedPass;
  /// A regular expression of the passes whose remarks are kept; none if empty.
  std::string remarkFilter;
  std::vector<CollectedRemark> remarks;
};

/// Records which pass failed, so that an error can name it.
struct FailureRecorder : PassInstrumentation {
  std::shared_ptr<std::string> failedPass;
  explicit FailureRecorder(std::shared_ptr<std::string> failedPass)
      : failedPass(std::move(failedPass)) {}
  void runAfterPassFailed(Pass *pass, Operation *) override {
    // Passes that hold a pipeline fail after the pass that broke it.
    if (failedPass->empty())
      *failedPass = pass->getArgument().empty() ? pass->getName().str()
                                                : pass->getArgument().str();
  }
};
} // namespace

void registerPasses() {
  static const bool registered = [] {
    triton::registerAllPasses();
    return true;
  }();
  (void)registered;
}

static PyPassManager parse(std::string_view pipeline, PyContext &context) {
  registerPasses();
  auto pm = std::make_unique<PassManager>(context.ref.get(),
                                          ModuleOp::getOperationName());
  DiagnosticCollector diagnostics(context.ref.get());
  std::string errors;
  llvm::raw_string_ostream os(errors);
  if (failed(parsePassPipeline(pipeline, *pm, os))) {
    if (!errors.empty())
      throw MLIRError{StringRef(errors).trim().str(),
                      std::move(diagnostics.diagnostics)};
    diagnostics.raise("cannot parse the pass pipeline");
  }
  auto failedPass = std::make_shared<std::string>();
  pm->addInstrumentation(std::make_unique<FailureRecorder>(failedPass));
  return {context.ref, nullptr, std::move(pm), std::move(failedPass), {}, {}};
}

static nb::object run(PyPassManager &self, PyModule &module) {
  if (module.unit->context != self.context)
    throw nb::value_error("the module belongs to another context");
  self.failedPass->clear();
  DiagnosticCollector diagnostics(self.context.get());
  ++module.unit->generation;
  self.remarks.clear();
  if (!self.remarkFilter.empty()) {
    remark::RemarkCategories categories;
    categories.missed = self.remarkFilter;
    if (failed(remark::enableOptimizationRemarks(
            *self.context.get(),
            std::make_unique<RemarkCollector>(self.remarks),
            std::make_unique<remark::RemarkEmittingPolicyAll>(), categories)))
      diagnostics.raise("cannot enable remarks");
  }
  llvm::scope_exit endRemarks([&] {
    if (!self.remarkFilter.empty())
      self.context->setRemarkEngine(nullptr);
  });
  LogicalResult result = failure();
  {
    nb::gil_scoped_release release;
    result = self.pm->run(module.unit->module.get());
  }
  if (failed(result)) {
    std::string what = self.failedPass->empty()
                           ? std::string("the pass pipeline failed")
                           : "pass '" + *self.failedPass + "' failed";
    diagnostics.raise(what.c_str());
  }
  nb::list warnings;
  for (const CollectedDiagnostic &diag : diagnostics.diagnostics)
    warnings.append(nb::make_tuple(diag.severity, diag.location, diag.message));
  return warnings;
}

static nb::list getRemarks(PyPassManager &self) {
  nb::list result;
  for (const CollectedRemark &remark : self.remarks) {
    nb::list places;
    for (const SourcePlace &place : remark.places)
      places.append(nb::make_tuple(place.file, place.line, place.column));
    result.append(
        nb::make_tuple(remark.pass, remark.name, remark.message, places));
  }
  return result;
}

static void enableIRPrinting(PyPassManager &self, bool before,
                             const std::string &path) {
  llvm::raw_ostream *out = &llvm::errs();
  if (!path.empty()) {
    std::error_code error;
    self.out = std::make_unique<llvm::raw_fd_ostream>(path, error,
                                                      llvm::sys::fs::OF_Append);
    if (error)
      throw nb::value_error(
          ("cannot write " + path + ": " + error.message()).c_str());
    out = self.out.get();
  }
  auto always = [](Pass *, Operation *) { return true; };
  auto never = [](Pass *, Operation *) { return false; };
  std::function<bool(Pass *, Operation *)> printBefore = never,
                                           printAfter = always;
  if (before)
    std::swap(printBefore, printAfter);
  self.pm->enableIRPrinting(printBefore, printAfter, /*printModuleScope=*/true,
                            /*printAfterOnlyOnChange=*/false,
                            /*printAfterOnlyOnFailure=*/false, *out);
}

static void enableIRPrintingToTree(PyPassManager &self,
                                   const std::string &folder) {
  self.pm->enableIRPrintingToFileTree(
      [](Pass *, Operation *) { return false; },
      [](Pass *, Operation *) { return true; },
      /*printModuleScope=*/true, /*printAfterOnlyOnChange=*/true,
      /*printAfterOnlyOnFailure=*/false, folder);
}

/// Prints the debug output of these components. False where it was left out of
/// the build.
static bool setDebugTypes(const std::vector<std::string> &names) {
  static std::vector<std::string> kept;
  kept = names;
  std::vector<const char *> pointers;
  for (const std::string &name : kept)
    pointers.push_back(name.c_str());
  // A macro where NDEBUG is set, hence no qualified name.
  using namespace llvm;
  setCurrentDebugTypes(pointers.data(), unsigned(pointers.size()));
  DebugFlag = !kept.empty();
#ifdef NDEBUG
  return false;
#else
  return true;
#endif
}

/// {(pass, name): count} of what is not zero.
static nb::dict getStatistics(bool reset) {
  nb::dict result;
  for (const triton::PassStatistic::Value &value :
       triton::PassStatistic::getAll())
    result[nb::make_tuple(value.pass, value.name)] = value.count;
  if (reset)
    triton::PassStatistic::resetAll();
  return result;
}

void populatePasses(nb::module_ &m) {
  m.def("statistics", &getStatistics, "reset"_a = false,
        "What the passes of this process counted: {(pass, name): count}, "
        "without zeros.");
  m.def("set_debug_types", &setDebugTypes, "names"_a,
        "Prints the debug output of these components, as `-debug-only` does. "
        "False where it was left out of the build.");
  m.def(
      "is_pass",
      [](std::string_view name) {
        registerPasses();
        return PassInfo::lookup(name) != nullptr;
      },
      "name"_a, "Whether a pass has this name on tile-opt's command line.");
  nb::class_<PyPassManager>(m, "PassManager", "A pipeline of passes.")
      .def_static("parse", &parse, "pipeline"_a, "context"_a,
                  "Parses what follows `-pass-pipeline=` on tile-opt's command "
                  "line, without the `builtin.module(...)` around it.")
      .def("enable_timing",
           [](PyPassManager &self) { self.pm->enableTiming(); })
      .def("enable_verifier",
           [](PyPassManager &self, bool enable) {
             self.pm->enableVerifier(enable);
           })
      .def("enable_ir_printing", &enableIRPrinting, "before"_a = false,
           "path"_a = "",
           "Prints the IR after (or before) each pass to stderr, or at the end "
           "of a file.")
      .def(
          "enable_ir_printing_to_tree", &enableIRPrintingToTree, "folder"_a,
          "Writes the IR after each pass that changed it to a file of its own.")
      .def(
          "enable_reproducer",
          [](PyPassManager &self, const std::string &path) {
            self.pm->enableCrashReproducerGeneration(path);
          },
          "path"_a,
          "Where a pass fails, writes the IR that the passes began with, and "
          "the passes: `tile-opt -run-reproducer` runs it.")
      .def(
          "enable_remarks",
          [](PyPassManager &self, const std::string &filter) {
            if (std::string error; !llvm::Regex(filter).isValid(error))
              throw nb::value_error(
                  ("not a regular expression: " + error).c_str());
            self.remarkFilter = filter;
          },
          "filter"_a = ".*",
          "Keeps what passes whose names match say about what they could not "
          "make fast.")
      .def_prop_ro("remarks", &getRemarks,
                   "Those of the last run: (pass, name, message, places), with "
                   "places from the innermost to its callers'.")
      .def("run", &run, "module"_a,
           "Runs the passes. Raises MLIRError on failure; returns the warnings "
           "and remarks as (severity, location, message).")
      .def("__str__", [](PyPassManager &self) {
        std::string text;
        llvm::raw_string_ostream os(text);
        self.pm->printAsTextualPipeline(os);
        return text;
      });
}

} // namespace tile::python
