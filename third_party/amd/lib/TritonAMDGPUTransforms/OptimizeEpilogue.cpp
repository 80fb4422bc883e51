//===-- OptimizeEpilogue.cpp - Results straight to memory -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "amd/TargetModel.h"
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
/// memory, which `pointers` goes through in its order. It is one that exchanges
/// inside waves lead to, or the one it has. Stores of half the width fill half
/// of a sector each.
Attribute getWideLayout(RankedTensorType result, RankedTensorType pointers) {
  Attribute encoding = result.getEncoding();
  if (!isa<AMDMfmaEncodingAttr, AMDWmmaEncodingAttr>(encoding))
    return {};
  unsigned contiguous = getOrder(pointers).front();
  unsigned bits = getElementBitWidth(result);
  unsigned wanted =
      std::min(getContigPerThread(pointers)[contiguous] * bits, kMostBits);
  if (wanted < kLeastBits)
    return {};
  unsigned present = getContigPerThread(result)[contiguous] * bits;
  Attribute own = present >= kLeastBits ? encoding : Attribute();
  if (present >= wanted || (!own && isa<AMDMfmaEncodingAttr>(encoding)))
    return own;
  auto layout = gatherNeighbours(result, contiguous, wanted / bits);
  if (!layout)
    return own;
  return LinearEncodingAttr::get(result.getContext(), *layout);
}

struct OptimizeEpilogue
    : amd::impl::TritonAMDGPUOptimizeEpilogueBase<OptimizeEpilogue> {
  void runOnOperation() override {
    if (failed(amd::TargetModel::get(getOperation())))
      return signalPassFailure();
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
