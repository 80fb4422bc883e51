//===-- Descriptors.h - Tensors that descriptors refer to -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_TEST_LIB_REFERENCE_DESCRIPTORS_H
#define TILE_TEST_LIB_REFERENCE_DESCRIPTORS_H

#include "GlobalAccesses.h"

namespace mlir::triton::reference {

/// A value of type `!tt.tensordesc`.
struct Descriptor : Object {
  uint64_t base = 0;
  /// In elements, outermost dimension first.
  SmallVector<int64_t, 5> shape, strides;
  bool padsWithNan = false;
};

/// The elements of the block at `indices` in the shape of `block`, of which
/// those outside of the tensor are not accessed. Nothing if that is a fault.
std::optional<Places> getBlock(Thread &thread, Operation *op, Value descriptor,
                               ValueRange indices);
/// The same of rows that are listed.
std::optional<Places> getRows(Thread &thread, Operation *op, Value descriptor,
                              Value rows, Value column);
/// What a block of a descriptor is combined with memory by.
RMWOp getAtomicOp(DescriptorReduceKind kind, TensorDescType type);
void reducePlaces(DeviceMemory &memory, const Places &places,
                  const Tensor &values, RMWOp kind, Type element);

} // namespace mlir::triton::reference

#endif // TILE_TEST_LIB_REFERENCE_DESCRIPTORS_H
