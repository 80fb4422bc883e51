//===-- OptimizeEpilogue.cpp - Results straight to memory -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "amd/TritonAMDGPUTransforms/Passes.h"

#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Neighbours.h"

#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tritonamdgpu-optimize-epilogue"

namespace mlir::triton::amd {
#define GEN_PASS_DEF_TRITONAMDGPUOPTIMIZEEPILOGUE
#include "amd/TritonAMDGPUTransforms/Passes.h.inc"
} // namespace mlir::triton::amd

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

namespace {
constexpr unsigned kLeastBits = 64, kMostBits = 128;

/// A layout in which lanes have enough neighbours of `result` to write to
/// memory, which `pointers` goes through in its order: the one it has, or one
/// that exchanges inside waves lead to.
Attribute getWideLayout(RankedTensorType result, RankedTensorType pointers) {
  Attribute encoding = result.getEncoding();
  if (!isa<AMDMfmaEncodingAttr, AMDWmmaEncodingAttr>(encoding))
    return {};
  unsigned contiguous = getOrder(pointers).front();
  unsigned bits = getElementBitWidth(result);
  unsigned wanted = getContigPerThread(pointers)[contiguous] * bits;
  if (wanted < kLeastBits)
    return {};
  if (getContigPerThread(result)[contiguous] * bits >= kLeastBits)
    return encoding;
  if (!isa<AMDWmmaEncodingAttr>(encoding))
    return {};
  auto layout =
      gatherNeighbours(result, contiguous, std::min(wanted, kMostBits) / bits);
  if (!layout)
    return {};
  return LinearEncodingAttr::get(result.getContext(), *layout);
}

struct OptimizeEpilogue
    : amd::impl::TritonAMDGPUOptimizeEpilogueBase<OptimizeEpilogue> {
  void runOnOperation() override {
    getOperation().walk([&](StoreOp store) {
      auto convert = store.getValue().getDefiningOp<ConvertLayoutOp>();
      if (!convert)
        return;
      Attribute layout =
          getWideLayout(convert.getSrc().getType(), convert.getType());
      if (!layout)
        return;
      LDBG() << store << " gets the layout " << layout;
      convertOperands(store, layout);
      if (convert->use_empty())
        convert.erase();
      ++numStores;
    });
  }
};
} // namespace
