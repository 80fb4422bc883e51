//===-- LinearLayoutConversionsShared.cpp - Shared memory as layouts ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "LinearLayoutConversionsDetail.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;
using namespace mlir::triton::gpu::layouts;

/// Offsets over a block's part of the tensor: the dims in `order`, with
/// `swizzle(row)` xored to the column (the fastest dim), where `row` is the
/// index in the next dim. Xor keeps columns in range only if they are a power
/// of two, which all shapes are; a swizzle wider than the row wraps.
static LinearLayout swizzledRows(ArrayRef<int64_t> shape,
                                 ArrayRef<unsigned> order,
                                 function_ref<int64_t(int64_t row)> swizzle) {
  unsigned rank = shape.size();
  OutBases offsets;
  for (auto [n, dim] : llvm::enumerate(order)) {
    for (int64_t bit = 1; bit < shape[dim]; bit *= 2) {
      std::vector<int32_t> basis(rank, 0);
      basis[dim] = bit;
      if (n == 1)
        basis[order[0]] = swizzle(bit) & (shape[order[0]] - 1);
      offsets.push_back(std::move(basis));
    }
  }
  SmallVector<LinearLayout::NamedSize> outDims;
  for (auto [i, size] : llvm::enumerate(shape))
    outDims.push_back({kDim(i), int32_t(size)});
  return LinearLayout({{kOffset, offsets}}, outDims);
}

static FailureOr<LinearLayout>
swizzledToLinear(ArrayRef<int64_t> shape, SwizzledSharedEncodingAttr encoding) {
  LinearLayout blocks = encoding.getCTALayout().getLinearLayout();
  LinearLayout tile = swizzledRows(
      shapePerBlock(shape, blocks), encoding.getOrder(), [&](int64_t row) {
        return encoding.getVec() *
               (row / encoding.getPerPhase() % encoding.getMaxPhase());
      });
  return combineWithBlocks(tile, shape, blocks, kOffset, encoding.getOrder());
}

static FailureOr<LinearLayout>
rotatingToLinear(ArrayRef<int64_t> shape,
                 AMDRotatingSharedEncodingAttr encoding) {
  LinearLayout blocks = encoding.getCTALayout().getLinearLayout();
  unsigned maxPhase = encoding.getMaxPhase();
  LinearLayout tile = swizzledRows(
      shapePerBlock(shape, blocks), encoding.getOrder(), [&](int64_t row) {
        int64_t group = row / encoding.getPerPhase();
        int64_t phase = (group % maxPhase) ^ (group / maxPhase % maxPhase);
        return encoding.getVec() * phase;
      });
  return combineWithBlocks(tile, shape, blocks, kOffset, encoding.getOrder());
}

/// One panel is `swizzlingByteWidth` bytes wide and holds all rows; the rows of
/// a tensor of higher rank are those of all its outer dims. Panels follow one
/// another. Without a swizzle panels are 16 bytes wide: eight rows of one are
/// the core matrix that wgmma reads, 128 bytes in a row. A tensor with fewer
/// rows, or of higher rank, has no such matrix, and is one panel: TMA copies
/// whole rows.
static FailureOr<LinearLayout> nvmmaToLinear(ArrayRef<int64_t> shape,
                                             NVMMASharedEncodingAttr encoding,
                                             bool disableSwizzle,
                                             EmitError emitError) {
  unsigned rank = shape.size();
  LinearLayout blocks = encoding.getCTALayout().getLinearLayout();
  SmallVector<int64_t> blockShape = shapePerBlock(shape, blocks);
  SmallVector<unsigned> order = rowMajorOrder(rank);
  if (encoding.getTransposed()) {
    if (rank < 2)
      return fail(emitError, "a transposed layout has at least two dimensions");
    std::swap(order[0], order[1]);
  }
  unsigned columnDim = order[0];
  int64_t columns = blockShape[columnDim];
  unsigned width = encoding.getSwizzlingByteWidth();
  // Four-bit elements come two in a byte, as 8-bit ones; with padding, every 8
  // bytes of them are followed by 8 bytes that nobody uses.
  unsigned bits =
      encoding.getElementBitWidth() * (encoding.getFp4Padded() ? 2 : 1);
  constexpr int64_t kCoreRows = 8;
  int64_t rows = llvm::product_of(blockShape) / columns;
  int64_t chunk = 128 / bits;
  bool hasCores = rank <= 2 && rows >= kCoreRows;
  int64_t panel = hasCores ? std::min(columns, chunk) : columns;
  if (width) {
    panel = int64_t(width) * 8 / bits;
    if (rank >= 2 && columns < panel)
      return fail(emitError, "a swizzle of " + Twine(width) +
                                 " bytes needs rows of at least " +
                                 Twine(panel) + " elements, but they have " +
                                 Twine(columns));
    panel = std::min(panel, columns);
  }

  OutBases offsets;
  auto append = [&](unsigned dim, int64_t from, int64_t to,
                    function_ref<int64_t(int64_t)> swizzle = nullptr) {
    for (int64_t bit = from; bit < to; bit *= 2) {
      std::vector<int32_t> basis(rank, 0);
      basis[dim] = bit;
      if (swizzle)
        basis[columnDim] = swizzle(bit);
      offsets.push_back(std::move(basis));
    }
  };
  append(columnDim, 1, std::min(panel, chunk));
  if (encoding.getFp4Padded())
    offsets.push_back(std::vector<int32_t>(rank, 0));
  append(columnDim, chunk, panel);
  int64_t rowsBefore = 1;
  for (unsigned dim : ArrayRef(order).drop_front()) {
    append(dim, 1, blockShape[dim], [&](int64_t bit) -> int64_t {
      if (disableSwizzle || !width)
        return 0;
      int64_t row = bit * rowsBefore;
      int64_t phase = row / encoding.getPerPhase() % encoding.getMaxPhase();
      return phase * chunk & (panel - 1);
    });
    rowsBefore *= blockShape[dim];
  }
  append(columnDim, panel, columns);

  SmallVector<LinearLayout::NamedSize> outDims;
  for (auto [i, size] : llvm::enumerate(blockShape))
    outDims.push_back({kDim(i), int32_t(size)});
  LinearLayout tile({{kOffset, offsets}}, outDims);
  return combineWithBlocks(tile, shape, blocks, kOffset, order);
}

FailureOr<LinearLayout> layouts::sharedToLinear(ArrayRef<int64_t> shape,
                                                Attribute encoding,
                                                EmitError emitError) {
  return llvm::TypeSwitch<Attribute, FailureOr<LinearLayout>>(encoding)
      .Case([&](SwizzledSharedEncodingAttr a) {
        return swizzledToLinear(shape, a);
      })
      .Case([&](AMDRotatingSharedEncodingAttr a) {
        return rotatingToLinear(shape, a);
      })
      .Case([&](NVMMASharedEncodingAttr a) {
        return nvmmaToLinear(shape, a, /*disableSwizzle=*/false, emitError);
      })
      .Case([&](PaddedSharedEncodingAttr a) {
        // Padding is not linear: whoever addresses the buffer adds it.
        return fitToShape(a.getLinearComponent(), shape, kOffset,
                          rowMajorOrder(shape.size()));
      })
      .Case([&](SharedLinearEncodingAttr a) {
        return fitToShape(a.getLinearLayout(), shape, kOffset,
                          rowMajorOrder(shape.size()));
      })
      .Default([&](Attribute) {
        return fail(emitError,
                    "this shared-memory encoding has no linear layout");
      });
}

LinearLayout gpu::nvmmaSharedToUnswizzledLayout(ArrayRef<int64_t> shape,
                                                Attribute encoding) {
  FailureOr<LinearLayout> layout =
      nvmmaToLinear(shape, cast<NVMMASharedEncodingAttr>(encoding),
                    /*disableSwizzle=*/true, /*emitError=*/nullptr);
  assert(succeeded(layout) && "the type was verified");
  LinearLayout result = *layout;
  if (!result.hasInDim(kBlock))
    result = result.unsqueezeIn(kBlock);
  return result.transposeIns({kOffset, kBlock});
}
