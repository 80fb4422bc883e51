//===-- OptimizeEpilogue.cpp - Results straight to memory -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "amd/TritonAMDGPUTransforms/Passes.h"

#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"

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

/// The layout of `result`, in which lanes that hold every other element along
/// `dim` have changed some of them, so that each holds `count` neighbours.
/// Nullopt if that takes more than such exchanges.
std::optional<LinearLayout> gatherNeighbours(RankedTensorType result,
                                             unsigned dim, int32_t count) {
  LinearLayout::Bases bases = toLinearLayout(result).getBases();
  auto basesOf = [&](StringRef name) -> LinearLayout::DimBases & {
    return llvm::find_if(bases, [&](auto &in) { return in.first == name; })
        ->second;
  };
  LinearLayout::DimBases &registers = basesOf(kRegister),
                         &lanes = basesOf(kLane);
  auto find = [&](LinearLayout::DimBases &among, int32_t size) {
    std::vector<int32_t> basis(result.getRank());
    basis[dim] = size;
    return llvm::find(among, basis);
  };
  int32_t given = count;
  for (int32_t size = 1; size < count; size *= 2) {
    if (find(registers, size) != registers.end())
      continue;
    auto here = find(lanes, size), there = find(registers, given);
    if (here == lanes.end() || there == registers.end())
      return std::nullopt;
    std::swap(*here, *there);
    given *= 2;
  }
  for (int32_t size = count / 2; size > 0; size /= 2) {
    auto it = find(registers, size);
    std::rotate(registers.begin(), it, it + 1);
  }
  return LinearLayout(bases, toLinearLayout(result).getOutDims(),
                      /*requireSurjective=*/true);
}

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
      Value result = convert.getSrc();
      Attribute layout =
          getWideLayout(convert.getSrc().getType(), convert.getType());
      if (!layout)
        return;
      LDBG() << store << " gets the layout " << layout;
      OpBuilder builder(store);
      auto toLayout = [&](Value value) -> Value {
        auto type = cast<RankedTensorType>(value.getType());
        if (type.getEncoding() == layout)
          return value;
        return ConvertLayoutOp::create(builder, store.getLoc(),
                                       cloneWithEncoding(type, layout), value);
      };
      store.getPtrMutable().assign(toLayout(store.getPtr()));
      store.getValueMutable().assign(toLayout(result));
      if (Value mask = store.getMask())
        store.getMaskMutable().assign(toLayout(mask));
      if (convert->use_empty())
        convert.erase();
      ++numStores;
    });
  }
};
} // namespace
