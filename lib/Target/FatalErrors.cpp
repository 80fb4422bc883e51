//===-- FatalErrors.cpp - Errors at which LLVM ends the process -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Target/FatalErrors.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/ErrorHandling.h"

using namespace mlir;
using namespace mlir::triton;

static thread_local unsigned fatalErrors = 0;

static void throwFatalError(void *, const char *reason, bool) {
  ++fatalErrors;
  throw FatalError{StringRef(reason).trim().str()};
}

void triton::throwFatalErrors() {
  static const bool installed = [] {
    llvm::install_fatal_error_handler(throwFatalError);
    return true;
  }();
  (void)installed;
}

unsigned triton::countFatalErrors() { return fatalErrors; }

LogicalResult triton::runGuarded(ModuleOp diagnosticOp,
                                 llvm::function_ref<void()> work) {
  try {
    work();
    return success();
  } catch (const FatalError &error) {
    return diagnosticOp.emitError("LLVM cannot compile this: ") << error.reason;
  }
}
