//===-- GatherPlan.cpp - How a gather is lowered --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Analysis/GatherPlan.h"

#include "tile/Analysis/CollectivePlan.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;

/// What a barrier and the latency of shared memory cost a warp, in accesses.
static constexpr unsigned kBarrierCost = 12;

/// Where the source keeps the elements that indices in the same place of their
/// layout select; nullopt if that may be another warp.
static std::optional<LinearLayout> findInWarp(const LinearLayout &source,
                                              const LinearLayout &indices,
                                              unsigned axis) {
  LinearLayout inverse = source.pseudoinvert();
  unsigned rank = source.getNumOutDims();
  // The bits of the source's position that a coordinate brings along.
  auto locate = [&](ArrayRef<int32_t> coords) {
    LinearLayout::NamedSizes index;
    for (unsigned d = 0; d < rank; ++d)
      index.push_back({kDim(d), coords[d]});
    return inverse.apply(index);
  };
  auto partOf = [](const LinearLayout::NamedSizes &position, StringRef dim) {
    for (auto [name, value] : position)
      if (name == dim)
        return value;
    return 0;
  };

  LinearLayout::Bases bases;
  for (StringRef dim : indices.getInDimNames()) {
    LinearLayout::DimBases dimBases;
    for (unsigned i = 0, e = indices.getInDimSizeLog2(dim); i < e; ++i) {
      SmallVector<int32_t> coords(rank);
      for (unsigned d = 0; d < rank; ++d)
        coords[d] = d == axis ? 0 : indices.getBasis(dim, i, kDim(d));
      LinearLayout::NamedSizes position = locate(coords);
      for (StringRef outer : {StringRef(kWarp), StringRef(kBlock)}) {
        int32_t there = partOf(position, outer);
        int32_t here = dim == outer ? 1 << i : 0;
        if (there == here)
          continue;
        // A copy in this warp will do.
        bool hasCopy = there == 0 && source.hasInDim(outer) &&
                       i < source.getInDimSizeLog2(outer) &&
                       source.getFlatBasis(outer, i) == 0;
        if (!hasCopy)
          return std::nullopt;
      }
      dimBases.push_back(
          {partOf(position, kRegister), partOf(position, kLane)});
    }
    bases.push_back({dim, std::move(dimBases)});
  }
  LinearLayout::DimBases axisBases;
  for (int32_t bit = 1; bit < source.getOutDimSize(kDim(axis)); bit *= 2) {
    SmallVector<int32_t> coords(rank);
    coords[axis] = bit;
    LinearLayout::NamedSizes position = locate(coords);
    if (partOf(position, kWarp) || partOf(position, kBlock))
      return std::nullopt;
    axisBases.push_back({partOf(position, kRegister), partOf(position, kLane)});
  }
  bases.push_back({GatherPlan::kAxisValue, std::move(axisBases)});
  return LinearLayout(bases,
                      {{kRegister, source.getInDimSize(kRegister)},
                       {kLane, source.getInDimSize(kLane)}},
                      /*requireSurjective=*/false);
}

GatherPlan::GatherPlan(GatherOp op) {
  RankedTensorType sourceType = op.getSrc().getType();
  LinearLayout source = toLinearLayout(sourceType);
  LinearLayout indices = toLinearLayout(op.getIndices().getType());
  int64_t bytes = getElementBytesInSharedMemory(sourceType.getElementType());
  inWarp = findInWarp(source, indices, op.getAxis());
  if (inWarp) {
    unsigned words = llvm::divideCeil(bytes, 4);
    unsigned shuffles =
        indices.getInDimSize(kRegister) * words * getCandidates().size();
    unsigned accesses = words * (indices.getInDimSize(kRegister) +
                                 source.getInDimSize(kRegister));
    if (shuffles <= accesses + kBarrierCost)
      return;
    inWarp.reset();
  }
  scratchSize = sourceType.getNumElements() * bytes;
}

SmallVector<int32_t> GatherPlan::getCandidates() const {
  SmallVector<int32_t> candidates{0};
  for (StringRef dim : inWarp->getInDimNames()) {
    if (dim == kRegister)
      continue;
    for (unsigned i = 0, e = inWarp->getInDimSizeLog2(dim); i < e; ++i) {
      int32_t basis = inWarp->getBasis(dim, i, kRegister);
      if (llvm::is_contained(candidates, basis))
        continue;
      for (int32_t known : SmallVector<int32_t>(candidates))
        candidates.push_back(known ^ basis);
    }
  }
  return candidates;
}
