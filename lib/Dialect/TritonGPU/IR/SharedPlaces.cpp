//===-- SharedPlaces.cpp - Where a tensor lies in a buffer ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "tile/Dialect/TritonGPU/IR/SharedPlaces.h"

#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"

using namespace mlir;
using namespace mlir::triton;

/// Whether a view may start in the memory of another block than its buffer.
static bool mayStartElsewhere(gpu::MemDescType view) {
  LinearLayout memory = toLinearLayout(view);
  LinearLayout inverse = memory.pseudoinvert();
  unsigned rank = memory.getNumOutDims();
  ArrayRef<int64_t> shape = view.getShape().take_back(rank);
  for (unsigned d = 0; d < rank; ++d)
    for (unsigned i = 0, e = inverse.getInDimSizeLog2(kDim(d)); i < e; ++i)
      if ((int64_t(1) << i) >= shape[d] &&
          inverse.getBasis(kDim(d), i, kBlock) != 0)
        return true;
  return false;
}

LinearLayout gpu::getPlaces(RankedTensorType registers,
                            MemDescType memoryType) {
  LinearLayout memory = toLinearLayout(memoryType);
  LinearLayout layout = toLinearLayout(registers);
  for (StringRef dim : memory.getOutDimNames())
    layout = layout.resizeOutDim(dim, memory.getOutDimSize(dim));
  LinearLayout places = layout.invertAndCompose(memory);
  uint32_t copies = getCopyBits(memoryType);
  if (!copies || !places.hasOutDim(kBlock))
    return places;
  LinearLayout::Bases bases = places.getBases();
  unsigned out = places.getOutDimIndex(kBlock);
  for (auto &[dim, ofDim] : bases)
    if (dim == kBlock)
      for (auto [i, basis] : llvm::enumerate(ofDim))
        if (copies >> i & 1)
          basis[out] |= 1 << i;
  return LinearLayout(bases, places.getOutDims(), /*requireSurjective=*/false);
}

bool gpu::staysInBlock(RankedTensorType registers, MemDescType memory) {
  LinearLayout places = getPlaces(registers, memory);
  if (!places.hasOutDim(kBlock))
    return true;
  if (mayStartElsewhere(memory))
    return false;
  for (StringRef dim : places.getInDimNames())
    for (unsigned i = 0, e = places.getInDimSizeLog2(dim); i < e; ++i)
      if (places.getBasis(dim, i, kBlock) != (dim == kBlock ? 1 << i : 0))
        return false;
  return true;
}

uint32_t gpu::getCopyBits(MemDescType memory) {
  LinearLayout layout = toLinearLayout(memory);
  uint32_t bits = 0;
  for (unsigned i = 0, e = layout.getInDimSizeLog2(kBlock); i < e; ++i)
    if (layout.getFlatBasis(kBlock, i) == 0)
      bits |= 1 << i;
  return bits;
}

bool gpu::isInEachBlock(MemDescType memory) {
  unsigned numBits = toLinearLayout(memory).getInDimSizeLog2(kBlock);
  return getCopyBits(memory) == (1u << numBits) - 1;
}

bool gpu::missesCopies(RankedTensorType registers, MemDescType memory) {
  LinearLayout layout = toLinearLayout(registers);
  uint32_t copies = getCopyBits(memory);
  for (unsigned i = 0, e = layout.getInDimSizeLog2(kBlock); i < e; ++i)
    if (copies >> i & 1 && layout.getFlatBasis(kBlock, i) != 0)
      return true;
  return false;
}
