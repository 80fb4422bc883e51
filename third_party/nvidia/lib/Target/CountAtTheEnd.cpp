//===-- CountAtTheEnd.cpp - Counters that ptxas knows ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM makes `i < 30720` of `i + 2048 < 32768`. Loop strength reduction, which
// runs in the code generator, then wants the old value of the counter at the
// loop's end. It counts from -2048, and adds at the loop's beginning. ptxas
// (13.5) does not know how often such a loop runs, and leaves it as it is. Of
// others it makes several iterations one, whose loads wait together.
//
//===----------------------------------------------------------------------===//

#include "nvidia/Target/CountAtTheEnd.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;

/// Has the comparison that ends `loop` look at the next value of the counter.
static void compareNext(Loop &loop) {
  BasicBlock *latch = loop.getLoopLatch();
  auto *branch = latch ? dyn_cast<BranchInst>(latch->getTerminator()) : nullptr;
  if (!branch || !branch->isConditional())
    return;
  auto *compare = dyn_cast<ICmpInst>(branch->getCondition());
  if (!compare || !compare->hasOneUse())
    return;
  bool isSigned = compare->getPredicate() == ICmpInst::ICMP_SLT;
  if (!isSigned && compare->getPredicate() != ICmpInst::ICMP_ULT)
    return;
  auto *counter = dyn_cast<PHINode>(compare->getOperand(0));
  auto *end = dyn_cast<ConstantInt>(compare->getOperand(1));
  if (!counter || !end || counter->getParent() != loop.getHeader() ||
      !loop.getLoopPreheader())
    return;
  auto *start = dyn_cast<ConstantInt>(
      counter->getIncomingValueForBlock(loop.getLoopPreheader()));
  auto *next =
      dyn_cast<BinaryOperator>(counter->getIncomingValueForBlock(latch));
  if (!start || !next || next->getOpcode() != Instruction::Add ||
      next->getOperand(0) != counter)
    return;
  auto *step = dyn_cast<ConstantInt>(next->getOperand(1));
  if (!step || !step->getValue().isStrictlyPositive())
    return;
  // The counter is the start, or less than a step beyond the end. From neither
  // may the next value wrap around, or else the comparisons would differ.
  auto add = [&](const APInt &a, const APInt &b, bool &overflows) {
    bool here = false;
    APInt sum = isSigned ? a.sadd_ov(b, here) : a.uadd_ov(b, here);
    overflows |= here;
    return sum;
  };
  bool overflows = false;
  APInt newEnd = add(end->getValue(), step->getValue(), overflows);
  (void)add(newEnd, step->getValue(), overflows);
  (void)add(start->getValue(), step->getValue(), overflows);
  if (overflows)
    return;
  // Where the loop goes on depends on the next value, so it is there by then.
  compare->setOperand(0, next);
  compare->setOperand(1, ConstantInt::get(end->getContext(), newEnd));
  compare->setSameSign(false);
  compare->moveBefore(branch->getIterator());
}

void mlir::triton::nvidia::countAtTheEnd(Module &module) {
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    DominatorTree dominators(function);
    LoopInfo loops(dominators);
    for (Loop *loop : loops.getLoopsInPreorder())
      compareNext(*loop);
  }
}
