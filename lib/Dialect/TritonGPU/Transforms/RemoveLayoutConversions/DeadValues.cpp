//===-- DeadValues.cpp - Erase what nobody uses, around loops too ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Once a computation has been repeated in another layout, the first one often
// has no users but itself: a pointer that a loop advances and nobody loads
// from. Counting uses does not find that, so liveness starts from effects here.
//
//===----------------------------------------------------------------------===//

#include "tile/Dialect/TritonGPU/Transforms/DeadValues.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace mlir::triton::gpu;

namespace {

class DeadValueEraser {
public:
  explicit DeadValueEraser(Operation *func) : func(func) {}
  void run();

private:
  void findRoots();
  void mark(Operation *op);
  void mark(Value value);
  void follow(Value value);
  void follow(Operation *op);

  bool isFollowed(Operation *op) { return isa<scf::ForOp, scf::IfOp>(op); }
  /// Whether result `index` of a loop or branch must stay.
  bool isNeeded(Operation *op, unsigned index);
  void shrink(Operation *op);

  Operation *func;
  DenseSet<Value> liveValues;
  DenseSet<Operation *> liveOps;
  SmallVector<Value> values;
  SmallVector<Operation *> ops;
};

void DeadValueEraser::mark(Operation *op) {
  if (op != func && liveOps.insert(op).second)
    ops.push_back(op);
}

void DeadValueEraser::mark(Value value) {
  if (liveValues.insert(value).second)
    values.push_back(value);
}

void DeadValueEraser::findRoots() {
  func->walk([&](Operation *op) {
    if (op == func || isFollowed(op))
      return;
    // What a followed loop or branch yields is needed only as its results are.
    if (isa<scf::YieldOp>(op) && isFollowed(op->getParentOp()))
      return;
    if (op->hasTrait<mlir::OpTrait::IsTerminator>() ||
        !wouldOpBeTriviallyDead(op))
      mark(op);
  });
}

void DeadValueEraser::follow(Operation *op) {
  if (Operation *parent = op->getParentOp())
    mark(parent);
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (Value bound :
         {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
      mark(bound);
    return;
  }
  for (Value operand : op->getOperands())
    mark(operand);
  // Regions of other operations are taken whole.
  if (!isFollowed(op))
    for (Region &region : op->getRegions())
      region.walk([&](Operation *nested) {
        if (!isFollowed(nested))
          mark(nested);
      });
}

void DeadValueEraser::follow(Value value) {
  auto carried = [&](scf::ForOp loop, unsigned index) {
    mark(loop.getInitArgs()[index]);
    mark(loop.getYieldedValues()[index]);
    mark(loop);
  };
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(arg.getOwner()->getParentOp());
    if (loop && arg.getArgNumber() >= loop.getNumInductionVars())
      carried(loop, arg.getArgNumber() - loop.getNumInductionVars());
    return;
  }
  auto result = cast<OpResult>(value);
  unsigned index = result.getResultNumber();
  if (auto loop = dyn_cast<scf::ForOp>(result.getOwner())) {
    carried(loop, index);
  } else {
    if (auto branch = dyn_cast<scf::IfOp>(result.getOwner()))
      for (Operation *yield :
           {(Operation *)branch.thenYield(), (Operation *)branch.elseYield()})
        mark(yield->getOperand(index));
    mark(result.getOwner());
  }
}

bool DeadValueEraser::isNeeded(Operation *op, unsigned index) {
  if (liveValues.contains(op->getResult(index)))
    return true;
  auto loop = dyn_cast<scf::ForOp>(op);
  return loop && liveValues.contains(loop.getRegionIterArg(index));
}

void DeadValueEraser::shrink(Operation *op) {
  llvm::BitVector dead(op->getNumResults());
  for (unsigned i = 0; i < op->getNumResults(); ++i)
    dead[i] = !isNeeded(op, i);
  if (dead.none())
    return;
  for (Region &region : op->getRegions())
    if (!region.empty())
      region.front().getTerminator()->eraseOperands(dead);
  OperationState state(op->getLoc(), op->getName());
  SmallVector<Value> kept;
  for (unsigned i = 0; i < op->getNumResults(); ++i) {
    if (dead[i])
      continue;
    state.types.push_back(op->getResult(i).getType());
    kept.push_back(op->getResult(i));
  }
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    unsigned numFixed = loop.getNumControlOperands();
    llvm::BitVector deadOperands(op->getNumOperands());
    llvm::BitVector deadArgs(loop.getBody()->getNumArguments());
    for (unsigned i : dead.set_bits()) {
      deadOperands.set(numFixed + i);
      deadArgs.set(loop.getNumInductionVars() + i);
    }
    op->eraseOperands(deadOperands);
    loop.getBody()->eraseArguments(deadArgs);
  }
  state.addOperands(op->getOperands());
  state.addAttributes(op->getAttrs());
  for (Region &region : op->getRegions())
    state.addRegion()->takeBody(region);
  OpBuilder b(op);
  Operation *replacement = b.create(state);
  for (auto [before, after] : llvm::zip(kept, replacement->getResults()))
    before.replaceAllUsesWith(after);
  // A dead result may be yielded by what is around, as a dead value of its own
  // that is erased next.
  op->dropAllUses();
  op->erase();
}

void DeadValueEraser::run() {
  findRoots();
  while (!ops.empty() || !values.empty()) {
    if (!ops.empty())
      follow(ops.pop_back_val());
    else
      follow(values.pop_back_val());
  }

  SmallVector<Operation *> dead, followed;
  func->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == func)
      return WalkResult::advance();
    bool isYield = isa<scf::YieldOp>(op) && isFollowed(op->getParentOp());
    if (!isYield && !liveOps.contains(op)) {
      dead.push_back(op);
      return WalkResult::skip();
    }
    if (isFollowed(op))
      followed.push_back(op);
    return WalkResult::advance();
  });
  // Dead values may use one another in a circle, through yields that stay; what
  // those yield is dropped for the moment, and erased below.
  for (Operation *op : dead) {
    op->dropAllUses();
    op->dropAllReferences();
  }
  for (Operation *op : dead)
    op->erase();
  for (Operation *op : llvm::reverse(followed))
    shrink(op);
}

} // namespace

void mlir::triton::gpu::eraseDeadValues(Operation *func) {
  DeadValueEraser(func).run();
}
