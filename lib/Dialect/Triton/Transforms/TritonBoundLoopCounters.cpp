//===-- TritonBoundLoopCounters.cpp - Loops end at the end of a type ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "tile/Dialect/Triton/Transforms/Passes.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "triton-bound-loop-counters"

namespace mlir::triton {
#define GEN_PASS_DEF_TRITONBOUNDLOOPCOUNTERS
#include "tile/Dialect/Triton/Transforms/Passes.h.inc"
} // namespace mlir::triton

using namespace mlir;

/// Bits of a counter.
static unsigned getWidth(Type type) {
  return type.isIndex() ? IndexType::kInternalStorageBitWidth
                        : type.getIntOrFloatBitWidth();
}

/// True if the value after the last iteration's may not fit the type.
static bool mayWrapAround(scf::ForOp loop) {
  APInt upper, step;
  if (!matchPattern(loop.getStep(), m_ConstantInt(&step)))
    return true;
  if (step.isOne())
    return false;
  if (!matchPattern(loop.getUpperBound(), m_ConstantInt(&upper)))
    return true;
  bool overflows = false;
  // The last counter is at most upper - 1.
  APInt last = upper - 1;
  if (loop.getUnsignedCmp())
    (void)last.uadd_ov(step, overflows);
  else
    (void)last.sadd_ov(step, overflows);
  return overflows;
}

static void boundCounter(scf::ForOp loop) {
  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  Value upper = loop.getUpperBound(), step = loop.getStep();
  Type type = upper.getType();
  bool isUnsigned = loop.getUnsignedCmp();
  auto less =
      isUnsigned ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
  Value any =
      arith::CmpIOp::create(builder, loc, less, loop.getLowerBound(), upper);
  // upper - step, but not below the least number there is, which no counter is
  // less than.
  Value last;
  if (isUnsigned) {
    last = arith::MaxUIOp::create(builder, loc, upper, step);
  } else {
    Value least = arith::ConstantOp::create(
        builder, loc,
        builder.getIntegerAttr(type, APInt::getSignedMinValue(getWidth(type))));
    last = arith::MaxSIOp::create(
        builder, loc, upper, arith::AddIOp::create(builder, loc, least, step));
  }
  last = arith::SubIOp::create(builder, loc, last, step);

  SmallVector<Value> inits = {any, loop.getLowerBound()};
  llvm::append_range(inits, loop.getInitArgs());
  SmallVector<Type> types(ValueRange(inits).drop_front().getTypes());
  auto bounded = scf::WhileOp::create(
      builder, loc, types, inits,
      [](OpBuilder &b, Location loc, ValueRange args) {
        scf::ConditionOp::create(b, loc, args.front(), args.drop_front());
      },
      [](OpBuilder &, Location, ValueRange) {});
  bounded->setDiscardableAttrs(loop->getDiscardableAttrDictionary());

  Block *body = bounded.getAfterBody();
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  for (auto [from, to] :
       llvm::zip_equal(loop.getBody()->getArguments(), body->getArguments()))
    from.replaceAllUsesWith(to);
  body->getOperations().splice(body->end(), loop.getBody()->getOperations());
  builder.setInsertionPoint(yield);
  Value counter = body->getArgument(0);
  Value more = arith::CmpIOp::create(builder, loc, less, counter, last);
  // Where this does wrap around, nobody looks at it. Saying so (nsw) makes LLVM
  // widen the counter, and keep one address for each access instead of one for
  // all, in as many registers.
  Value next = arith::AddIOp::create(builder, loc, counter, step);
  yield->insertOperands(0, {more, next});
  loop.replaceAllUsesWith(bounded.getResults().drop_front());
  loop.erase();
}

namespace {
struct TritonBoundLoopCounters
    : public triton::impl::TritonBoundLoopCountersBase<
          TritonBoundLoopCounters> {
  void runOnOperation() override {
    getOperation()->walk([&](scf::ForOp loop) {
      if (!mayWrapAround(loop))
        return;
      LDBG() << "bounding the counter of " << loop;
      boundCounter(loop);
      ++numLoops;
    });
  }
};
} // namespace
