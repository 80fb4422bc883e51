//===-- PredicateOp.cpp - Operations that run only if ... -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PredicateOp.h"

#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

/// Operations on buffers that do no harm out of turn: they read a slot nobody
/// looks at, or wait for nothing.
static bool isHarmless(Operation *op) {
  return isa<AsyncCommitGroupOp, AsyncWaitOp, LocalLoadOp, MemDescIndexOp>(op);
}

/// `predicate`, or `predicate and mask`, in the shape of the access.
static Value combineMask(RewriterBase &rewriter, Location loc, Value mask,
                         Value predicate, Type ptrType) {
  Value spread = predicate;
  if (auto type = dyn_cast<RankedTensorType>(ptrType)) {
    auto maskType = RankedTensorType::get(type.getShape(), rewriter.getI1Type(),
                                          type.getEncoding());
    spread = SplatOp::create(rewriter, loc, maskType, predicate);
  }
  if (!mask)
    return spread;
  return arith::AndIOp::create(rewriter, loc, spread, mask);
}

bool mlir::triton::gpu::canPredicate(Operation *op) {
  return isMemoryEffectFree(op) || isHarmless(op) ||
         isa<LoadOp, AsyncCopyGlobalToLocalOp>(op);
}

Operation *mlir::triton::gpu::predicateOp(RewriterBase &rewriter, Operation *op,
                                          Value predicate) {
  if (isMemoryEffectFree(op) || isHarmless(op))
    return op;
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  if (auto load = dyn_cast<LoadOp>(op)) {
    Value mask = combineMask(rewriter, op->getLoc(), load.getMask(), predicate,
                             load.getPtr().getType());
    rewriter.modifyOpInPlace(op, [&] { load.getMaskMutable().assign(mask); });
    return op;
  }
  if (auto copy = dyn_cast<AsyncCopyGlobalToLocalOp>(op)) {
    Value mask = combineMask(rewriter, op->getLoc(), copy.getMask(), predicate,
                             copy.getSrc().getType());
    rewriter.modifyOpInPlace(op, [&] { copy.getMaskMutable().assign(mask); });
    return op;
  }
  return nullptr;
}
