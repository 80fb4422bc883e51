//===-- SharedEncodings.cpp - Choosing layouts of shared memory -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "tile/Dialect/TritonGPU/Transforms/SharedEncodings.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

SwizzledSharedEncodingAttr
gpu::getDotOperandSharedEncoding(RankedTensorType source,
                                 DotOperandEncodingAttr operand) {
  MLIRContext *context = source.getContext();
  SmallVector<unsigned> order = getOrder(source);
  CTALayoutAttr ctaLayout = getCTALayout(source.getEncoding());
  unsigned rank = source.getRank();
  unsigned bits = std::max(8u, source.getElementType().isIntOrFloat()
                                   ? source.getElementTypeBitWidth()
                                   : 64u);
  unsigned k = operand.getOpIdx() == 0 ? rank - 1 : rank - 2;
  unsigned other = operand.getOpIdx() == 0 ? rank - 2 : rank - 1;
  unsigned contiguous = order.front();
  if (!isa<MmaEncodingTrait>(operand.getParent()) || bits > 32 ||
      (contiguous != k && contiguous != other))
    return SwizzledSharedEncodingAttr::get(context, 1, 1, 1, order, ctaLayout);

  // The threads of a warp read a core matrix at once: 8 rows of 16 bytes along
  // K. Groups of what such a read takes from one row change places, so that
  // those of different rows fall into different banks. `perPhase` rows fit into
  // the 128 bytes of all banks and need no shift among themselves. Beside an
  // operand of narrower elements, four threads take more than 16 bytes of a
  // row.
  constexpr unsigned rowsOfCore = 8, threadsOfRow = 4;
  unsigned kOfCore = 128 / bits;
  unsigned kOfRead = kOfCore;
  if (isa<NvidiaMmaEncodingAttr>(operand.getParent()))
    kOfRead = std::max(kOfCore, threadsOfRow * operand.getKWidth());
  unsigned vec = contiguous == k ? kOfRead : rowsOfCore;
  unsigned numRows = contiguous == k ? rowsOfCore : kOfCore;
  unsigned size = getShapePerCTA(source)[contiguous];
  unsigned perPhase = std::max(1u, 1024 / (size * bits));
  unsigned maxPhase =
      std::max(1u, std::min(numRows / perPhase, std::max(1u, size / vec)));
  vec = std::min(vec, size);
  return SwizzledSharedEncodingAttr::get(context, vec, perPhase, maxPhase,
                                         order, ctaLayout);
}
