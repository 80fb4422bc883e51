//===-- LegalizeCollectives.cpp - Layouts that scans and reductions take --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A reshape may give a tensor a layout in which the axis of a scan, or of a
// reduction in order, runs through lanes, registers and warps in any way. To
// lower that would take more exchanges than one conversion.
//
//===----------------------------------------------------------------------===//

#include "tile/Analysis/CollectivePlan.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/LayoutChecks.h"
#include "tile/Dialect/TritonGPU/Transforms/Passes.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tritongpu-legalize-collectives"

namespace mlir::triton::gpu {
#define GEN_PASS_DEF_TRITONGPULEGALIZECOLLECTIVES
#include "tile/Dialect/TritonGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::gpu

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

namespace {

RankedTensorType withLayout(Type type, Attribute layout) {
  return cast<RankedTensorType>(type).cloneWithEncoding(layout);
}

struct TritonGPULegalizeCollectives
    : gpu::impl::TritonGPULegalizeCollectivesBase<
          TritonGPULegalizeCollectives> {
  using Base::Base;

  void runOnOperation() override {
    if (failed(checkTensorsHaveLayouts(getOperation())))
      return signalPassFailure();
    getOperation()->walk([&](Operation *op) {
      if (auto scan = dyn_cast<ScanOp>(op)) {
        std::string reason = ScanPlan(scan).unsupported;
        if (!reason.empty())
          convert(op, scan.getAxis(), reason);
      } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
        std::string reason = ReducePlan(reduce).unsupported;
        if (!reason.empty())
          convert(op, reduce.getAxis(), reason);
      }
    });
  }

private:
  /// Gives the operands a blocked layout, and the results theirs back.
  void convert(Operation *op, int axis, StringRef reason) {
    LDBG() << reason << ": " << *op;
    auto type = cast<RankedTensorType>(op->getOperand(0).getType());
    Attribute layout = getDefaultBlockedEncoding(
        op->getContext(), type.getShape(), lookupNumWarps(op),
        lookupThreadsPerWarp(op), lookupNumCTAs(op));
    OpBuilder b(op);
    for (OpOperand &operand : op->getOpOperands())
      operand.set(ConvertLayoutOp::create(
          b, op->getLoc(), withLayout(operand.get().getType(), layout),
          operand.get()));
    if (isa<ReduceOp>(op) && type.getRank() > 1)
      layout = SliceEncodingAttr::get(op->getContext(), axis,
                                      cast<BlockedEncodingAttr>(layout));
    b.setInsertionPointAfter(op);
    for (OpResult result : op->getResults()) {
      Type before = result.getType();
      if (!isa<RankedTensorType>(before)) // of all elements
        continue;
      result.setType(withLayout(before, layout));
      auto back = ConvertLayoutOp::create(b, op->getLoc(), before, result);
      result.replaceAllUsesExcept(back, back);
    }
    ++numConverted;
  }
};

} // namespace
