//===-- VersionPaddedLoops.cpp - version-padded-loops-nv ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// cp.async writes zeros where a mask is not set. Another value has to come in
// when the buffer is read, and the mask has to stay in registers until then,
// in the layout of the dot. A descriptor of the host says only at run time
// which value it is, and zero is the rule.
//
//===----------------------------------------------------------------------===//

#include "nvidia/TritonNVIDIAGPUToLLVM/Passes.h"

#include "tile/Analysis/LoopSchedule.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::triton::nvidia {
#define GEN_PASS_DEF_VERSIONPADDEDLOOPSNV
#include "nvidia/TritonNVIDIAGPUToLLVM/Passes.h.inc"
} // namespace mlir::triton::nvidia

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

namespace {

/// The scalar under which a load gives something else than zero where its mask
/// is not set; null if this is not how it looks.
Value getCondition(LoadOp load) {
  Value other = load.getOther();
  while (other &&
         isa_and_nonnull<ConvertLayoutOp, SplatOp>(other.getDefiningOp()))
    other = other.getDefiningOp()->getOperand(0);
  auto select = other ? other.getDefiningOp<arith::SelectOp>() : nullptr;
  if (!select || !select.getCondition().getType().isInteger(1))
    return {};
  Value otherwise = select.getFalseValue();
  bool isZero = matchPattern(otherwise, m_Zero()) ||
                matchPattern(otherwise, m_AnyZeroFloat());
  return isZero ? select.getCondition() : Value();
}

struct VersionPaddedLoopsNV
    : nvidia::impl::VersionPaddedLoopsNVBase<VersionPaddedLoopsNV> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation()->walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
      loops.push_back(loop);
      return WalkResult::skip();
    });
    for (scf::ForOp loop : loops)
      version(loop);
  }

private:
  void version(scf::ForOp loop) {
    SmallVector<LoadOp> loads;
    SetVector<Value> conditions;
    unsigned dots = 0;
    loop->walk([&](Operation *op) {
      dots += isa<MatrixProductOpInterface>(op);
      auto load = dyn_cast<LoadOp>(op);
      Value condition = load ? getCondition(load) : Value();
      if (!condition || !loop.isDefinedOutsideOfLoop(condition))
        return;
      loads.push_back(load);
      conditions.insert(condition);
    });
    // Attention and gradients keep what one dot hands to the next in registers.
    // Without copies under way they spill more than with selects.
    if (dots != 1 || loads.empty())
      return;

    OpBuilder builder(loop);
    Location loc = loop.getLoc();
    Value any = conditions.front();
    for (Value condition : ArrayRef(conditions.getArrayRef()).drop_front())
      any = arith::OrIOp::create(builder, loc, any, condition);
    auto choice = scf::IfOp::create(builder, loc, loop.getResultTypes(), any,
                                    /*withElseRegion=*/true);
    loop.replaceAllUsesWith(choice);

    builder.setInsertionPointToStart(choice.thenBlock());
    auto padded = cast<scf::ForOp>(builder.clone(*loop));
    padded->walk([](scf::ForOp nested) {
      LoopPlan plan(nested);
      plan.setNumStages(1);
      plan.eraseFlattened();
      plan.eraseWarpSpecialized();
    });
    loop->moveBefore(choice.elseBlock(), choice.elseBlock()->begin());
    if (loop.getNumResults() != 0) {
      scf::YieldOp::create(builder, loc, padded.getResults());
      builder.setInsertionPointAfter(loop);
      scf::YieldOp::create(builder, loc, loop.getResults());
    }
    for (LoadOp load : loads) {
      builder.setInsertionPoint(load);
      load.getOtherMutable().assign(arith::ConstantOp::create(
          builder, load.getLoc(), builder.getZeroAttr(load.getType())));
    }
    ++numVersioned;
  }
};

} // namespace
