//===-- PackedScales.cpp - Scales that are loaded as they are copied ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Dialect/TritonNvidiaGPU/Transforms/PackedScales.h"

#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

/// The number of an element in row-major order.
static int64_t flatten(ArrayRef<int64_t> coords, ArrayRef<int64_t> shape) {
  int64_t flat = 0;
  for (auto [coord, size] : llvm::zip(coords, shape))
    flat = flat * size + coord;
  return flat;
}

/// The number of an element of a transposed tensor, from its number before.
static int64_t transpose(int64_t flat, TransOp op) {
  ArrayRef<int64_t> shape = op.getSrc().getType().getShape();
  SmallVector<int64_t> coords(shape.size());
  for (auto [coord, size] : llvm::reverse(llvm::zip(coords, shape))) {
    coord = flat % size;
    flat /= size;
  }
  SmallVector<int64_t> turned;
  for (int32_t dim : op.getOrder())
    turned.push_back(coords[dim]);
  return flatten(turned, op.getType().getShape());
}

/// Whether each tile of 512 bytes has four scales of 128 rows: the scales of a
/// row follow one another, then rows that are 32 apart. `flats` are the numbers
/// of the scales that lie at 1, 2, 4, ... of the buffer; a row has `numScales`.
/// Tiles may follow one another in any order.
static bool isPacked(ArrayRef<int64_t> flats, int64_t numScales) {
  constexpr int64_t kTile[][2] = {{0, 1}, {0, 2}, {32, 0}, {64, 0}, {1, 0},
                                  {2, 0}, {4, 0}, {8, 0},  {16, 0}};
  constexpr int64_t kTileRows = 128, kTileScales = 4;
  if (flats.size() < std::size(kTile))
    return false;
  for (auto [bit, flat] : llvm::enumerate(flats)) {
    int64_t row = flat / numScales, scale = flat % numScales;
    bool fits = bit < std::size(kTile)
                    ? row == kTile[bit][0] && scale == kTile[bit][1]
                    : row % kTileRows == 0 && scale % kTileScales == 0;
    if (!fits)
      return false;
  }
  return true;
}

gpu::MemDescType PackedScales::getBufferType() const {
  RankedTensorType type = loaded.getType();
  return gpu::MemDescType::get(
      type.getShape(), type.getElementType(), encoding,
      gpu::SharedMemorySpaceAttr::get(type.getContext()),
      /*mutableMemory=*/false);
}

Value PackedScales::makeViews(OpBuilder &builder, Value buffer) const {
  for (Operation *view : views) {
    Location loc = view->getLoc();
    if (auto trans = dyn_cast<TransOp>(view)) {
      buffer =
          gpu::MemDescTransOp::create(builder, loc, buffer, trans.getOrder());
      continue;
    }
    auto shape = cast<RankedTensorType>(view->getResult(0).getType());
    FailureOr<gpu::MemDescType> type = gpu::MemDescReshapeOp::inferResultType(
        cast<gpu::MemDescType>(buffer.getType()), shape.getShape(), loc);
    assert(succeeded(type) && "whole buffers have views of any shape");
    buffer = gpu::MemDescReshapeOp::create(builder, loc, *type, buffer);
  }
  return buffer;
}

std::optional<PackedScales> nvidia_gpu::findPackedScales(Value scales) {
  auto type = dyn_cast<RankedTensorType>(scales.getType());
  if (!type || type.getRank() != 2 || !type.getElementType().isIntOrFloat() ||
      type.getElementTypeBitWidth() != 8)
    return std::nullopt;
  PackedScales packed;
  Value value = scales;
  while (Operation *def = value.getDefiningOp()) {
    if (auto reshape = dyn_cast<ReshapeOp>(def)) {
      if (reshape.getAllowReorder())
        return std::nullopt;
    } else if (!isa<TransOp, gpu::ConvertLayoutOp>(def)) {
      break;
    }
    if (!isa<gpu::ConvertLayoutOp>(def))
      packed.views.push_back(def);
    value = def->getOperand(0);
  }
  Operation *load = value.getDefiningOp();
  if (!isa_and_nonnull<DescriptorLoadOp, LoadOp>(load))
    return std::nullopt;
  std::reverse(packed.views.begin(), packed.views.end());
  packed.loaded = cast<TypedValue<RankedTensorType>>(value);
  type = packed.loaded.getType();
  // Where layouts are chosen already, blocks of a cluster may divide it.
  auto layout = dyn_cast_or_null<gpu::LayoutEncodingTrait>(type.getEncoding());
  if (layout && !layout.getCTALayout().isDefault())
    return std::nullopt;
  packed.encoding = gpu::NVMMASharedEncodingAttr::get(
      type.getContext(), /*swizzlingByteWidth=*/0, /*transposed=*/false,
      /*elementBitWidth=*/8, /*fp4Padded=*/false,
      gpu::CTALayoutAttr::getDefault(type.getContext(), type.getRank()));
  FailureOr<LinearLayout> offsets =
      gpu::tryToLinearLayout(type.getShape(), packed.encoding);
  if (failed(offsets))
    return std::nullopt;
  // Both are linear: what holds for each bit of an offset holds for all.
  SmallVector<int64_t> flats;
  for (unsigned bit = 0, e = offsets->getInDimSizeLog2(kOffset); bit < e;
       ++bit) {
    SmallVector<int64_t> coords;
    for (unsigned dim = 0; dim < type.getRank(); ++dim)
      coords.push_back(offsets->getBasis(kOffset, bit, kDim(dim)));
    int64_t flat = flatten(coords, type.getShape());
    for (Operation *view : packed.views)
      if (auto trans = dyn_cast<TransOp>(view))
        flat = transpose(flat, trans);
    flats.push_back(flat);
  }
  auto rows = cast<RankedTensorType>(scales.getType());
  if (!isPacked(flats, rows.getShape().back()))
    return std::nullopt;
  return packed;
}
