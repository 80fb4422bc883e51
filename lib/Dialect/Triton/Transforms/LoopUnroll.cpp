//===-- LoopUnroll.cpp - Unroll the loops that ask for it -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "tile/Dialect/Triton/Transforms/Passes.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "triton-loop-unroll"

namespace mlir::triton {
#define GEN_PASS_DEF_TRITONLOOPUNROLL
#include "tile/Dialect/Triton/Transforms/Passes.h.inc"
} // namespace mlir::triton

using namespace mlir;

namespace {

constexpr StringLiteral factorAttrName = "tt.loop_unroll_factor";
constexpr StringLiteral stagesAttrName = "tt.num_stages";

/// What the loop does `factor` iterations at a time: how far it comes with
/// them, and by what its counter advances.
struct Groups {
  Value end, step;
};

/// Computes that with the loop's own type, in which the distance between the
/// bounds, taken without a sign, always fits; what the counter advances by may
/// not, and then there are no groups.
std::optional<Groups> computeGroups(scf::ForOp loop, int64_t factor) {
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  Value lower = loop.getLowerBound(), upper = loop.getUpperBound(),
        step = loop.getStep();
  Type type = step.getType();
  unsigned width = type.isIndex() ? IndexType::kInternalStorageBitWidth
                                  : type.getIntOrFloatBitWidth();
  bool isUnsigned = loop.getUnsignedCmp();
  APInt greatest =
      isUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width);
  if (greatest.getActiveBits() < 64 &&
      uint64_t(factor) > greatest.getZExtValue())
    return std::nullopt;
  APInt greatestStep = greatest.udiv(APInt(width, factor));
  APInt known;
  bool isKnown = matchPattern(step, m_ConstantInt(&known));
  if (isKnown && known.ugt(greatestStep))
    return std::nullopt;
  auto constant = [&](const APInt &value) -> Value {
    return arith::ConstantOp::create(b, b.getIntegerAttr(type, value));
  };
  // A loop that ends before it begins has no iterations.
  Value bound = isUnsigned ? b.createOrFold<arith::MaxUIOp>(lower, upper)
                           : b.createOrFold<arith::MaxSIOp>(lower, upper);
  Value one = constant(APInt(width, 1)),
        several = constant(APInt(width, factor));
  Value span = b.createOrFold<arith::SubIOp>(bound, lower);
  // Where this wraps around, more iterations are left over.
  Value rounded = b.createOrFold<arith::AddIOp>(
      span, b.createOrFold<arith::SubIOp>(step, one));
  Value count = b.createOrFold<arith::DivUIOp>(rounded, step);
  Value groups = b.createOrFold<arith::DivUIOp>(count, several);
  if (!isKnown) {
    Value fits = arith::CmpIOp::create(b, arith::CmpIPredicate::ule, step,
                                       constant(greatestStep));
    groups = arith::SelectOp::create(b, fits, groups,
                                     constant(APInt::getZero(width)));
  }
  Value groupStep = b.createOrFold<arith::MulIOp>(step, several);
  // The last iteration may be less than a step before the end, beyond which the
  // type need not go on.
  Value length = b.createOrFold<arith::MinUIOp>(
      b.createOrFold<arith::MulIOp>(groups, groupStep), span);
  return Groups{b.createOrFold<arith::AddIOp>(lower, length), groupStep};
}

bool isSameNumber(Value lhs, Value rhs) {
  APInt left, right;
  return lhs == rhs ||
         (matchPattern(lhs, m_ConstantInt(&left)) &&
          matchPattern(rhs, m_ConstantInt(&right)) && left == right);
}

/// Has the loop do `factor` iterations at a time, and what is left over another
/// one behind it. The first keeps the attributes.
bool splitAndReplicate(scf::ForOp loop, int64_t factor) {
  std::optional<Groups> groups = computeGroups(loop, factor);
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
    rest->setAttr(stagesAttrName, builder.getI32IntegerAttr(1));
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
      if (loop->hasAttr(factorAttrName))
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops)
      if (failed(unroll(loop)))
        return signalPassFailure();
  }

private:
  LogicalResult unroll(scf::ForOp loop) {
    auto factor = dyn_cast<IntegerAttr>(loop->getAttr(factorAttrName));
    if (!factor || factor.getInt() < 1)
      return loop.emitError("expected a positive integer as '")
             << factorAttrName << "', found " << loop->getAttr(factorAttrName);
    // Whatever happens next, nobody should unroll this loop again.
    loop->removeAttr(factorAttrName);
    if (factor.getInt() == 1)
      return success();
    if (!splitAndReplicate(loop, factor.getInt())) {
      LDBG() << "not unrolled: " << loop;
      return success();
    }
    ++numUnrolled;
    return success();
  }
};

} // namespace
