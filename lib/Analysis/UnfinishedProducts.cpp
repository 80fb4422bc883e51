//===-- UnfinishedProducts.cpp - Sums that are not there yet --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Analysis/UnfinishedProducts.h"

#include "tile/Dialect/Triton/IR/Dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::triton;

namespace {

/// A sum whose dot may still run.
struct Unfinished {
  Operation *product;
  /// Of the dots behind it, how many were started on every way here. It is
  /// done after a wait that leaves no more than these unfinished.
  unsigned numBehind = 0;
};

/// More dots than any wait leaves unfinished.
constexpr unsigned kEnough = 1024;

/// What is unfinished at a point of the program.
class State {
public:
  const Unfinished *find(Value value) const {
    auto it = sums.find(value);
    return it == sums.end() ? nullptr : &it->second;
  }
  void add(Value value, Unfinished sum) { sums[value] = sum; }

  /// Makes `value` one of the sums that `from` may be, at this point.
  void choose(Value from, Value value) {
    if (const Unfinished *sum = find(from))
      addLeast(value, *sum);
  }

  /// What holds when each of `to` has become what its number in `from` was.
  State move(ValueRange from, ValueRange to) const {
    State moved = *this;
    for (Value value : to)
      moved.sums.erase(value);
    for (auto [f, t] : llvm::zip(from, to))
      if (const Unfinished *sum = find(f))
        moved.add(t, *sum);
    return moved;
  }

  void startProduct() {
    for (auto &[value, sum] : sums)
      sum.numBehind = std::min(sum.numBehind + 1, kEnough);
  }
  void wait(unsigned pendings) {
    for (auto &[value, sum] : sums)
      if (sum.numBehind >= pendings)
        sum.numBehind = kEnough;
  }

  /// Takes in what holds on another way to the same point. True if that changed
  /// anything.
  bool join(const State &other) {
    bool changed = false;
    for (const auto &[value, sum] : other.sums)
      changed |= addLeast(value, sum);
    return changed;
  }

private:
  /// Of several sums it is the one that the fewest dots are behind.
  bool addLeast(Value value, Unfinished sum) {
    auto [it, isNew] = sums.insert({value, sum});
    if (isNew || it->second.numBehind <= sum.numBehind)
      return isNew;
    it->second.numBehind = sum.numBehind;
    return true;
  }

  llvm::SmallMapVector<Value, Unfinished, 8> sums;
};

class Verifier {
public:
  explicit Verifier(Selects selects) : selects(selects) {}

  /// The operations of a block, but for the terminator of control flow, whose
  /// operands go to other blocks.
  LogicalResult visit(Block &block, State &state) {
    for (Operation &op : block) {
      if (isa<scf::YieldOp, scf::ConditionOp, BranchOpInterface>(op))
        continue;
      if (failed(visit(&op, state)))
        return failure();
    }
    return success();
  }

  LogicalResult visit(Operation *op, State &state) {
    if (auto ifOp = dyn_cast<scf::IfOp>(op))
      return visitIf(ifOp, state);
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return visitFor(loop, state);
    if (auto loop = dyn_cast<scf::WhileOp>(op))
      return visitWhile(loop, state);
    if (auto wait = dyn_cast<MatrixProductWaitOpInterface>(op))
      return visitWait(wait, state);
    if (auto product = dyn_cast<MatrixProductOpInterface>(op);
        product && product.isWaitedInOrder())
      return visitProduct(product, state);
    if (isa<arith::SelectOp>(op) && selects == Selects::Forward) {
      for (Value operand : op->getOperands())
        state.choose(operand, op->getResult(0));
      return success();
    }
    if (failed(verifyOperands(op, state)))
      return failure();
    for (Region &region : op->getRegions())
      if (!region.empty() && failed(visitBlocks(region, state)))
        return failure();
    return success();
  }

private:
  static LogicalResult refuse(OpOperand &use, const Unfinished &sum) {
    InFlightDiagnostic error = use.getOwner()->emitOpError()
                               << "reads operand #" << use.getOperandNumber()
                               << ", the sum of a product that may still run; "
                                  "expected the result of a wait for it";
    error.attachNote(sum.product->getLoc()) << "this is the product";
    return error;
  }

  static LogicalResult verifyOperands(Operation *op, const State &state,
                                      OpOperand *except = nullptr) {
    for (OpOperand &use : op->getOpOperands())
      if (const Unfinished *sum = state.find(use.get()); sum && &use != except)
        return refuse(use, *sum);
    return success();
  }

  /// Blocks that branch to each other.
  LogicalResult visitBlocks(Region &region, const State &state) {
    llvm::SmallMapVector<Block *, State, 4> entries;
    entries[&region.front()] = state;
    llvm::SetVector<Block *> worklist;
    worklist.insert(&region.front());
    while (!worklist.empty()) {
      Block *block = worklist.pop_back_val();
      State end = entries[block];
      if (failed(visit(*block, end)))
        return failure();
      auto branch = dyn_cast_or_null<BranchOpInterface>(
          block->empty() ? nullptr : &block->back());
      for (unsigned i = 0, e = branch ? branch->getNumSuccessors() : 0; i < e;
           ++i) {
        SuccessorOperands operands = branch.getSuccessorOperands(i);
        Block *next = branch->getSuccessor(i);
        State moved = end.move(operands.getForwardedOperands(),
                               next->getArguments().drop_front(
                                   operands.getProducedOperandCount()));
        auto [it, isNew] = entries.insert({next, State()});
        if (it->second.join(moved) || isNew)
          worklist.insert(next);
      }
    }
    return success();
  }

  LogicalResult visitProduct(MatrixProductOpInterface product, State &state) {
    if (failed(
            verifyOperands(product, state, &product.getAccumulatorMutable())))
      return failure();
    if (!product.isAsync()) {
      state.wait(0);
      return success();
    }
    state.startProduct();
    state.add(product.getProduct(), {product});
    return success();
  }

  LogicalResult visitWait(MatrixProductWaitOpInterface wait, State &state) {
    unsigned pendings = wait.getMaxPendings();
    for (OpOperand &use : wait->getOpOperands())
      if (const Unfinished *sum = state.find(use.get());
          sum && sum->numBehind < pendings)
        state.add(wait->getResult(use.getOperandNumber()), *sum);
    state.wait(pendings);
    return success();
  }

  LogicalResult visitIf(scf::IfOp ifOp, State &state) {
    if (failed(verifyOperands(ifOp, state)))
      return failure();
    State after;
    for (Region *region : {&ifOp.getThenRegion(), &ifOp.getElseRegion()}) {
      State inside = state;
      if (!region->empty()) {
        if (failed(visit(region->front(), inside)))
          return failure();
        inside = inside.move(region->front().getTerminator()->getOperands(),
                             ifOp.getResults());
      }
      after.join(inside);
    }
    state = after;
    return success();
  }

  /// Whether something but what goes into the first iteration is read.
  static LogicalResult verifyBounds(scf::ForOp loop, const State &state) {
    for (OpOperand &use :
         loop->getOpOperands().take_front(loop.getNumControlOperands()))
      if (const Unfinished *sum = state.find(use.get()))
        return refuse(use, *sum);
    return success();
  }

  LogicalResult visitFor(scf::ForOp loop, State &state) {
    if (failed(verifyBounds(loop, state)))
      return failure();
    ValueRange args = loop.getRegionIterArgs(), results = loop.getResults();
    State begin = state.move(loop.getInits(), args), end;
    do {
      end = begin;
      if (failed(visit(*loop.getBody(), end)))
        return failure();
    } while (begin.join(end.move(loop.getYieldedValues(), args)));
    // Without an iteration, and after the last one.
    state = state.move(loop.getInits(), results);
    state.join(end.move(loop.getYieldedValues(), results));
    return success();
  }

  LogicalResult visitWhile(scf::WhileOp loop, State &state) {
    ValueRange args = loop.getBeforeArguments();
    scf::ConditionOp condition = loop.getConditionOp();
    State begin = state.move(loop.getInits(), args), tested, end;
    do {
      tested = begin;
      if (failed(visit(*loop.getBeforeBody(), tested)))
        return failure();
      if (const Unfinished *sum = tested.find(condition.getCondition()))
        return refuse(condition.getConditionMutable(), *sum);
      end = tested.move(condition.getArgs(), loop.getAfterArguments());
      if (failed(visit(*loop.getAfterBody(), end)))
        return failure();
    } while (begin.join(end.move(loop.getYieldOp().getOperands(), args)));
    state = tested.move(condition.getArgs(), loop.getResults());
    return success();
  }

  Selects selects;
};

} // namespace

LogicalResult triton::verifyUnfinishedProducts(Operation *root,
                                               Selects selects) {
  bool any = root->walk([](MatrixProductOpInterface product) {
                   return product.isAsync() ? WalkResult::interrupt()
                                            : WalkResult::advance();
                 })
                 .wasInterrupted();
  State state;
  return success(!any || succeeded(Verifier(selects).visit(root, state)));
}
