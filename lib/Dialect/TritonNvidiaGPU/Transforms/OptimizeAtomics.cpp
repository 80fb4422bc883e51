//===-- OptimizeAtomics.cpp - Additions from where results are ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Neighbours.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h"

#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "triton-nvidia-optimize-atomics"

namespace mlir::triton::nvidia_gpu {
#define GEN_PASS_DEF_TRITONNVIDIAOPTIMIZEATOMICS
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::nvidia_gpu

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

namespace {
/// Of one access of a thread.
constexpr unsigned kMostBits = 128;

/// The layout that exchanges inside warps lead to, in which a thread has as
/// many neighbours of `result` as it has in that of `pointers`.
Attribute getLayoutInWarps(RankedTensorType result, RankedTensorType pointers) {
  if (!isa<gpu::NvidiaMmaEncodingAttr>(result.getEncoding()))
    return {};
  unsigned contiguous = gpu::getOrder(pointers).front();
  unsigned neighbours =
      std::min(gpu::getContigPerThread(pointers)[contiguous],
               kMostBits / std::max(getElementBitWidth(result), 8u));
  std::optional<LinearLayout> layout =
      gpu::gatherNeighbours(result, contiguous, neighbours);
  if (!layout)
    return {};
  return gpu::LinearEncodingAttr::get(result.getContext(), *layout);
}

struct TritonNvidiaOptimizeAtomics
    : public nvidia_gpu::impl::TritonNvidiaOptimizeAtomicsBase<
          TritonNvidiaOptimizeAtomics> {
  void runOnOperation() override {
    getOperation().walk([&](AtomicRMWOp atomic) {
      auto convert = atomic.getVal().getDefiningOp<gpu::ConvertLayoutOp>();
      if (!convert || !atomic->use_empty())
        return;
      Attribute layout =
          getLayoutInWarps(convert.getSrc().getType(), convert.getType());
      if (!layout)
        return;
      LDBG() << atomic << " gets the layout " << layout;
      gpu::convertOperands(atomic, layout);
      Value old = atomic.getResult();
      old.setType(gpu::cloneWithEncoding(cast<RankedTensorType>(old.getType()),
                                         layout));
      if (convert->use_empty())
        convert.erase();
      ++numAtomics;
    });
  }
};

} // namespace
