//===-- LinearLayout.h - Linear maps over F2 with named dims ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A linear layout is a linear map over F2 between two spaces of indices. Each
// space is split into named dimensions of power-of-two size; an index in a
// dimension of size 2^k is a vector of k bits, and "+" is xor. Because the map
// is linear, it is given by the images of the single-bit indices (the bases):
//
//   register: 1 -> (0, 1)            one thread owns two adjacent columns,
//   lane:     1 -> (1, 0), 2 -> ...  lanes go down the rows, ...
//
// Conventions used throughout:
//  - dimensions are ordered, and the FIRST dimension is the most minor one
//    wherever several are flattened into one index;
//  - names are StringRefs with static storage (see DimNames.h);
//  - a zero basis means that this bit does not matter (broadcast).
//
// Programming errors (unknown dim, mismatched sizes) are asserts; questions
// that depend on data return std::optional.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LAYOUT_LINEARLAYOUT_H
#define TILE_LAYOUT_LINEARLAYOUT_H

#include "tile/Layout/DimNames.h"
#include "tile/Layout/F2Matrix.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace mlir::triton {

class LinearLayout {
public:
  using StringRef = llvm::StringRef;
  template <typename T> using ArrayRef = llvm::ArrayRef<T>;

  /// The images of one dim's bits; each image has one value per out dim.
  using DimBases = std::vector<std::vector<int32_t>>;
  /// In dims, in order, with their bases.
  using Bases = std::vector<std::pair<StringRef, DimBases>>;
  /// A dim with its size (or, for indices, with its value).
  using NamedSize = std::pair<StringRef, int32_t>;
  using NamedSizes = llvm::SmallVector<NamedSize, 4>;

  //===--------------------------------------------------------------------===//
  // Construction
  //===--------------------------------------------------------------------===//

  /// No dims at all: the neutral element of operator*.
  LinearLayout() = default;
  /// Asserts what `tryCreate` checks.
  LinearLayout(const Bases &bases, ArrayRef<NamedSize> outDims,
               bool requireSurjective = true);

  static LinearLayout empty() { return {}; }
  /// Checks everything about user-supplied bases: distinct names, power-of-two
  /// sizes, values in range, arity, surjectivity if asked for. On failure
  /// stores one sentence in `error` if that is given.
  static std::optional<LinearLayout> tryCreate(const Bases &bases,
                                               ArrayRef<NamedSize> outDims,
                                               bool requireSurjective = true,
                                               std::string *error = nullptr);
  /// As the constructor, with each out dim just large enough for the bases.
  static LinearLayout fromBases(const Bases &bases,
                                ArrayRef<StringRef> outDimNames,
                                bool requireSurjective = true);

  /// x -> x for 0 <= x < size.
  static LinearLayout identity1D(int32_t size, StringRef inDim,
                                 StringRef outDim);
  /// x -> stride * x; the out dim has size `size * stride`.
  static LinearLayout strided1D(int32_t size, int32_t stride, StringRef inDim,
                                StringRef outDim);
  /// x -> 0.
  static LinearLayout zeros1D(int32_t size, StringRef inDim, StringRef outDim,
                              int32_t outDimSize = 1);
  /// The identity between several dims of the same names: x -> x.
  static LinearLayout identity(ArrayRef<NamedSize> dims);
  /// The identity from flat `inDim` (minor-first) to several out dims.
  static LinearLayout identityND(StringRef inDim, ArrayRef<int64_t> shape,
                                 ArrayRef<unsigned> order,
                                 ArrayRef<StringRef> outDimNames);

  //===--------------------------------------------------------------------===//
  // Shape
  //===--------------------------------------------------------------------===//

  unsigned getNumInDims() const { return ins.size(); }
  unsigned getNumOutDims() const { return outs.size(); }
  llvm::SmallVector<StringRef> getInDimNames() const;
  llvm::SmallVector<StringRef> getOutDimNames() const;
  NamedSizes getInDims() const;
  NamedSizes getOutDims() const;
  bool hasInDim(StringRef dim) const { return findIn(dim) >= 0; }
  bool hasOutDim(StringRef dim) const { return findOut(dim) >= 0; }
  unsigned getInDimIndex(StringRef dim) const;
  unsigned getOutDimIndex(StringRef dim) const;
  unsigned getInDimSizeLog2(StringRef dim) const;
  unsigned getOutDimSizeLog2(StringRef dim) const;
  int32_t getInDimSize(StringRef dim) const {
    return int32_t(1) << getInDimSizeLog2(dim);
  }
  int32_t getOutDimSize(StringRef dim) const {
    return int32_t(1) << getOutDimSizeLog2(dim);
  }
  llvm::SmallVector<int64_t> getOutShape() const;
  unsigned getTotalInDimSizeLog2() const { return columns.size(); }
  unsigned getTotalOutDimSizeLog2() const;
  int64_t getTotalInDimSize() const {
    return int64_t(1) << getTotalInDimSizeLog2();
  }
  int64_t getTotalOutDimSize() const {
    return int64_t(1) << getTotalOutDimSizeLog2();
  }

  //===--------------------------------------------------------------------===//
  // Values
  //===--------------------------------------------------------------------===//

  /// The image of bit `pos` of `inDim`, one value per out dim.
  llvm::SmallVector<int32_t, 4> getBasis(StringRef inDim, unsigned pos) const;
  int32_t getBasis(StringRef inDim, unsigned pos, StringRef outDim) const;
  /// All bases, in the form that the constructor takes.
  Bases getBases() const;
  /// The image of bit `pos` of `inDim` with the out dims flattened.
  uint64_t getFlatBasis(StringRef inDim, unsigned pos) const;

  /// The image of an index. `index` names every in dim, in any order.
  NamedSizes apply(ArrayRef<NamedSize> index) const;
  /// The same on flattened indices.
  uint64_t applyFlat(uint64_t flatIn) const;
  /// The layout as a matrix from flat in bits to flat out bits.
  F2Matrix getMatrix() const;
  /// Splits a flat index by the sizes of the in/out dims, and back.
  NamedSizes unflattenIn(uint64_t flat) const;
  NamedSizes unflattenOut(uint64_t flat) const;
  uint64_t flattenIn(ArrayRef<NamedSize> index) const;
  uint64_t flattenOut(ArrayRef<NamedSize> index) const;

  //===--------------------------------------------------------------------===//
  // Questions
  //===--------------------------------------------------------------------===//

  unsigned getRank() const { return getMatrix().rank(); }
  bool isSurjective() const { return getRank() == getTotalOutDimSizeLog2(); }
  bool isInjective() const { return getRank() == getTotalInDimSizeLog2(); }
  bool isInvertible() const { return isSurjective() && isInjective(); }

  /// True if, for each of `dims` (in and out dims alike), the map sends the dim
  /// to itself unchanged and nothing else reaches it or comes from it.
  bool isTrivialOver(ArrayRef<StringRef> dims) const;

  /// For each in dim, a mask of its bits that add nothing to the image once the
  /// bits before them (in flat order) are there. Broadcasting shows here.
  llvm::SmallVector<NamedSize, 4> getFreeVariableMasks() const;
  int32_t getFreeVariableMask(StringRef inDim) const;

  /// The largest n = 2^k such that the k lowest flat in bits are the k lowest
  /// flat out bits, and no other in bit touches those.
  int64_t getNumConsecutiveInOut() const;

  bool sublayoutIsZero(ArrayRef<StringRef> inDims,
                       ArrayRef<StringRef> outDims) const;

  //===--------------------------------------------------------------------===//
  // Algebra
  //===--------------------------------------------------------------------===//

  /// Multiplies. In a dim that both have, `this` provides the low bits and
  /// `other` the high ones. Dims of `this` come first, in its order.
  LinearLayout operator*(const LinearLayout &other) const;
  LinearLayout &operator*=(const LinearLayout &other) {
    return *this = *this * other;
  }

  /// x -> outer(this(x)). The out dims of `this` are the in dims of `outer`,
  /// in any order, and fit into them.
  LinearLayout compose(const LinearLayout &outer) const;

  /// The inverse of an invertible layout.
  LinearLayout invert() const;
  /// P with L P L = L: a right inverse where L is surjective, a left inverse
  /// where it is injective. Free in bits of L are always 0 in P's result.
  LinearLayout pseudoinvert() const;

  /// C with outer(C(x)) = this(x) for all x, from the in dims of `this` to
  /// those of `outer`; this image must lie in the image of `outer`. Among the
  /// solutions, one that keeps bits of equally named in dims in place wherever
  /// both layouts have the same basis there, else one that uses early bits of
  /// `outer`.
  LinearLayout invertAndCompose(const LinearLayout &outer) const;
  std::optional<LinearLayout>
  tryInvertAndCompose(const LinearLayout &outer) const;

  /// Q with divisor * Q == this, up to the order of dims; Q has all dims of
  /// `this` (of size 1 where nothing is left).
  std::optional<LinearLayout> divideLeft(const LinearLayout &divisor) const;
  /// Q with Q * divisor == this, likewise.
  std::optional<LinearLayout> divideRight(const LinearLayout &divisor) const;
  /// Removes in and out dims over which this layout is trivial.
  std::optional<LinearLayout> quotient(ArrayRef<StringRef> dims) const;

  /// Only these in and out dims, in the order of `this`.
  LinearLayout sublayout(ArrayRef<StringRef> inDims,
                         ArrayRef<StringRef> outDims) const;

  //===--------------------------------------------------------------------===//
  // Rearranging dims
  //===--------------------------------------------------------------------===//

  LinearLayout transposeIns(ArrayRef<StringRef> newOrder) const;
  LinearLayout transposeOuts(ArrayRef<StringRef> newOrder) const;
  /// Regroups the flattened bits into the given dims.
  LinearLayout reshapeIns(ArrayRef<NamedSize> newDims) const;
  LinearLayout reshapeOuts(ArrayRef<NamedSize> newDims) const;
  LinearLayout flattenIns() const;
  LinearLayout flattenOuts() const;
  LinearLayout flattenIns(StringRef name) const;
  LinearLayout flattenOuts(StringRef name) const;
  /// Appends all in (out) dims of `other`; both have the same out (in) dims,
  /// and no name twice.
  LinearLayout concatIns(const LinearLayout &other) const;
  LinearLayout concatOuts(const LinearLayout &other) const;
  LinearLayout renameInDim(StringRef from, StringRef to) const;
  LinearLayout renameOutDim(StringRef from, StringRef to) const;
  /// Truncates the dim, or extends it with zero bases.
  LinearLayout resizeInDim(StringRef dim, int32_t newSize) const;
  /// Extends the dim, or drops its high bits from every image.
  LinearLayout resizeOutDim(StringRef dim, int32_t newSize) const;
  LinearLayout removeInDim(StringRef dim) const;
  /// Drops an out dim (projection).
  LinearLayout removeOutDim(StringRef dim) const;
  LinearLayout removeZeroBasesAlongDim(StringRef inDim) const;
  /// Appends an in/out dim of size 1.
  LinearLayout unsqueezeIn(StringRef dim) const;
  LinearLayout unsqueezeOut(StringRef dim) const;

  //===--------------------------------------------------------------------===//
  // Comparison and printing
  //===--------------------------------------------------------------------===//

  /// Same dims in the same order, same sizes, same bases.
  bool operator==(const LinearLayout &other) const {
    return ins == other.ins && outs == other.outs && columns == other.columns;
  }
  bool operator!=(const LinearLayout &other) const { return !(*this == other); }
  /// As operator==, disregarding the order of dims.
  bool equalUpToDimOrder(const LinearLayout &other) const;

  friend llvm::hash_code hash_value(const LinearLayout &layout);

  /// One line per basis:  ` - register=1 -> (0, 1)`.
  std::string toString() const;
  void print(llvm::raw_ostream &os) const;

private:
  struct Dim {
    StringRef name;
    unsigned log2;
    bool operator==(const Dim &o) const {
      return name == o.name && log2 == o.log2;
    }
  };
  using Dims = llvm::SmallVector<Dim, 4>;

  LinearLayout(Dims ins, Dims outs, F2Matrix::Words columns);

  int findIn(StringRef dim) const;
  int findOut(StringRef dim) const;
  /// The flat position of the dim's first bit.
  unsigned inShift(unsigned dimIndex) const;
  unsigned outShift(unsigned dimIndex) const;
  int32_t extractOut(uint64_t flat, unsigned dimIndex) const;
  std::optional<LinearLayout> divide(const LinearLayout &divisor,
                                     bool divisorFirst) const;

  Dims ins, outs;
  /// One word per flat in bit: its image over the flat out bits.
  F2Matrix::Words columns;
};

llvm::raw_ostream &operator<<(llvm::raw_ostream &os,
                              const LinearLayout &layout);

} // namespace mlir::triton

#endif // TILE_LAYOUT_LINEARLAYOUT_H
