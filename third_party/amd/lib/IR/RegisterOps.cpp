//===-- RegisterOps.cpp - Elements inside a thread ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "amd/IR/Dialect.h"

#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"

#include <map>

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::amdgpu;

std::optional<SmallVector<int32_t>>
amdgpu::getSliceRegisters(RankedTensorType type, RankedTensorType slice,
                          ArrayRef<int64_t> offsets) {
  LinearLayout whole = toLinearLayout(type), part = toLinearLayout(slice);
  // Which lane, warp and block has an element must be the same.
  for (StringRef dim : {kLane, kWarp, kBlock}) {
    unsigned bits = whole.getInDimSizeLog2(dim);
    if (bits != part.getInDimSizeLog2(dim))
      return std::nullopt;
    for (unsigned i = 0; i < bits; ++i)
      if (whole.getBasis(dim, i) != part.getBasis(dim, i))
        return std::nullopt;
  }
  auto getPlace = [](const LinearLayout &layout, int32_t reg) {
    SmallVector<int64_t> place;
    for (const LinearLayout::NamedSize &at :
         layout.apply({{kRegister, reg}, {kLane, 0}, {kWarp, 0}, {kBlock, 0}}))
      place.push_back(at.second);
    return place;
  };
  std::map<SmallVector<int64_t>, int32_t> registers;
  for (int32_t r = 0, e = whole.getInDimSize(kRegister); r < e; ++r)
    registers.try_emplace(getPlace(whole, r), r);
  SmallVector<int32_t> result;
  for (int32_t r = 0, e = part.getInDimSize(kRegister); r < e; ++r) {
    SmallVector<int64_t> place = getPlace(part, r);
    for (auto [at, offset] : llvm::zip(place, offsets))
      at += offset;
    auto found = registers.find(place);
    if (found == registers.end())
      return std::nullopt;
    result.push_back(found->second);
  }
  return result;
}

/// Whether a block of type `slice` is at `offsets` in a tensor of `type`, in
/// every thread.
static LogicalResult verifySlice(Operation *op, RankedTensorType type,
                                 RankedTensorType slice,
                                 ArrayRef<int64_t> offsets) {
  if (type.getElementType() != slice.getElementType() ||
      type.getRank() != slice.getRank())
    return op->emitOpError("expected tensors of one rank and element type, "
                           "found ")
           << type << " and " << slice;
  if (static_cast<int64_t>(offsets.size()) != type.getRank())
    return op->emitOpError("expected ")
           << type.getRank() << " offsets, found " << offsets.size();
  for (auto [offset, part, whole] :
       llvm::zip(offsets, slice.getShape(), type.getShape()))
    if (offset < 0 || offset % part != 0 || offset + part > whole)
      return op->emitOpError("expected a multiple of ")
             << part << " below " << whole << " as offset, found " << offset;
  if (!type.getEncoding() || !slice.getEncoding())
    return op->emitOpError("expected tensors with layouts");
  if (!getSliceRegisters(type, slice, offsets))
    return op->emitOpError("expected every thread to have its elements of ")
           << slice << " among those of " << type;
  return success();
}

LogicalResult InThreadTransposeOp::verify() {
  RankedTensorType from = getSrc().getType(), to = getType();
  if (from.getShape() != to.getShape())
    return emitOpError("expected one shape, found ") << from << " and " << to;
  return verifySlice(*this, from, to, SmallVector<int64_t>(from.getRank(), 0));
}

LogicalResult ExtractSliceOp::verify() {
  return verifySlice(*this, getSource().getType(), getType(),
                     getStaticOffsets());
}

/// Where the `number`th block of shape `part` starts, in row-major order.
static SmallVector<int64_t> getBlockOffsets(ArrayRef<int64_t> whole,
                                            ArrayRef<int64_t> part,
                                            int64_t number) {
  SmallVector<int64_t> offsets(whole.size());
  for (int64_t dim = whole.size() - 1; dim >= 0; --dim) {
    int64_t count = whole[dim] / part[dim];
    offsets[dim] = number % count * part[dim];
    number /= count;
  }
  return offsets;
}

SmallVector<int64_t> ConcatOp::getOffsets(unsigned number) {
  return getBlockOffsets(
      getType().getShape(),
      cast<RankedTensorType>(getSources()[number].getType()).getShape(),
      number);
}

LogicalResult ConcatOp::verify() {
  if (getSources().empty())
    return emitOpError("expected sources");
  auto part = cast<RankedTensorType>(getSources().front().getType());
  RankedTensorType whole = getType();
  if (!llvm::all_equal(getSources().getTypes()))
    return emitOpError("expected sources of one type, found ")
           << getSources().getTypes();
  int64_t parts = part.getNumElements() * getSources().size();
  bool fits = part.getRank() == whole.getRank() &&
              parts == whole.getNumElements() &&
              llvm::all_of(llvm::zip(part.getShape(), whole.getShape()),
                           [](auto sizes) {
                             auto [size, of] = sizes;
                             return size <= of;
                           });
  if (!fits)
    return emitOpError("expected sources that fill ")
           << whole << ", found " << getSources().size() << " of " << part;
  for (unsigned i = 0, e = getSources().size(); i < e; ++i)
    if (failed(verifySlice(*this, whole, part, getOffsets(i))))
      return failure();
  return success();
}
