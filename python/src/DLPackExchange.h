//===-- DLPackExchange.h - Tensors read without Python --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What version 1 of DLPack's exchange interface lays down in C. A class of
// tensors has a table of functions in a capsule. One of them describes a tensor
// without owning it.
//===----------------------------------------------------------------------===//
#ifndef TILE_PYTHON_DLPACKEXCHANGE_H
#define TILE_PYTHON_DLPACKEXCHANGE_H

#include <Python.h>

#include <cstdint>
#include <optional>
#include <utility>

namespace tile::python::dlpack {

struct Tensor {
  void *data;
  int32_t deviceType, deviceIndex;
  int32_t rank;
  struct {
    uint8_t code, bits;
    uint16_t lanes;
  } type;
  int64_t *shape, *strides;
  uint64_t byteOffset;

  uint64_t getAddress() const {
    return reinterpret_cast<uintptr_t>(data) + byteOffset;
  }
  uint64_t getType() const {
    return uint64_t(type.code) << 32 | uint64_t(type.bits) << 16 | type.lanes;
  }
  bool isOnGPU() const { return deviceType == 2 || deviceType == 10; }
  /// The addresses from the first byte to behind the last; none where it does
  /// not say.
  std::optional<std::pair<uint64_t, uint64_t>> getExtent() const;
};

/// Fills in a view of a tensor; not 0, with an error of Python's, where it has
/// none.
using View = int (*)(void *tensor, Tensor *view);

struct Exchange {
  uint32_t major, minor;
  Exchange *older;
  void *allocate, *fromTensor, *toTensor;
  View view; ///< May be null.
  void *currentStream;
};

/// How to view instances of exactly this class; null where it does not say.
View findView(PyTypeObject *type);

} // namespace tile::python::dlpack

#endif // TILE_PYTHON_DLPACKEXCHANGE_H
