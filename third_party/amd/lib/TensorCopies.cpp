//===-- TensorCopies.cpp - What the tensor data mover can do --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "amd/TensorCopies.h"

#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

/// Gaps come after 2, 4, ..., 256 words, and are of 1 to 128 words.
constexpr unsigned kWordBytes = 4, kLeastInterval = 8, kMostGap = 512;

static SmallVector<unsigned> getRowMajorOrder(unsigned rank) {
  return llvm::to_vector(llvm::reverse(llvm::seq<unsigned>(rank)));
}

bool amd::mayCopyBlocks(RankedTensorType block) {
  constexpr int64_t kMostDims = 5, kMostSize = 65535;
  unsigned bits = block.getElementTypeBitWidth();
  return block.getRank() >= 1 && block.getRank() <= kMostDims && bits >= 8 &&
         bits <= 64 && llvm::isPowerOf2_32(bits) &&
         llvm::all_of(block.getShape(),
                      [](int64_t size) { return size <= kMostSize; });
}

/// Whether the machine leaves such gaps between elements of `bytes` bytes.
static bool mayHaveGaps(amd::TensorBuffer buffer, unsigned bytes) {
  unsigned interval = buffer.interval * bytes, gap = buffer.gap * bytes;
  return llvm::isPowerOf2_32(interval) && interval >= kLeastInterval &&
         interval <= amd::kMostInterval && gap % kWordBytes == 0 &&
         gap <= kMostGap;
}

std::optional<amd::TensorBuffer> amd::getTensorBuffer(gpu::MemDescType memory) {
  unsigned rank = memory.getRank(), bits = memory.getElementTypeBitWidth();
  LinearLayout layout = toLinearLayout(memory);
  LinearLayout rows = LinearLayout::identityND(kOffset, memory.getShape(),
                                               getRowMajorOrder(rank),
                                               standardOutDimNames(rank));
  if (bits < 8 || layout.getOutDims() != rows.getOutDims())
    return std::nullopt;
  for (unsigned i = 0, e = rows.getInDimSizeLog2(kOffset); i < e; ++i)
    if (i >= layout.getInDimSizeLog2(kOffset) ||
        layout.getBasis(kOffset, i) != rows.getBasis(kOffset, i))
      return std::nullopt;
  TensorBuffer buffer;
  if (auto padded = dyn_cast<PaddedSharedEncodingAttr>(memory.getEncoding())) {
    if (padded.getIntervals().size() != 1)
      return std::nullopt;
    buffer.interval = padded.getIntervals().front();
    buffer.gap = padded.getPaddings().front();
    if (!mayHaveGaps(buffer, bits / 8))
      return std::nullopt;
  }
  return buffer;
}

Attribute amd::getTensorBufferEncoding(RankedTensorType block,
                                       TensorBuffer gaps) {
  MLIRContext *context = block.getContext();
  unsigned rank = block.getRank(), bytes = block.getElementTypeBitWidth() / 8;
  SmallVector<unsigned> order = getRowMajorOrder(rank);
  if (gaps.gap && mayHaveGaps(gaps, bytes) &&
      block.getNumElements() > gaps.interval)
    return PaddedSharedEncodingAttr::get(context, {{gaps.interval, gaps.gap}},
                                         order, block.getShape());
  return SwizzledSharedEncodingAttr::get(
      context, /*vec=*/1, /*perPhase=*/1, /*maxPhase=*/1, order,
      CTALayoutAttr::getDefault(context, rank));
}
