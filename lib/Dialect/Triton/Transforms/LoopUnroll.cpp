//===-- LoopUnroll.cpp - Unroll the loops that ask for it -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
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
  /// Makes a loop that ends before it begins one that ends where it begins: its
  /// iterations are counted without signs, and some would be left over.
  static void boundFromBelow(scf::ForOp loop) {
    Value lower = loop.getLowerBound(), upper = loop.getUpperBound();
    if (isa<IndexType>(upper.getType()) || (matchPattern(lower, m_Constant()) &&
                                            matchPattern(upper, m_Constant())))
      return;
    OpBuilder builder(loop);
    Value bound =
        loop.getUnsignedCmp()
            ? arith::MaxUIOp::create(builder, loop.getLoc(), lower, upper)
                  .getResult()
            : arith::MaxSIOp::create(builder, loop.getLoc(), lower, upper);
    loop.setUpperBound(bound);
  }

  LogicalResult unroll(scf::ForOp loop) {
    auto factor = dyn_cast<IntegerAttr>(loop->getAttr(factorAttrName));
    if (!factor || factor.getInt() < 1)
      return loop.emitError("expected a positive integer as '")
             << factorAttrName << "', found " << loop->getAttr(factorAttrName);
    // Whatever happens next, nobody should unroll this loop again.
    loop->removeAttr(factorAttrName);
    if (factor.getInt() == 1)
      return success();
    boundFromBelow(loop);
    // The original loop keeps its attributes as the main or the only loop; the
    // rest is a copy of it.
    FailureOr<UnrolledLoopInfo> unrolled =
        loopUnrollByFactor(loop, factor.getInt());
    if (failed(unrolled)) {
      LDBG() << "not unrolled: " << loop;
      return success();
    }
    ++numUnrolled;
    if (std::optional<scf::ForOp> epilogue = unrolled->epilogueLoopOp)
      (*epilogue)->setAttr(
          stagesAttrName,
          IntegerAttr::get(IntegerType::get(&getContext(), 32), 1));
    return success();
  }
};

} // namespace
