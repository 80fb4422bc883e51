//===-- CoalesceAsyncCopy.cpp - Layouts of asynchronous copies ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Analysis/AxisInfo.h"
#include "tile/Analysis/MaskTrend.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/TargetModel.h"
#include "tile/Dialect/TritonGPU/Transforms/Passes.h"

#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tritongpu-coalesce-async-copy"

namespace mlir::triton::gpu {
#define GEN_PASS_DEF_TRITONGPUCOALESCEASYNCCOPY
#include "tile/Dialect/TritonGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::gpu

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

namespace {

struct TritonGPUCoalesceAsyncCopy
    : gpu::impl::TritonGPUCoalesceAsyncCopyBase<TritonGPUCoalesceAsyncCopy> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<AsyncCopyGlobalToLocalOp> copies;
    getOperation().walk(
        [&](AsyncCopyGlobalToLocalOp copy) { copies.push_back(copy); });
    // The analysis is only worth its time where there is something to do.
    if (copies.empty())
      return;
    ModuleAxisInfoAnalysis axisInfo(getOperation());
    for (AsyncCopyGlobalToLocalOp copy : copies)
      if (narrow(copy, axisInfo))
        ++numNarrowed;
  }

  bool narrow(AsyncCopyGlobalToLocalOp copy,
              const ModuleAxisInfoAnalysis &axisInfo);
};

bool TritonGPUCoalesceAsyncCopy::narrow(
    AsyncCopyGlobalToLocalOp copy, const ModuleAxisInfoAnalysis &axisInfo) {
  auto type = cast<RankedTensorType>(copy.getSrc().getType());
  auto blocked = dyn_cast<BlockedEncodingAttr>(type.getEncoding());
  auto shared = dyn_cast<SwizzledSharedEncodingAttr>(
      copy.getResult().getType().getEncoding());
  ArrayRef<unsigned> sizes = getTargetModel(copy).getAsyncCopySizes();
  if (!blocked || !shared || !maybeLookupNumWarps(copy) || sizes.empty())
    return false;
  unsigned fastest = blocked.getOrder()[0];
  // Memory that runs the other way takes single elements, whatever the layout.
  if (shared.getOrder()[0] != fastest)
    return false;

  int64_t run = std::max<int64_t>(axisInfo.getAlignment(copy.getSrc()),
                                  copy.getContiguity());
  int64_t bytes = AxisInfo::getUnit(type);
  run = std::min<int64_t>(run, sizes.back() / bytes);
  run = getCopiedNeighbours(axisInfo, run, copy.getMask(), copy.getOther());
  if (shared.getMaxPhase() > 1)
    run = std::min<int64_t>(run, shared.getVec());
  if (run * bytes < sizes.front() || run >= blocked.getSizePerThread()[fastest])
    return false;

  SmallVector<unsigned> size(type.getRank(), 1);
  size[fastest] = run;
  auto layout = BlockedEncodingAttr::get(
      copy.getContext(), type.getShape(), size, blocked.getOrder(),
      lookupNumWarps(copy), lookupThreadsPerWarp(copy), blocked.getCTALayout());
  LDBG() << copy << " gets " << layout;
  OpBuilder b(copy);
  for (OpOperand &operand : copy->getOpOperands())
    if (auto tensor = dyn_cast<RankedTensorType>(operand.get().getType()))
      operand.set(ConvertLayoutOp::create(
          b, copy.getLoc(), cloneWithEncoding(tensor, layout), operand.get()));
  return true;
}

} // namespace
