//===-- SharedEncodings.cpp - Choosing layouts of shared memory -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "tile/Dialect/TritonGPU/Transforms/SharedEncodings.h"

#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"

#include "llvm/ADT/STLExtras.h"
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

SwizzledSharedEncodingAttr
gpu::getRowPerLaneSharedEncoding(RankedTensorType source, Attribute read) {
  SmallVector<int64_t> shape = getShapePerCTA(source);
  if (!source.getElementType().isIntOrFloat() || shape.size() != 2 ||
      !llvm::all_of(shape, llvm::isPowerOf2_64))
    return {};
  // Reads of 16 bytes of 8 lanes are done at once, and fill all banks.
  constexpr unsigned lanesAtOnce = 8, bitsOfRead = 128, bitsOfBanks = 1024;
  SmallVector<unsigned> order = getOrder(source);
  unsigned bits = std::max(8u, source.getElementTypeBitWidth());
  unsigned vec = bitsOfRead / bits, size = shape[order.front()];
  if (vec < 2 || size < 2 * vec)
    return {};
  LinearLayout layout = toLinearLayout(cloneWithEncoding(source, read));
  auto goesAlong = [&](StringRef in, unsigned dim, int32_t to) {
    for (int32_t step = 1, i = 0; step < to; step *= 2, ++i) {
      SmallVector<int32_t> wanted{0, 0};
      wanted[dim] = step;
      if (static_cast<int32_t>(layout.getInDimSizeLog2(in)) <= i ||
          !llvm::equal(layout.getBasis(in, i), wanted))
        return false;
    }
    return true;
  };
  if (!goesAlong(kRegister, order.front(), vec) ||
      !goesAlong(kLane, order.back(), lanesAtOnce))
    return {};
  unsigned perPhase = std::max(1u, bitsOfBanks / (size * bits));
  unsigned maxPhase = std::min(lanesAtOnce / perPhase, size / vec);
  return SwizzledSharedEncodingAttr::get(source.getContext(), vec, perPhase,
                                         maxPhase, order,
                                         getCTALayout(source.getEncoding()));
}
