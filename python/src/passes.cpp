//===-- passes.cpp - PassManager ------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Bindings.h"
#include "Diagnostics.h"
#include "Handles.h"

#include "tile/Pipeline/InitAll.h"
#include "tile/Support/PassStatistic.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/raw_ostream.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

namespace nb = nanobind;
using namespace nb::literals;
using namespace mlir;

namespace tile::python {

namespace {
/// A pass manager that knows which of its passes failed.
struct PyPassManager {
  ContextRef context;
  std::unique_ptr<PassManager> pm;
  std::shared_ptr<std::string> failedPass;
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

static void registerPasses() {
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
  return {context.ref, std::move(pm), std::move(failedPass)};
}

static nb::object run(PyPassManager &self, PyModule &module) {
  if (module.unit->context != self.context)
    throw nb::value_error("the module belongs to another context");
  self.failedPass->clear();
  DiagnosticCollector diagnostics(self.context.get());
  ++module.unit->generation;
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
      .def(
          "enable_ir_printing",
          [](PyPassManager &self, const std::string &tree) {
            if (tree.empty()) {
              self.pm->enableIRPrinting();
              return;
            }
            self.pm->enableIRPrintingToFileTree(
                [](Pass *, Operation *) { return false; },
                [](Pass *, Operation *) { return true; },
                /*printModuleScope=*/true, /*printAfterOnlyOnChange=*/true,
                /*printAfterOnlyOnFailure=*/false, tree);
          },
          "tree_printing_dir_path"_a = "")
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
