//===-- SplitShapes.h - Tensors as pieces of powers of two ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_LIB_DIALECT_TRITON_TRANSFORMS_SPLITSHAPES_H
#define TILE_LIB_DIALECT_TRITON_TRANSFORMS_SPLITSHAPES_H

#include "mlir/Transforms/DialectConversion.h"

#include <limits>

namespace mlir::triton {

/// Neighbours along a dimension: a power of two of them.
struct Stretch {
  int64_t offset, size;
};

/// No stretch is too long.
inline constexpr int64_t kAnyLength = std::numeric_limits<int64_t>::max();

/// How a tensor of any extents is taken apart. Each dimension becomes
/// stretches, the largest first, one for each bit of the extent. Stretches
/// longer than `longest` become several of that length. A piece is a choice of
/// a stretch in each dimension. Pieces are in row-major order.
class Pieces {
public:
  explicit Pieces(ArrayRef<int64_t> shape, int64_t longest = kAnyLength);
  explicit Pieces(Type tensor, int64_t longest = kAnyLength)
      : Pieces(cast<RankedTensorType>(tensor).getShape(), longest) {}

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

/// Makes several tensors of a tensor of several pieces.
class PieceConverter : public TypeConverter {
public:
  explicit PieceConverter(int64_t longest = kAnyLength);

  /// The pieces of a tensor, or of a shape.
  template <typename T> Pieces getPieces(T of) const {
    return Pieces(of, longest);
  }

private:
  int64_t longest;
};

/// A pattern for operations of one kind on pieces.
template <typename OpT> class PiecePattern : public OpConversionPattern<OpT> {
public:
  PiecePattern(const PieceConverter &converter, MLIRContext *context)
      : OpConversionPattern<OpT>(converter, context) {}

protected:
  template <typename T> Pieces getPieces(T of) const {
    return static_cast<const PieceConverter *>(this->getTypeConverter())
        ->getPieces(of);
  }
};

/// A copy of `op`, regions and attributes too, of a piece.
Operation *clonePiece(OpBuilder &builder, Operation *op, ValueRange operands,
                      TypeRange results);

/// A tensor whose elements are all `value`.
Value splatNumber(OpBuilder &builder, Location loc, RankedTensorType type,
                  int64_t value);

/// Whether piece i of each result is the operation on piece i of each operand.
bool isPiecewise(Operation *op);

/// For operations of which a piece needs few pieces of the operands.
void populateSplitPatterns(const PieceConverter &converter,
                           RewritePatternSet &patterns);
void populateSplitReducePatterns(const PieceConverter &converter,
                                 RewritePatternSet &patterns);
void populateSplitCollectivePatterns(const TypeConverter &converter,
                                     RewritePatternSet &patterns);
void populateSplitReshapePatterns(const TypeConverter &converter,
                                  RewritePatternSet &patterns);

} // namespace mlir::triton

#endif // TILE_LIB_DIALECT_TRITON_TRANSFORMS_SPLITSHAPES_H
