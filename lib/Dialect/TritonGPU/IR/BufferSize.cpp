//===-- BufferSize.cpp - What a buffer takes of shared memory -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Dialect/TritonGPU/IR/BufferSize.h"

#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

int64_t gpu::getElementsInMemory(MemDescType type) {
  ArrayRef<int64_t> shape = type.getAllocShape();
  // The encoding covers the last dimensions; those before it count buffers.
  int64_t rank = getOrder(type).size();
  int64_t buffers = 1;
  for (int64_t size : shape.drop_back(std::min<int64_t>(rank, shape.size())))
    buffers *= size;
  ArrayRef<int64_t> inner = shape.take_back(rank);
  SmallVector<int64_t> perCTA = getShapePerCTA(type.getEncoding(), inner);
  int64_t elements = 1;
  for (int64_t size : perCTA)
    elements *= size;
  // An encoding may leave places unused, or be made for a larger shape.
  if (FailureOr<LinearLayout> layout =
          tryToLinearLayout(inner, type.getEncoding());
      succeeded(layout) && layout->hasInDim(kOffset))
    elements = std::max<int64_t>(elements, layout->getInDimSize(kOffset));
  if (auto padded = dyn_cast<PaddedSharedEncodingAttr>(type.getEncoding())) {
    int64_t unpadded = elements;
    for (auto [interval, padding] :
         llvm::zip(padded.getIntervals(), padded.getPaddings()))
      elements += unpadded / interval * padding;
  }
  return buffers * elements;
}
