//===-- BoundLoopCounters.cpp - Loops end at the end of a type ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mlir/Analysis/DataFlow/ConstantPropagationAnalysis.h"
#include "mlir/Analysis/DataFlow/DeadCodeAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "tile/Analysis/AxisInfo.h"
#include "tile/Analysis/TripCount.h"
#include "tile/Analysis/ValueRanges.h"
#include "tile/Dialect/Triton/Transforms/Passes.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "triton-bound-loop-counters"

namespace mlir::triton {
#define GEN_PASS_DEF_TRITONBOUNDLOOPCOUNTERS
#include "tile/Dialect/Triton/Transforms/Passes.h.inc"
} // namespace mlir::triton

using namespace mlir;
using namespace mlir::triton;

/// Bits of a counter.
static unsigned getWidth(Type type) {
  return type.isIndex() ? IndexType::kInternalStorageBitWidth
                        : type.getIntOrFloatBitWidth();
}

/// True if the greatest bound and the greatest step leave room: the last
/// counter is less than the bound.
static bool fitsByRange(scf::ForOp loop, const ConstantIntRanges &upper,
                        const ConstantIntRanges &step) {
  bool overflows = false;
  if (loop.getUnsignedCmp()) {
    if (upper.umax().isZero())
      return true;
    (void)(upper.umax() - 1).uadd_ov(step.umax(), overflows);
  } else {
    if (upper.smax().isMinSignedValue())
      return true;
    (void)(upper.smax() - 1).sadd_ov(step.smax(), overflows);
  }
  return !overflows;
}

static void boundCounter(scf::ForOp loop) {
  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  TripCount trips(loop);
  Value any = trips.has(builder, 0);
  trips.prepareNextOfAny();

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
  Value more = trips.hasNextOfAny(builder, counter);
  // Where this does wrap around, nobody looks at it. Saying so (nsw) makes LLVM
  // widen the counter, and keep one address for each access instead of one for
  // all, in as many registers.
  Value next = trips.getLater(builder, counter, 1);
  yield->insertOperands(0, {more, next});
  loop.replaceAllUsesWith(bounded.getResults().drop_front());
  loop.erase();
}

namespace {
struct TritonBoundLoopCounters
    : public triton::impl::TritonBoundLoopCountersBase<
          TritonBoundLoopCounters> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) {
      if (!matchPattern(loop.getStep(), m_One()))
        loops.push_back(loop);
    });
    if (loops.empty())
      return;
    DataFlowSolver ranges;
    ranges.load<dataflow::DeadCodeAnalysis>();
    ranges.load<dataflow::SparseConstantPropagation>();
    ranges.load<ValueRangeAnalysis>();
    if (failed(ranges.initializeAndRun(getOperation())))
      return signalPassFailure();
    auto getRange = [&](Value value) {
      auto *state =
          ranges.lookupState<dataflow::IntegerValueRangeLattice>(value);
      return state && !state->getValue().isUninitialized()
                 ? state->getValue().getValue()
                 : ConstantIntRanges::maxRange(getWidth(value.getType()));
    };
    llvm::erase_if(loops, [&](scf::ForOp loop) {
      return fitsByRange(loop, getRange(loop.getUpperBound()),
                         getRange(loop.getStep()));
    });
    if (loops.empty())
      return;
    ModuleAxisInfoAnalysis axisInfo(getOperation());
    llvm::erase_if(loops, [&](scf::ForOp loop) {
      return meetsUpperBound(loop, axisInfo);
    });
    for (scf::ForOp loop : loops) {
      LDBG() << "bounding the counter of " << loop;
      boundCounter(loop);
      ++numLoops;
    }
  }
};
} // namespace
