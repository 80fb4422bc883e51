//===-- Tensor.h - What values are during an execution ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reference executor knows no layouts: a tensor is an array of elements in
// row-major order. An element is 64 bits, of which those that its type does not
// have are zero. It may be undefined: nothing may depend on it.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TEST_LIB_REFERENCE_TENSOR_H
#define TILE_TEST_LIB_REFERENCE_TENSOR_H

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace mlir::triton::reference {

struct Tensor {
  /// Of a scalar: empty.
  SmallVector<int64_t, 4> shape;
  std::vector<uint64_t> bits;
  /// Which elements are undefined; empty if none is.
  std::vector<uint8_t> undefined;

  Tensor() = default;
  explicit Tensor(ArrayRef<int64_t> shape)
      : shape(shape), bits(ShapedType::getNumElements(shape)) {}
  static Tensor scalar(uint64_t bits) {
    Tensor result{ArrayRef<int64_t>()};
    result.bits[0] = bits;
    return result;
  }
  static Tensor allUndefined(ArrayRef<int64_t> shape) {
    Tensor result(shape);
    result.undefined.assign(result.bits.size(), 1);
    return result;
  }

  size_t size() const { return bits.size(); }
  bool isUndefined(size_t i) const {
    return !undefined.empty() && undefined[i];
  }
  void setUndefined(size_t i) {
    if (undefined.empty())
      undefined.resize(bits.size());
    undefined[i] = 1;
  }
};

/// What is no tensor: a view of shared memory, a descriptor, a dot that is
/// still computed.
struct Object {
  virtual ~Object() = default;
};

struct Val {
  std::shared_ptr<const Tensor> tensor;
  std::shared_ptr<Object> object;
};

/// Calls `visit` with each position in a shape, in row-major order.
template <typename F> void forEachPosition(ArrayRef<int64_t> shape, F visit) {
  SmallVector<int64_t, 4> at(shape.size());
  int64_t count = ShapedType::getNumElements(shape);
  for (int64_t n = 0; n < count; ++n) {
    visit(n, ArrayRef<int64_t>(at));
    for (size_t d = shape.size(); d-- > 0;) {
      if (++at[d] < shape[d])
        break;
      at[d] = 0;
    }
  }
}

/// Calls `visit(n, place)` with the number of each position in row-major order,
/// and its place as strides say: faster than `forEachPosition`.
template <typename F>
void forEachPlace(ArrayRef<int64_t> shape, ArrayRef<int64_t> strides,
                  int64_t start, F visit) {
  if (shape.empty())
    return visit(0, start);
  int64_t columns = shape.back(), step = strides.back();
  forEachPosition(shape.drop_back(), [&](int64_t row, ArrayRef<int64_t> at) {
    int64_t place = start;
    for (auto [i, stride] : llvm::zip(at, strides))
      place += i * stride;
    for (int64_t i = 0; i < columns; ++i, place += step)
      visit(row * columns + i, place);
  });
}

inline SmallVector<int64_t, 4> getRowMajorStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t, 4> strides(shape.size());
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= shape[d];
  }
  return strides;
}

inline uint64_t maskOf(unsigned width) {
  return width >= 64 ? ~uint64_t(0) : (uint64_t(1) << width) - 1;
}
inline int64_t signExtend(uint64_t bits, unsigned width) {
  return width >= 64 ? int64_t(bits)
                     : int64_t(bits << (64 - width)) >> (64 - width);
}

} // namespace mlir::triton::reference

#endif // TILE_TEST_LIB_REFERENCE_TENSOR_H
