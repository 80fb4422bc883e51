//===-- UniformOffsets.h - The scalar part of offsets -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// An offset is split into a scalar, which is the same in all lanes, and a
// tensor of what differs between lanes. A sum is only taken apart if neither
// part can be negative. Then no part overflows unless the sum does. The sum is
// assumed not to overflow where memory is accessed, as it is for other indices.
//
//===----------------------------------------------------------------------===//
#ifndef AMD_TRITONAMDGPUTRANSFORMS_UNIFORMOFFSETS_H
#define AMD_TRITONAMDGPUTRANSFORMS_UNIFORMOFFSETS_H

#include "mlir/Analysis/DataFlowFramework.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include <optional>

namespace mlir::triton::amd {

/// What integers of a module, or function, can be, if nothing overflows.
class OffsetRanges {
public:
  static FailureOr<std::unique_ptr<OffsetRanges>> compute(Operation *root);

  bool isNonNegative(Value value) const;
  /// The greatest that a number can be, with a sign.
  int64_t getMax(Value value) const;

private:
  OffsetRanges() = default;
  DataFlowSolver solver;
};

/// scalar + tensor; either may be null, for zero.
struct SplitOffset {
  Value scalar;
  /// i32 in the layout of the whole.
  Value tensor;
  /// What no element of the tensor exceeds.
  int64_t max = 0;
  /// Whether the tensor has the low 32 bits of numbers that may have more, and
  /// are not negative.
  bool isCut = false;
};

/// Splits a tensor of offsets, making what it needs at `b`. Nullopt where the
/// part that differs between lanes may be a negative number of more than 32
/// bits.
std::optional<SplitOffset> splitOffset(OpBuilder &b, Value offset,
                                       const OffsetRanges &ranges);

/// Whether all elements of a tensor of offsets are the same scalar.
bool isSplat(Value offset);
/// That scalar.
Value makeScalar(OpBuilder &b, Value splat);
/// A scalar of up to 64 bits, in 64.
Value toI64(OpBuilder &b, Location loc, Value scalar);

} // namespace mlir::triton::amd

#endif // AMD_TRITONAMDGPUTRANSFORMS_UNIFORMOFFSETS_H
