//===-- PredicateOp.cpp - Operations that run only if ... -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PredicateOp.h"
#include "Buffers.h"
#include "ImpliedPredicate.h"

#include "tile/Analysis/LoopSchedule.h"
#include "tile/Analysis/Speculation.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

/// Whether copies with a predicate write `memory`, through it or another view
/// of its buffer. Where the predicate is false, these write nothing, not even
/// zeros.
static bool isFilledUnderPredicate(Value memory) {
  SmallVector<Value> views{getBuffers(memory)};
  while (!views.empty())
    for (Operation *user : views.pop_back_val().getUsers()) {
      if (isa<AsyncCopyOpInterface>(user) && isa<PredicatedOpInterface>(user))
        return true;
      if (isa<ViewLikeOpInterface>(user))
        views.push_back(user->getResult(0));
    }
  return false;
}

/// Whether `memory` is a slot of the iteration before where `predicate` is
/// false.
static bool isSelected(Value memory, Value predicate) {
  auto index = memory.getDefiningOp<MemDescIndexOp>();
  while (!index) {
    auto view = memory.getDefiningOp<ViewLikeOpInterface>();
    if (!view)
      return false;
    memory = view.getViewSource();
    index = memory.getDefiningOp<MemDescIndexOp>();
  }
  auto position = index.getIndex().getDefiningOp<arith::SelectOp>();
  return position && position.getCondition() == predicate;
}

/// Operations on buffers that do no harm where their predicate is false: they
/// read a buffer that nobody looks at, or write one, or wait for nothing.
static bool isHarmless(Operation *op, Value predicate, bool inLoop) {
  if (auto load = dyn_cast<LocalLoadOp>(op))
    return !isFilledUnderPredicate(load.getSrc()) ||
           (inLoop && isSelected(load.getSrc(), predicate));
  return PlannedOp(op).isUnguarded() ||
         isa<AsyncCommitGroupOp, AsyncWaitOp, MemDescIndexOp>(op);
}

/// `predicate`, or `predicate and mask`, in the shape of the access.
static Value combineMask(RewriterBase &rewriter, Location loc, Value mask,
                         Value predicate, Type ptrType) {
  if (mask && impliesPredicate(mask, predicate))
    return mask;
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

/// Reads where `predicate` is true, and has zeros elsewhere.
static Operation *guardRead(RewriterBase &rewriter, Operation *op,
                            Value predicate) {
  Location loc = op->getLoc();
  Type type = op->getResult(0).getType();
  auto guarded = scf::IfOp::create(rewriter, loc, TypeRange(type), predicate,
                                   /*withElseRegion=*/true);
  OpBuilder otherwise = guarded.getElseBodyBuilder();
  Value zero = arith::ConstantOp::create(
      otherwise, loc, cast<TypedAttr>(otherwise.getZeroAttr(type)));
  scf::YieldOp::create(otherwise, loc, zero);
  OpBuilder then = guarded.getThenBodyBuilder();
  Value read = then.clone(*op)->getResult(0);
  scf::YieldOp::create(then, loc, read);
  rewriter.replaceOp(op, guarded);
  return guarded;
}

Operation *mlir::triton::gpu::predicateOp(RewriterBase &rewriter, Operation *op,
                                          Value predicate, bool inLoop) {
  if (isHarmless(op, predicate, inLoop))
    return op;
  if (PlannedOp(op).isSelectOfExisting()) {
    rewriter.modifyOpInPlace(op, [&] {
      cast<arith::SelectOp>(op).getConditionMutable().assign(predicate);
      PlannedOp(op).eraseSelectOfExisting();
    });
    return op;
  }
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
  // A block that stays in registers, or a slot that may never be written.
  if (isa<DescriptorLoadOp, DescriptorGatherOp, LocalLoadOp>(op))
    return guardRead(rewriter, op, predicate);
  if (auto predicated = dyn_cast<PredicatedOpInterface>(op)) {
    MutableOperandRange pred = predicated.getPredMutable();
    Value both = predicate;
    if (!pred.empty())
      both = arith::AndIOp::create(rewriter, op->getLoc(), pred[0].get(),
                                   predicate);
    rewriter.modifyOpInPlace(op, [&] { pred.assign(both); });
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
