//===-- ConvertLayoutPlan.cpp - The route of a layout conversion ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Analysis/ConvertLayoutPlan.h"

#include "tile/Analysis/CollectivePlan.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"
#include "tile/Dialect/TritonGPU/IR/TargetModel.h"
#include "tile/Dialect/TritonGPU/IR/TurnAttributes.h"
#include "tile/Layout/SharedMemory.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;

std::optional<SmallVector<int32_t>>
triton::getRegisterSources(const LinearLayout &source,
                           const LinearLayout &result) {
  LayoutConversion conversion = decomposeConversion(source, result);
  if (conversion.kind > ConversionKind::Registers)
    return std::nullopt;
  return SmallVector<int32_t>(conversion.registerMap.begin(),
                              conversion.registerMap.end());
}

/// What a barrier and the latency of shared memory cost a warp, in accesses to
/// its banks.
static constexpr unsigned kBarrierCost = 12;

/// The cost of shuffles in the same unit. A select takes a fraction of the time
/// that a shuffle takes, because shuffles use the pipeline of shared memory.
static unsigned getShuffleCost(const ShufflePlan &plan, int64_t elementBytes) {
  unsigned words = llvm::divideCeil(elementBytes, 4);
  unsigned pack = 0;
  for (int64_t bytes = elementBytes;
       bytes < 4 && pack < plan.getPackableBits().size(); bytes *= 2)
    ++pack;
  unsigned shuffles = (plan.getNumShuffles() * words) >> pack;
  unsigned selects = (plan.getNumSelects() * words) >> pack;
  return shuffles + selects / 3;
}

/// Every block keeps what it has of the tensor in its own memory.
static LinearLayout getMemoryOfBlocks(const LinearLayout &source) {
  LinearLayout::DimBases offsets, blocks;
  F2Span span;
  auto add = [&](StringRef dim, LinearLayout::DimBases &bases, bool keepFree) {
    for (unsigned i = 0, e = source.getInDimSizeLog2(dim); i < e; ++i) {
      bool isNew = span.insert(source.getFlatBasis(dim, i));
      SmallVector<int32_t, 4> basis = source.getBasis(dim, i);
      if (isNew || keepFree)
        bases.push_back(std::vector<int32_t>(basis.begin(), basis.end()));
    }
  };
  for (StringRef dim :
       {StringRef(kRegister), StringRef(kLane), StringRef(kWarp)})
    add(dim, offsets, /*keepFree=*/false);
  add(kBlock, blocks, /*keepFree=*/true);
  return LinearLayout({{kOffset, offsets}, {kBlock, blocks}},
                      source.getOutDims(), /*requireSurjective=*/false);
}

ConvertLayoutPlan::ConvertLayoutPlan(RankedTensorType sourceType,
                                     RankedTensorType resultType,
                                     BankGeometry banks, int64_t turnBytes)
    : source(toLinearLayout(sourceType)), result(toLinearLayout(resultType)) {
  LayoutConversion conversion = decomposeConversion(source, result);
  if (conversion.kind <= ConversionKind::Registers) {
    route = Route::Registers;
    registerSources.assign(conversion.registerMap.begin(),
                           conversion.registerMap.end());
    return;
  }
  int64_t bytes = getElementBytesInSharedMemory(sourceType.getElementType());
  std::optional<SwizzledLayout> choice;
  if (conversion.kind < ConversionKind::Cluster)
    choice =
        chooseSwizzledSharedLayout(source, result, 8 * bytes, turnBytes, banks);
  if (!choice) {
    route = Route::Cluster;
    shared = getMemoryOfBlocks(source);
    scratchSize = shared.getInDimSize(kOffset) * bytes;
    return;
  }
  unsigned memoryCost =
      choice->storeWavefronts + choice->loadWavefronts + kBarrierCost;
  if (conversion.kind == ConversionKind::Lanes &&
      getShuffleCost(*conversion.shuffles, bytes) <= memoryCost) {
    route = Route::Shuffle;
    shuffles = std::move(conversion.shuffles);
    return;
  }
  route = Route::SharedMemory;
  scratchSize = choice->getNumElements() * bytes;
  shared = std::move(choice->layout);
}

ConvertLayoutPlan ConvertLayoutPlan::of(gpu::ConvertLayoutOp op) {
  int64_t turnBytes = kDefaultTurnBytes;
  if (auto most = op->getAttrOfType<IntegerAttr>(kTurnBytesAttrName))
    turnBytes = most.getInt();
  if (op->hasAttr(kOneTurnAttrName))
    turnBytes = std::numeric_limits<int64_t>::max();
  return ConvertLayoutPlan(op.getSrc().getType(), op.getType(),
                           gpu::getTargetModel(op).getSharedMemoryBanks(),
                           turnBytes);
}
