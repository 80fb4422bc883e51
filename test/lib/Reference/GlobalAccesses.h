//===-- GlobalAccesses.h - Elements of global memory ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_TEST_LIB_REFERENCE_GLOBALACCESSES_H
#define TILE_TEST_LIB_REFERENCE_GLOBALACCESSES_H

#include "Machine.h"

#include "tile/Dialect/Triton/IR/Dialect.h"

namespace mlir::triton::reference {

/// Where the elements of an access are, and which of them it is about.
struct Places {
  SmallVector<int64_t, 4> shape;
  std::vector<uint64_t> addresses;
  /// Of each element: whether it is accessed.
  std::vector<uint8_t> enabled;
  /// What the others read as.
  Tensor other;
  unsigned bytes = 0;
  uint64_t mask = 0;

  void add(uint64_t address, bool isEnabled) {
    addresses.push_back(address);
    enabled.push_back(isEnabled);
  }
};

/// The places of pointers, where `mask` (which may be null) is true. Nothing if
/// that is a fault: an address outside of all arrays, or an undefined one.
std::optional<Places> getPlaces(Thread &thread, Operation *op,
                                const Tensor &pointers, Value mask, Value other,
                                Type element);

Tensor readPlaces(DeviceMemory &memory, const Places &places);
void writePlaces(DeviceMemory &memory, const Places &places,
                 const Tensor &values);
/// An asynchronous copy will write there.
void markPlaces(DeviceMemory &memory, const Places &places);
/// What an asynchronous copy writes that ends now: undefined, where somebody
/// else has written something else since `markPlaces`.
void writeLate(DeviceMemory &memory, const Places &places,
               const Tensor &values);

/// An asynchronous copy from there to a buffer. Null if that is a fault: the
/// buffer is out of bounds.
std::shared_ptr<AsyncCopy> makeCopy(Thread &thread, Operation *op,
                                    Value destination, Places places);

/// One atomic operation on an element of the given type.
uint64_t combineAtomically(RMWOp kind, Type element, uint64_t old,
                           uint64_t value);

} // namespace mlir::triton::reference

#endif // TILE_TEST_LIB_REFERENCE_GLOBALACCESSES_H
