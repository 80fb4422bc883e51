//===-- KeepFromUnrolling.cpp - Loops ptxas must not unroll ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ptxas (13.5) unrolls a loop with a counter by four. It computes
// `end - start` and three steps in the width of the counter, and compares them
// as signed numbers. Where one of them overflows, the loop makes too many or
// too few iterations: `for (i = INT_MIN; i < INT_MAX; i += 1 << 20)` makes one
// of its 4096. PTX defines these additions to wrap, so a program that is right
// gives a wrong result.
//
// This file finds such loops. A loop stays as it is where scalar evolution
// proves that nothing overflows.
//
//===----------------------------------------------------------------------===//

#include "nvidia/Target/KeepFromUnrolling.h"

#include "LoopAnalyses.h"

#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;

namespace {
/// ptxas unrolls by four; a larger factor costs nothing here, for a step that
/// is near the limit is rare.
constexpr unsigned kMaxFactor = 32;

/// What ptxas sees as a loop with a counter.
struct Counter {
  const SCEVAddRecExpr *value;
  /// What the first iteration has.
  const SCEV *start;
  const SCEV *end;
  bool isSigned;
  bool isEquality;
};

std::optional<Counter> getCounter(const Loop &loop, const ICmpInst &compare,
                                  ScalarEvolution &evolution) {
  if (!compare.getOperand(0)->getType()->isIntegerTy())
    return std::nullopt;
  for (unsigned side : {0u, 1u}) {
    const auto *value = dyn_cast<SCEVAddRecExpr>(
        evolution.getSCEVAtScope(compare.getOperand(side), &loop));
    const SCEV *end =
        evolution.getSCEVAtScope(compare.getOperand(1 - side), &loop);
    if (value && value->getLoop() == &loop && value->isAffine() &&
        evolution.isLoopInvariant(end, &loop)) {
      // Most loops compare what the next iteration will have.
      const SCEV *start = value->getStart();
      if (!isa<PHINode>(compare.getOperand(side)))
        start =
            evolution.getMinusSCEV(start, value->getStepRecurrence(evolution));
      return Counter{value, start, end, !compare.isUnsigned(),
                     compare.isEquality()};
    }
  }
  return std::nullopt;
}

/// Whether all of what ptxas computes with a counter fits its type.
bool isProvenToFit(const Loop &loop, const Counter &counter,
                   ScalarEvolution &evolution) {
  const SCEV *step = counter.value->getStepRecurrence(evolution);
  unsigned width = evolution.getTypeSizeInBits(counter.value->getType());
  // Twice the width holds every sum and product of below.
  auto getRange = [&](const SCEV *expression) {
    const SCEV *guarded = evolution.applyLoopGuards(expression, &loop);
    return counter.isSigned
               ? evolution.getSignedRange(expression)
                     .intersectWith(evolution.getSignedRange(guarded))
                     .signExtend(2 * width)
               : evolution.getUnsignedRange(expression)
                     .intersectWith(evolution.getUnsignedRange(guarded))
                     .zeroExtend(2 * width);
  };
  ConstantRange steps =
      evolution.getSignedRange(evolution.applyLoopGuards(step, &loop))
          .signExtend(2 * width);
  APInt limit = APInt::getSignedMaxValue(width).sext(2 * width);
  if ((steps.getSignedMax() * kMaxFactor).sgt(limit) ||
      (steps.getSignedMin() * kMaxFactor).slt(-limit))
    return false;
  // Unsigned comparisons are computed as they should be.
  if (!counter.isSigned)
    return true;
  bool up = steps.getSignedMin().isStrictlyPositive();
  if (!up && !steps.getSignedMax().isNegative())
    return false;
  // A counter that is compared for equality may pass the end and wrap around.
  if (counter.isEquality && !counter.value->hasNoSignedWrap() &&
      !(steps.isSingleElement() && steps.getSingleElement()->abs().isOne() &&
        evolution.isLoopEntryGuardedByCond(
            &loop, up ? ICmpInst::ICMP_SLE : ICmpInst::ICMP_SGE, counter.start,
            counter.end)))
    return false;
  ConstantRange starts = getRange(counter.start), ends = getRange(counter.end);
  APInt distance = up ? ends.getSignedMax() - starts.getSignedMin()
                      : starts.getSignedMax() - ends.getSignedMin();
  // The code generator may count from one step before the start.
  APInt first = up ? starts.getSignedMin() - steps.getSignedMax()
                   : starts.getSignedMax() - steps.getSignedMin();
  return distance.sle(limit) && first.sge(~limit) && first.sle(limit);
}

bool mayOverflow(const Loop &loop, ScalarEvolution &evolution) {
  SmallVector<BasicBlock *> exiting;
  loop.getExitingBlocks(exiting);
  return any_of(exiting, [&](BasicBlock *block) {
    auto *branch = dyn_cast<BranchInst>(block->getTerminator());
    auto *compare = branch && branch->isConditional()
                        ? dyn_cast<ICmpInst>(branch->getCondition())
                        : nullptr;
    if (!compare)
      return false;
    auto counter = getCounter(loop, *compare, evolution);
    return counter && !isProvenToFit(loop, *counter, evolution);
  });
}
} // namespace

void mlir::triton::nvidia::keepFromUnrolling(Module &module) {
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    LoopAnalyses analyses(function);
    for (Loop *loop : analyses.loops.getLoopsInPreorder())
      if (mayOverflow(*loop, analyses.evolution))
        loop->setLoopAlreadyUnrolled();
  }
}
