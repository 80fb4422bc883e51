//===-- OptimizeAccumulatorInit.cpp - Accumulators that start from zero ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "tile/Analysis/TripCount.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tritongpu-optimize-accumulator-init"

namespace mlir::triton::gpu {
#define GEN_PASS_DEF_TRITONGPUOPTIMIZEACCUMULATORINIT
#include "tile/Dialect/TritonGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::gpu

using namespace mlir;
using namespace mlir::triton;

namespace {

//===----------------------------------------------------------------------===//
// Choices between zero and something else
//===----------------------------------------------------------------------===//

bool isZero(Value value) {
  return matchPattern(value, m_Zero()) || matchPattern(value, m_AnyZeroFloat());
}

/// A value that is zero where `condition` equals `zeroIf`, else `other`.
struct ZeroOr {
  Value condition;
  bool zeroIf;
  Value other;
};

std::optional<ZeroOr> matchChoice(Value condition, Value ifTrue,
                                  Value ifFalse) {
  if (!condition.getType().isInteger(1) || isZero(ifTrue) == isZero(ifFalse))
    return std::nullopt;
  return isZero(ifTrue) ? ZeroOr{condition, true, ifFalse}
                        : ZeroOr{condition, false, ifTrue};
}

/// Sees through an arith.select or an scf.if of which one branch yields zero.
std::optional<ZeroOr> matchZeroOr(Value value) {
  if (auto select = value.getDefiningOp<arith::SelectOp>())
    return matchChoice(select.getCondition(), select.getTrueValue(),
                       select.getFalseValue());
  auto ifOp = value.getDefiningOp<scf::IfOp>();
  if (!ifOp)
    return std::nullopt;
  unsigned number = cast<OpResult>(value).getResultNumber();
  std::optional<ZeroOr> choice =
      matchChoice(ifOp.getCondition(), ifOp.thenYield().getOperand(number),
                  ifOp.elseYield().getOperand(number));
  // What a branch makes itself does not exist outside of it.
  if (choice &&
      ifOp->isAncestor(choice->other.getParentRegion()->getParentOp()))
    return std::nullopt;
  return choice;
}

/// True where the value is not zero.
Value getKeepFlag(OpBuilder &builder, Location loc, const ZeroOr &choice) {
  if (!choice.zeroIf)
    return choice.condition;
  Value yes = arith::ConstantIntOp::create(builder, loc, 1, 1);
  return arith::XOrIOp::create(builder, loc, choice.condition, yes);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

struct TritonGPUOptimizeAccumulatorInit
    : public gpu::impl::TritonGPUOptimizeAccumulatorInitBase<
          TritonGPUOptimizeAccumulatorInit> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<MatrixProductOpInterface> products;
    SmallVector<arith::SelectOp> selects;
    getOperation().walk([&](Operation *op) {
      if (auto product = dyn_cast<MatrixProductOpInterface>(op))
        products.push_back(product);
      else if (auto select = dyn_cast<arith::SelectOp>(op))
        selects.push_back(select);
    });
    for (MatrixProductOpInterface product : products)
      if (product.getProduct() && product.canOverwriteAccumulator() &&
          !product.getUseAccumulator() && giveFlag(product))
        ++numFlags;
    // A choice may be an operand of the next one: ask before anything changes.
    llvm::erase_if(selects, [](arith::SelectOp select) {
      return !isChoiceOfAccumulator(select);
    });
    for (arith::SelectOp select : selects)
      branch(select);
  }

private:
  //===--- Flags ---===//

  bool giveFlag(MatrixProductOpInterface product) {
    OpBuilder builder(product);
    Location loc = product.getLoc();
    OpOperand &accumulator = product.getAccumulatorMutable();
    if (isZero(accumulator.get())) {
      product.setUseAccumulator(
          arith::ConstantIntOp::create(builder, loc, 0, 1));
      return true;
    }
    Value flag;
    if (std::optional<ZeroOr> choice = matchZeroOr(accumulator.get())) {
      flag = getKeepFlag(builder, loc, *choice);
      accumulator.set(choice->other);
    }
    if (Value carried = carryFlag(accumulator)) {
      if (flag)
        flag = arith::AndIOp::create(builder, loc, carried, flag);
      else
        flag = carried;
    }
    if (!flag)
      return false;
    product.setUseAccumulator(flag);
    return true;
  }

  /// If the accumulator is an argument of the loop around the dot that is
  /// zero at times: makes the loop carry a flag that says when it is not.
  Value carryFlag(OpOperand &accumulator) {
    auto arg = dyn_cast<BlockArgument>(accumulator.get());
    auto loop =
        arg ? dyn_cast<scf::ForOp>(arg.getOwner()->getParentOp()) : nullptr;
    if (!loop || arg == loop.getInductionVar() || !arg.hasOneUse())
      return {};
    Value init = loop.getTiedLoopInit(arg)->get();
    Value yielded = loop.getTiedLoopYieldedValue(arg)->get();
    std::optional<ZeroOr> choice = matchZeroOr(yielded);
    if (!isZero(init) && !choice)
      return {};
    unsigned number = arg.getArgNumber() - loop.getNumInductionVars();
    if (choice && failed(findSums(loop.getResult(number))))
      return {};

    // Another sum of the loop is called otherwise in the new one.
    auto other = choice ? dyn_cast<BlockArgument>(choice->other) : nullptr;
    std::optional<unsigned> otherNumber;
    if (other && other.getOwner() == loop.getBody())
      otherNumber = other.getArgNumber();

    IRRewriter rewriter(loop);
    Value starts =
        arith::ConstantIntOp::create(rewriter, loop.getLoc(), !isZero(init), 1);
    auto makeYields = [&](OpBuilder &b, Location loc, ArrayRef<BlockArgument>) {
      Value keep = choice ? getKeepFlag(b, loc, *choice)
                          : arith::ConstantIntOp::create(b, loc, 1, 1);
      return SmallVector<Value>{keep};
    };
    auto newLoop = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
        rewriter, starts, /*replaceInitOperandUsesInLoop=*/false, makeYields));
    if (otherNumber)
      choice->other = newLoop.getBody()->getArgument(*otherNumber);
    if (choice) {
      Value next = newLoop.getYieldedValues()[number];
      if (!handOnInPlaceOfZero(next, *choice))
        newLoop.getBody()->getTerminator()->setOperand(number, choice->other);
      keepZeroAfter(newLoop, *findSums(newLoop.getResult(number)));
    } else {
      startFromAnything(newLoop, number);
    }
    return newLoop.getRegionIterArgs().back();
  }

  /// Where the branch that makes `next` zero has waited for the other value, it
  /// yields that in place of zero: the same registers on both ways. Returns
  /// false if there is no such branch.
  static bool handOnInPlaceOfZero(Value next, const ZeroOr &choice) {
    auto ifOp = next.getDefiningOp<scf::IfOp>();
    if (!ifOp || !next.hasOneUse())
      return false;
    Block *zeroBlock = choice.zeroIf ? ifOp.thenBlock() : ifOp.elseBlock();
    for (OpOperand &use : choice.other.getUses()) {
      if (use.getOwner()->getBlock() != zeroBlock ||
          !isa<MatrixProductWaitOpInterface>(use.getOwner()))
        continue;
      zeroBlock->getTerminator()->setOperand(
          cast<OpResult>(next).getResultNumber(),
          use.getOwner()->getResult(use.getOperandNumber()));
      return true;
    }
    return false;
  }

  /// The values by which the code behind a loop knows its result: the result
  /// itself or, where waits hand it on, what they hand on. Before them a
  /// dot may still write it. Fails where both are used.
  static FailureOr<SmallVector<Value>> findSums(Value result) {
    SmallVector<Value> sums;
    auto isWait = [](OpOperand &use) {
      return isa<MatrixProductWaitOpInterface>(use.getOwner());
    };
    if (llvm::none_of(result.getUses(), isWait)) {
      sums.push_back(result);
      return sums;
    }
    if (!llvm::all_of(result.getUses(), isWait))
      return failure();
    for (OpOperand &use : result.getUses()) {
      auto behind = findSums(use.getOwner()->getResult(use.getOperandNumber()));
      if (failed(behind))
        return failure();
      llvm::append_range(sums, *behind);
    }
    return sums;
  }

  /// The loop no longer sets its accumulator to zero at the end of an
  /// iteration: where that shows after the loop, it is done there.
  static void keepZeroAfter(scf::ForOp loop, ArrayRef<Value> sums) {
    for (Value sum : sums) {
      if (sum.use_empty())
        continue;
      OpBuilder builder(loop->getContext());
      builder.setInsertionPointAfterValue(sum);
      Value zero = arith::ConstantOp::create(
          builder, loop.getLoc(), builder.getZeroAttr(sum.getType()));
      auto select = arith::SelectOp::create(
          builder, loop.getLoc(), loop.getResults().back(), sum, zero);
      sum.replaceAllUsesExcept(select, select);
    }
  }

  /// The first dot overwrites what the accumulator starts from. Zeros are left
  /// for a loop that does not run, and only where the dots have been waited
  /// for. Ptxas lets dots wait for each other, one by one, where something else
  /// writes their accumulators before that. (In a nest it does not, and the
  /// branch may cost a second set of registers.)
  static void startFromAnything(scf::ForOp loop, unsigned number) {
    Value result = loop.getResult(number);
    if (!result.hasOneUse() || loop->getParentOfType<scf::ForOp>())
      return;
    OpOperand &use = *result.use_begin();
    auto wait = dyn_cast<MatrixProductWaitOpInterface>(use.getOwner());
    if (!wait || wait->getBlock() != loop->getBlock())
      return;
    Value sum = wait->getResult(use.getOperandNumber());
    OpBuilder builder(loop);
    Location loc = loop.getLoc();
    OpOperand &init = loop.getInitsMutable()[number];
    Value zero = init.get();
    init.set(
        ub::PoisonOp::create(builder, loc, zero.getType(), ub::PoisonAttr()));
    std::optional<APInt> count = TripCount(loop).getKnown();
    if (count && !count->isZero())
      return;
    builder.setInsertionPointAfter(wait);
    Value hasRun = hasIterations(builder, loc, loop);
    auto ifOp = scf::IfOp::create(
        builder, loc, hasRun,
        [&](OpBuilder &b, Location l) { scf::YieldOp::create(b, l, sum); },
        [&](OpBuilder &b, Location l) { scf::YieldOp::create(b, l, zero); });
    sum.replaceUsesWithIf(ifOp.getResult(0), [&](OpOperand &other) {
      return !ifOp->isAncestor(other.getOwner());
    });
  }

  //===--- Branches ---===//

  static bool isAccumulator(OpOperand &use) {
    if (auto product = dyn_cast<MatrixProductOpInterface>(use.getOwner()))
      return &use == &product.getAccumulatorMutable();
    auto select = dyn_cast<arith::SelectOp>(use.getOwner());
    return select && select->hasOneUse() && matchZeroOr(select.getResult()) &&
           isAccumulator(*select->use_begin());
  }

  /// True if nothing happens to the result but that a dot in a loop adds to it.
  /// That is in this iteration or in the next, at once or after another such
  /// choice.
  static bool isChoiceOfAccumulator(arith::SelectOp select) {
    auto loop = select->getParentOfType<scf::ForOp>();
    if (!loop || !isa<RankedTensorType>(select.getType()) ||
        !matchZeroOr(select.getResult()) || !select->hasOneUse())
      return false;
    OpOperand &use = *select->use_begin();
    if (isAccumulator(use))
      return true;
    if (use.getOwner() != loop.getBody()->getTerminator())
      return false;
    BlockArgument next = loop.getRegionIterArg(use.getOperandNumber());
    return llvm::any_of(next.getUses(), isAccumulator);
  }

  void branch(arith::SelectOp select) {
    OpBuilder builder(select);
    Location loc = select.getLoc();
    auto ifOp = scf::IfOp::create(
        builder, loc, select.getCondition(),
        [&](OpBuilder &b, Location l) {
          scf::YieldOp::create(b, l, select.getTrueValue());
        },
        [&](OpBuilder &b, Location l) {
          scf::YieldOp::create(b, l, select.getFalseValue());
        });
    select.replaceAllUsesWith(ifOp.getResult(0));
    select.erase();
    ++numBranches;
  }
};

} // namespace
