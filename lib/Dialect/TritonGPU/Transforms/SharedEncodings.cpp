//===-- SharedEncodings.cpp - Choosing layouts of shared memory -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "tile/Dialect/TritonGPU/Transforms/SharedEncodings.h"

#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"
#include "tile/Layout/SharedMemory.h"

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

/// How many times the banks are accessed when a warp reads all that it has of a
/// tensor.
static unsigned countAccesses(RankedTensorType read, Attribute encoding,
                              BankGeometry banks) {
  auto memory =
      MemDescType::get(read.getShape(), read.getElementType(), encoding,
                       SharedMemorySpaceAttr::get(read.getContext()));
  LinearLayout layout = toLinearLayout(read);
  layout = removeBroadcastedRegisters(layout).apply(layout);
  LinearLayout offsets = getOffsetLayout(layout, toLinearLayout(memory));
  unsigned bits = std::max(8u, read.getElementTypeBitWidth());
  unsigned vecLog2 = getVectorAccess(offsets, bits).vecLog2;
  unsigned each = countWavefronts(offsets, bits, vecLog2, banks);
  return each << (offsets.getInDimSizeLog2(kRegister) - vecLog2);
}

SwizzledSharedEncodingAttr gpu::getRowsSharedEncoding(RankedTensorType source,
                                                      ArrayRef<Attribute> reads,
                                                      BankGeometry banks) {
  SmallVector<unsigned> order = getOrder(source);
  CTALayoutAttr ctaLayout = getCTALayout(source.getEncoding());
  auto plain = SwizzledSharedEncodingAttr::get(source.getContext(), 1, 1, 1,
                                               order, ctaLayout);
  ArrayRef<int64_t> shape = source.getShape();
  if (!source.getElementType().isIntOrFloat() || shape.size() != 2 ||
      llvm::product_of(ctaLayout.getCTAsPerCGA()) > 1)
    return plain;
  // Pieces of 16 bytes, the widest accesses, change places.
  constexpr unsigned bitsOfPiece = 128;
  unsigned bits = std::max(8u, source.getElementTypeBitWidth());
  unsigned vec = bitsOfPiece / bits, size = shape[order.front()];
  if (size < 2 * vec)
    return plain;
  unsigned bitsOfBanks = 8 * banks.numBanks * banks.bankBytes;
  unsigned perPhase = std::max(1u, bitsOfBanks / (size * bits));
  unsigned maxPhase =
      std::max(1u, std::min(bitsOfBanks / bitsOfPiece / perPhase, size / vec));
  auto swizzled = SwizzledSharedEncodingAttr::get(
      source.getContext(), vec, perPhase, maxPhase, order, ctaLayout);
  auto count = [&](Attribute encoding) {
    unsigned sum = 0;
    for (Attribute read : reads)
      sum += countAccesses(cloneWithEncoding(source, read), encoding, banks);
    return sum;
  };
  return count(swizzled) < count(plain) ? swizzled : plain;
}
