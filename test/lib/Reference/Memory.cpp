//===-- Memory.cpp - Global and shared memory -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Memory.h"

#include "tile/Dialect/Triton/IR/Dialect.h"

#include "llvm/Support/MathExtras.h"

#include <cstring>

using namespace mlir;
using namespace mlir::triton::reference;

unsigned mlir::triton::reference::getElementBits(Type type) {
  Type element = getElementTypeOrSelf(type);
  if (isa<PointerType, IndexType>(element))
    return 64;
  return element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 64;
}

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

uint64_t Bytes::read(size_t at, unsigned size, bool &isDefined) const {
  uint64_t bits = 0;
  std::memcpy(&bits, &data[at], size);
  for (unsigned i = 0; i < size; ++i)
    isDefined &= shadow[at + i] == Defined;
  return bits;
}

void Bytes::write(size_t at, unsigned size, uint64_t bits, bool isDefined) {
  std::memcpy(&data[at], &bits, size);
  std::memset(&shadow[at], isDefined ? Defined : Undefined, size);
}

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

void DeviceMemory::add(uint64_t address, ArrayRef<uint8_t> data) {
  Region region{address, Bytes(data.size(), Defined)};
  region.bytes.data.assign(data.begin(), data.end());
  regions.insert(llvm::upper_bound(
                     regions, address,
                     [](uint64_t a, const Region &r) { return a < r.address; }),
                 std::move(region));
}

uint64_t DeviceMemory::allocate(size_t size, uint64_t alignment) {
  next = llvm::alignTo(next, std::max<uint64_t>(alignment, 1));
  uint64_t address = next;
  // What follows is nobody's.
  next += size + 256;
  Region region{address, Bytes(size, Undefined)};
  regions.insert(llvm::upper_bound(
                     regions, address,
                     [](uint64_t a, const Region &r) { return a < r.address; }),
                 std::move(region));
  return address;
}

DeviceMemory::Region *DeviceMemory::find(uint64_t address, unsigned size) {
  auto after =
      llvm::upper_bound(regions, address, [](uint64_t a, const Region &r) {
        return a < r.address;
      });
  if (after == regions.begin())
    return nullptr;
  Region &region = *std::prev(after);
  return address + size <= region.address + region.bytes.data.size() ? &region
                                                                     : nullptr;
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

std::shared_ptr<View> View::reshape(ArrayRef<int64_t> newShape) const {
  // Dimensions that lie together become one, then each is split.
  SmallVector<std::pair<int64_t, int64_t>, 4> parts; // Size, stride.
  for (auto [size, stride] : llvm::zip(shape, strides)) {
    if (size == 1)
      continue;
    if (!parts.empty() && parts.back().second == stride * size)
      parts.back() = {parts.back().first * size, stride};
    else
      parts.push_back({size, stride});
  }
  auto result = std::make_shared<View>(*this);
  result->shape.assign(newShape.begin(), newShape.end());
  result->strides.assign(newShape.size(), 0);
  for (size_t d = newShape.size(); d-- > 0;) {
    if (newShape[d] == 1)
      continue;
    while (!parts.empty() && parts.back().first == 1)
      parts.pop_back();
    if (parts.empty() || parts.back().first % newShape[d]) {
      std::vector<int64_t> all;
      forEachByteOffset(
          [&](int64_t, int64_t at) { all.push_back(at / elementBytes); });
      result->offset = 0;
      result->strides = getRowMajorStrides(newShape);
      result->elements =
          std::make_shared<const std::vector<int64_t>>(std::move(all));
      return result;
    }
    auto &[size, stride] = parts.back();
    result->strides[d] = stride;
    size /= newShape[d];
    stride *= newShape[d];
  }
  return result;
}

bool View::isContiguous() const {
  return !elements && ArrayRef<int64_t>(strides) ==
                          ArrayRef<int64_t>(getRowMajorStrides(shape));
}

bool View::isInBounds() const {
  if (isOutside)
    return false;
  if (elements) // They were when this was made.
    return !buffer->isFreed;
  int64_t last = offset;
  for (auto [size, stride] : llvm::zip(shape, strides))
    last += (size - 1) * stride;
  return !buffer->isFreed && offset >= 0 &&
         (last + 1) * elementBytes <= int64_t(buffer->bytes.data.size());
}

Tensor View::read() const {
  Tensor result(shape);
  uint64_t mask = maskOf(elementBits);
  forEachByteOffset([&](int64_t n, int64_t at) {
    bool isDefined = true;
    result.bits[n] = buffer->bytes.read(at, elementBytes, isDefined) & mask;
    if (!isDefined)
      result.setUndefined(n);
  });
  return result;
}

void View::write(const Tensor &tensor) const {
  forEachByteOffset([&](int64_t n, int64_t at) {
    buffer->bytes.write(at, elementBytes, tensor.bits[n],
                        !tensor.isUndefined(n));
  });
}

void View::mark(Shadow state) const {
  forEachByteOffset([&](int64_t, int64_t at) {
    std::memset(&buffer->bytes.shadow[at], state, elementBytes);
  });
}
