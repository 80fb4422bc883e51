//===-- SharedPlaces.cpp - Where a tensor lies in a buffer ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "tile/Dialect/TritonGPU/IR/SharedPlaces.h"

#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"

using namespace mlir;
using namespace mlir::triton;

LinearLayout gpu::getPlaces(RankedTensorType registers,
                            MemDescType memoryType) {
  LinearLayout memory = toLinearLayout(memoryType);
  LinearLayout layout = toLinearLayout(registers);
  for (StringRef dim : memory.getOutDimNames())
    layout = layout.resizeOutDim(dim, memory.getOutDimSize(dim));
  return layout.invertAndCompose(memory);
}

bool gpu::staysInBlock(RankedTensorType registers, MemDescType memory) {
  LinearLayout layout = toLinearLayout(memory);
  LinearLayout places = getPlaces(registers, memory);
  if (!places.hasOutDim(kBlock))
    return true;
  for (StringRef dim : places.getInDimNames())
    for (unsigned i = 0, e = places.getInDimSizeLog2(dim); i < e; ++i) {
      int32_t there = places.getBasis(dim, i, kBlock);
      int32_t here = dim == kBlock ? 1 << i : 0;
      if (there == here)
        continue;
      // Blocks that hold copies read their own.
      bool isCopy = there == 0 && layout.getFlatBasis(kBlock, i) == 0;
      if (!isCopy)
        return false;
    }
  return true;
}
