//===-- HoistLayoutConversions.cpp - Operands prepared before loops -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "amd/TritonAMDGPUTransforms/Passes.h"

#include "tile/Dialect/TritonGPU/IR/Dialect.h"

#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tritonamdgpu-hoist-layout-conversions"

namespace mlir::triton::amd {
#define GEN_PASS_DEF_TRITONAMDGPUHOISTLAYOUTCONVERSIONS
#include "amd/TritonAMDGPUTransforms/Passes.h.inc"
} // namespace mlir::triton::amd

using namespace mlir;
using namespace mlir::triton;

namespace {
struct HoistLayoutConversions
    : amd::impl::TritonAMDGPUHoistLayoutConversionsBase<
          HoistLayoutConversions> {
  void runOnOperation() override {
    SmallVector<gpu::ConvertLayoutOp> operands;
    getOperation()->walk([&](gpu::ConvertLayoutOp convert) {
      if (isa<gpu::DotOperandEncodingAttr>(convert.getType().getEncoding()))
        operands.push_back(convert);
    });
    for (gpu::ConvertLayoutOp convert : operands) {
      Operation *outermost = nullptr;
      for (auto loop = dyn_cast<LoopLikeOpInterface>(convert->getParentOp());
           loop && loop.isDefinedOutsideOfLoop(convert.getSrc());
           loop = dyn_cast<LoopLikeOpInterface>(loop->getParentOp()))
        outermost = loop;
      if (!outermost)
        continue;
      LDBG() << "hoisted " << convert;
      convert->moveBefore(outermost);
      ++numHoisted;
    }
  }
};
} // namespace
