//===-- OpUtils.h - Shared by the verifiers of this dialect ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_LIB_DIALECT_TRITONNVIDIAGPU_IR_OPUTILS_H
#define TILE_LIB_DIALECT_TRITONNVIDIAGPU_IR_OPUTILS_H

#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::triton::nvidia_gpu {

/// Checks that `type` is a buffer that fits into tensor memory.
LogicalResult verifyTensorMemory(Operation *op, gpu::MemDescType type,
                                 StringRef what);

/// Checks that `type` is a buffer in shared memory.
LogicalResult verifySharedMemory(Operation *op, gpu::MemDescType type,
                                 StringRef what);

/// Checks that what is written to is mutable.
LogicalResult verifyMutable(Operation *op, gpu::MemDescType type,
                            StringRef what);

/// A token is handed on: an operation that takes one also makes one.
LogicalResult verifyTokens(Operation *op, Value dependency, Value token);

/// Whether `predicate` is known to be true; an absent one is.
inline bool isKnownTrue(Value predicate) {
  return !predicate || matchPattern(predicate, m_One());
}

/// Whether `predicate` is known to be false.
inline bool isKnownFalse(Value predicate) {
  return predicate && matchPattern(predicate, m_Zero());
}

/// Removes an operation without results whose predicate is known to be false,
/// and a predicate that is known to be true.
template <typename OpTy>
LogicalResult simplifyOptionalPredicate(OpTy op, PatternRewriter &rewriter) {
  if (!op.getPred())
    return failure();
  if (isKnownFalse(op.getPred())) {
    rewriter.eraseOp(op);
    return success();
  }
  if (isKnownTrue(op.getPred())) {
    rewriter.modifyOpInPlace(op, [&] { op.getPredMutable().clear(); });
    return success();
  }
  return failure();
}

/// Removes an operation without results whose predicate is known to be false.
template <typename OpTy>
LogicalResult eraseIfNeverRuns(OpTy op, PatternRewriter &rewriter) {
  if (!isKnownFalse(op.getPred()))
    return failure();
  rewriter.eraseOp(op);
  return success();
}

/// Removes an operation whose predicate is known to be false and whose only
/// result, if any, is a token: what waited for it waits for the access before.
template <typename OpTy>
LogicalResult eraseIfNeverRuns(OpTy op, Value dependency,
                               PatternRewriter &rewriter) {
  if (!isKnownFalse(op.getPred()))
    return failure();
  if (Value token = op.getToken()) {
    if (!token.use_empty() && !dependency)
      return failure();
    if (dependency)
      rewriter.replaceAllUsesWith(token, dependency);
  }
  rewriter.eraseOp(op);
  return success();
}

} // namespace mlir::triton::nvidia_gpu

#endif // TILE_LIB_DIALECT_TRITONNVIDIAGPU_IR_OPUTILS_H
