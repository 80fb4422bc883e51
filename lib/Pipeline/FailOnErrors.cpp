//===-- FailOnErrors.cpp - Passes that report errors fail -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Pipeline/FailOnErrors.h"

#include "PassAccess.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/Threading.h"

using namespace mlir;
using namespace mlir::triton;

void triton::runFailingOnErrors(llvm::function_ref<void()> run,
                                const Pass &pass, MLIRContext &context) {
  // Other threads of the context execute other passes.
  uint64_t thread = llvm::get_threadid();
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error &&
        llvm::get_threadid() == thread)
      PassAccess::signalFailure(pass);
    return failure(); // Somebody else shows it.
  });
  run();
}

void triton::failOnErrors(MLIRContext &context) {
  if (context.hasActionHandler())
    return;
  context.registerActionHandler([&context](llvm::function_ref<void()> run,
                                           const tracing::Action &action) {
    if (const auto *execution = dyn_cast<PassExecutionAction>(&action))
      return runFailingOnErrors(run, execution->getPass(), context);
    run();
  });
}
