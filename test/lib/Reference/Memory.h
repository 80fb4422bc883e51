//===-- Memory.h - Global and shared memory ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_TEST_LIB_REFERENCE_MEMORY_H
#define TILE_TEST_LIB_REFERENCE_MEMORY_H

#include "Tensor.h"

namespace mlir::triton::reference {

/// What is known of a byte.
enum Shadow : uint8_t {
  Defined,
  Undefined,
  /// An asynchronous copy will write it, at any time.
  InFlight
};

/// Bytes, and what is known of each.
struct Bytes {
  std::vector<uint8_t> data, shadow;

  Bytes() = default;
  Bytes(size_t size, Shadow state) : data(size), shadow(size, state) {}

  /// An element of so many bytes; says whether all of them are defined.
  uint64_t read(size_t at, unsigned size, bool &isDefined) const;
  void write(size_t at, unsigned size, uint64_t bits, bool isDefined);
};

/// The memory of the arguments, at the addresses of the caller.
class DeviceMemory {
public:
  struct Region {
    uint64_t address;
    Bytes bytes;
  };
  std::vector<Region> regions; // By address.

  void add(uint64_t address, ArrayRef<uint8_t> data);
  /// New memory at an address of its own, not before `alignment` allows.
  uint64_t allocate(size_t size, uint64_t alignment);
  /// The region with all bytes of an access; null if there is none.
  Region *find(uint64_t address, unsigned size);

private:
  uint64_t next = 0x700000000000;
};

/// A buffer in shared memory.
struct Buffer {
  Bytes bytes;
  bool isFreed = false;
};

/// Elements of a buffer: a value of type `!ttg.memdesc`.
struct View : Object {
  std::shared_ptr<Buffer> buffer;
  int64_t offset = 0; // In elements, as are the strides.
  /// Where strides cannot say which elements these are: all of them, which
  /// offset and strides count.
  std::shared_ptr<const std::vector<int64_t>> elements;
  SmallVector<int64_t, 4> shape, strides;
  int64_t elementBytes = 0;
  unsigned elementBits = 0;
  /// It begins at an index that its source does not have.
  bool isOutside = false;

  /// Another shape of the same elements in row-major order.
  std::shared_ptr<View> reshape(ArrayRef<int64_t> newShape) const;
  bool isInBounds() const;
  /// Whether the elements lie one behind the other.
  bool isContiguous() const;
  Tensor read() const;
  void write(const Tensor &tensor) const;
  /// Something will write there.
  void mark(Shadow state) const;
  template <typename F> void forEachByteOffset(F visit) const {
    forEachPlace(shape, strides, offset, [&](int64_t n, int64_t element) {
      visit(n, (elements ? (*elements)[element] : element) * elementBytes);
    });
  }
};

unsigned getElementBits(Type type);
inline unsigned getElementBytes(Type type) {
  return (getElementBits(type) + 7) / 8;
}

} // namespace mlir::triton::reference

#endif // TILE_TEST_LIB_REFERENCE_MEMORY_H
