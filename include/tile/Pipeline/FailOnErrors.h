//===-- FailOnErrors.h - Passes that report errors fail ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_PIPELINE_FAILONERRORS_H
#define TILE_PIPELINE_FAILONERRORS_H

#include "mlir/Support/LLVM.h"

namespace mlir {
class MLIRContext;
class Pass;

namespace triton {

/// Executes `pass` by `run`. It fails if it reports an error, also where it
/// says nothing else. Code that cannot return a failure, such as what a pattern
/// calls to build operations, leaves half of them behind an error.
void runFailingOnErrors(llvm::function_ref<void()> run, const Pass &pass,
                        MLIRContext &context);

/// Lets all passes of this context be executed like this, unless something else
/// says how they are.
void failOnErrors(MLIRContext &context);

} // namespace triton
} // namespace mlir

#endif // TILE_PIPELINE_FAILONERRORS_H
