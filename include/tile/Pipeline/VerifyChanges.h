//===-- VerifyChanges.h - Verify what passes changed ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_PIPELINE_VERIFYCHANGES_H
#define TILE_PIPELINE_VERIFYCHANGES_H

#include <cstdint>

namespace mlir {
class MLIRContext;
class Operation;

namespace triton {

/// A number for an operation and all inside of it: another one, but for
/// collisions of 64 bits, after any change. Valid while they live.
uint64_t fingerprint(Operation *root);

/// Lets pass managers of this context verify the IR after passes that changed
/// it, and keep the analyses of it after the others. Behind those that changed
/// it, nothing may read the sum of a dot that may still run
/// (`verifyUnfinishedProducts`). Verification takes as long
/// as all passes together, and most of them have nothing to do in most kernels.
/// A pass may say that it preserved all analyses; this is for those that don't.
/// Passes that report an error fail (FailOnErrors.h): a context has one
/// handler.
void verifyOnlyChanges(MLIRContext &context);

} // namespace triton
} // namespace mlir

#endif // TILE_PIPELINE_VERIFYCHANGES_H
