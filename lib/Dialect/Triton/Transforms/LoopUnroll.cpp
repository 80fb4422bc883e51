//===-- LoopUnroll.cpp - Unroll the loops that ask for it -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/IR/Matchers.h"
#include "tile/Analysis/LoopSchedule.h"
#include "tile/Analysis/TripCount.h"
#include "tile/Dialect/Triton/Transforms/Passes.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "triton-loop-unroll"

namespace mlir::triton {
#define GEN_PASS_DEF_TRITONLOOPUNROLL
#include "tile/Dialect/Triton/Transforms/Passes.h.inc"
} // namespace mlir::triton

using namespace mlir;
using namespace mlir::triton;

namespace {

bool isSameNumber(Value lhs, Value rhs) {
  APInt left, right;
  return lhs == rhs ||
         (matchPattern(lhs, m_ConstantInt(&left)) &&
          matchPattern(rhs, m_ConstantInt(&right)) && left == right);
}

/// Has the loop do `factor` iterations at a time, and what is left over another
/// one behind it. The first keeps the attributes.
bool splitAndReplicate(scf::ForOp loop, int64_t factor) {
  std::optional<TripCount::Groups> groups = TripCount(loop).getGroups(factor);
  if (!groups || isSameNumber(groups->end, loop.getLowerBound()))
    return false;
  OpBuilder builder(loop);
  Value step = loop.getStep();
  if (!isSameNumber(groups->end, loop.getUpperBound())) {
    builder.setInsertionPointAfter(loop);
    auto rest = cast<scf::ForOp>(builder.clone(*loop));
    loop.replaceAllUsesWith(rest.getResults());
    rest.setLowerBound(groups->end);
    rest.getInitArgsMutable().assign(loop.getResults());
    gpu::LoopPlan(rest).setNumStages(1);
  }
  loop.setUpperBound(groups->end);
  loop.setStep(groups->step);
  generateUnrolledLoop(
      loop.getBody(), loop.getInductionVar(), factor,
      [&](unsigned i, Value counter, OpBuilder b) -> Value {
        Value number = arith::ConstantOp::create(
            b, loop.getLoc(), b.getIntegerAttr(step.getType(), i));
        Value distance =
            b.createOrFold<arith::MulIOp>(loop.getLoc(), step, number);
        return arith::AddIOp::create(b, loop.getLoc(), counter, distance);
      },
      /*annotateFn=*/nullptr, loop.getRegionIterArgs(),
      loop.getYieldedValues());
  return true;
}

struct TritonLoopUnroll
    : public triton::impl::TritonLoopUnrollBase<TritonLoopUnroll> {
  using Base::Base;

  void runOnOperation() override {
    // Inner loops first: an outer loop then repeats what has become of them.
    SmallVector<scf::ForOp> loops;
    getOperation()->walk([&](scf::ForOp loop) {
      if (gpu::LoopPlan(loop).getUnrollFactor())
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops)
      unroll(loop);
  }

private:
  void unroll(scf::ForOp loop) {
    int factor = *gpu::LoopPlan(loop).getUnrollFactor();
    // Whatever happens next, nobody should unroll this loop again.
    gpu::LoopPlan(loop).eraseUnrollFactor();
    if (factor == 1)
      return;
    if (!splitAndReplicate(loop, factor)) {
      LDBG() << "not unrolled: " << loop;
      return;
    }
    ++numUnrolled;
  }
};

} // namespace
