//===-- PredicateOp.cpp - Operations that run only if ... -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PredicateOp.h"

#include "tile/Analysis/Speculation.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
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

bool mlir::triton::gpu::canRunOutOfRange(Operation *op) {
  if (!isMemoryEffectFree(op))
    return false;
  // Operations with regions are as safe as what is in them, but loops, which
  // may not end.
  return !op->walk([](Operation *nested) {
              bool isSafe =
                  nested->getNumRegions() != 0
                      ? !isa<LoopLikeOpInterface>(nested)
                      : nested->hasTrait<mlir::OpTrait::IsTerminator>() ||
                            getUnsafeDivisor(nested) || isSpeculatable(nested);
              return isSafe ? WalkResult::advance() : WalkResult::interrupt();
            }).wasInterrupted();
}

/// Divides by one where `predicate` is false.
static void guardDivisor(RewriterBase &rewriter, OpOperand &divisor,
                         Value predicate) {
  Operation *op = divisor.getOwner();
  rewriter.setInsertionPoint(op);
  Type type = divisor.get().getType();
  Value one = arith::ConstantOp::create(rewriter, op->getLoc(),
                                        rewriter.getOneAttr(type));
  Value safe = arith::SelectOp::create(rewriter, op->getLoc(), predicate,
                                       divisor.get(), one);
  rewriter.modifyOpInPlace(op, [&] { divisor.set(safe); });
}

Operation *mlir::triton::gpu::predicateOp(RewriterBase &rewriter, Operation *op,
                                          Value predicate) {
  if (isHarmless(op))
    return op;
  OpBuilder::InsertionGuard guard(rewriter);
  if (isMemoryEffectFree(op)) {
    if (!canRunOutOfRange(op))
      return nullptr;
    op->walk([&](Operation *nested) {
      if (OpOperand *divisor = getUnsafeDivisor(nested))
        guardDivisor(rewriter, *divisor, predicate);
    });
    return op;
  }
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
