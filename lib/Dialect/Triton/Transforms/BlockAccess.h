//===-- BlockAccess.h - Addresses and masks of blocks -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_LIB_DIALECT_TRITON_TRANSFORMS_BLOCKACCESS_H
#define TILE_LIB_DIALECT_TRITON_TRANSFORMS_BLOCKACCESS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"
#include "mlir/IR/ValueRange.h"

namespace mlir::triton {

/// One dimension of a block of a strided tensor in memory.
struct BlockDim {
  /// Where in the dimension the elements of the block lie: tensor<?xi64>.
  Value indices;
  /// Elements between neighbours: i64.
  Value stride;
  /// Size of the tensor in memory: i64; null if it need not be checked.
  Value bound;
};

/// The values that a conversion makes of a strided tensor in memory: its base,
/// its sizes, its strides, and what else the converted type holds.
class StridedParts {
public:
  StridedParts(ValueRange values, size_t rank) : values(values), rank(rank) {}

  Value getBase() const { return values[0]; }
  ValueRange getShape() const { return values.slice(1, rank); }
  ValueRange getStrides() const { return values.slice(1 + rank, rank); }
  ValueRange getRest() const { return values.drop_front(1 + 2 * rank); }

private:
  ValueRange values;
  size_t rank;
};

struct BlockAccess {
  /// The address of each element of the block.
  Value pointers;
  /// Which of them lie in the tensor; null if all do.
  Value mask;
};

/// An i32 as an i64; an i64 as it is.
Value extendToI64(OpBuilder &builder, Location loc, Value value);

/// offset, offset + 1, ..., offset + size - 1, from an i64.
Value makeIndices(OpBuilder &builder, Location loc, Value offset, int64_t size);

/// Computes in 64 bits, so that no offset overflows.
BlockAccess makeBlockAccess(OpBuilder &builder, Location loc, Value base,
                            ArrayRef<BlockDim> dims);

/// A tensor of NaNs or of zeros.
Value makePadding(OpBuilder &builder, Location loc, RankedTensorType type,
                  bool nan);

} // namespace mlir::triton

#endif // TILE_LIB_DIALECT_TRITON_TRANSFORMS_BLOCKACCESS_H
