//===-- RowFactors.h - Sums whose rows are multiplied -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_LIB_TRITONNVIDIAGPU_TRANSFORMS_ROWFACTORS_H
#define TILE_LIB_TRITONNVIDIAGPU_TRANSFORMS_ROWFACTORS_H

#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::triton::nvidia_gpu {

/// The warps that reach all 128 lanes of tensor memory, and the rows that they
/// have there.
inline constexpr int kGroupWarps = 4;
inline constexpr int64_t kGroupRows = 128;

/// The number for each row from which `value` is made; null if there is none.
Value getRowFactors(Value value);

/// What `store` writes: what `load` has read of the same buffer, times a factor
/// for each row. Null if it is something else, or if others need a part of it.
struct RowScaling {
  TMEMLoadOp load;
  arith::MulFOp scaled;
  TMEMStoreOp store;
  /// A factor for each row.
  Value factors;

  explicit operator bool() const { return bool(factors); }
};
RowScaling getRowScaling(TMEMStoreOp store);

/// Whether a buffer has fp32 in 128 rows, which four warps have.
bool isPlainSum(gpu::MemDescType type);

/// Multiplies the rows of `sum`, a plain one, `most` columns at a time, by what
/// `getFactors` gives for rows of a type. Stores that where `predicate`
/// holds.
void scaleRows(OpBuilder &builder, Location loc, Value sum, Value predicate,
               int64_t most, function_ref<Value(RankedTensorType)> getFactors);

} // namespace mlir::triton::nvidia_gpu

#endif // TILE_LIB_TRITONNVIDIAGPU_TRANSFORMS_ROWFACTORS_H
