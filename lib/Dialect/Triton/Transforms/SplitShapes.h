//===-- SplitShapes.h - Tensors as pieces of powers of two ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_LIB_DIALECT_TRITON_TRANSFORMS_SPLITSHAPES_H
#define TILE_LIB_DIALECT_TRITON_TRANSFORMS_SPLITSHAPES_H

#include "mlir/Transforms/DialectConversion.h"

namespace mlir::triton {

/// Neighbours along a dimension: a power of two of them.
struct Stretch {
  int64_t offset, size;
};

/// How a tensor of any extents is taken apart. Each dimension becomes
/// stretches, the largest first, one for each bit of the extent. A piece is a
/// choice of a stretch in each dimension. Pieces are in row-major order.
class Pieces {
public:
  explicit Pieces(ArrayRef<int64_t> shape);
  explicit Pieces(Type tensor)
      : Pieces(cast<RankedTensorType>(tensor).getShape()) {}

  size_t size() const { return count; }
  ArrayRef<Stretch> getStretches(int64_t dim) const { return dims[dim]; }
  /// Which stretch the piece has in each dimension.
  SmallVector<size_t> getStretchesOf(size_t piece) const;
  size_t getPiece(ArrayRef<size_t> stretches) const;

  SmallVector<int64_t> getShape(size_t piece) const;
  SmallVector<int64_t> getOffsets(size_t piece) const;

private:
  SmallVector<SmallVector<Stretch>> dims;
  size_t count = 1;
};

/// A copy of `op`, regions and attributes too, of a piece.
Operation *clonePiece(OpBuilder &builder, Operation *op, ValueRange operands,
                      TypeRange results);

/// A tensor whose elements are all `value`.
Value splatNumber(OpBuilder &builder, Location loc, RankedTensorType type,
                  int64_t value);

void populateSplitCollectivePatterns(const TypeConverter &converter,
                                     RewritePatternSet &patterns);
void populateSplitReshapePatterns(const TypeConverter &converter,
                                  RewritePatternSet &patterns);

} // namespace mlir::triton

#endif // TILE_LIB_DIALECT_TRITON_TRANSFORMS_SPLITSHAPES_H
