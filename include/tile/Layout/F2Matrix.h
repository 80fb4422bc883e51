//===-- F2Matrix.h - Linear algebra over the field of two elements -*- C++ -*-//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Matrices over F2 with at most 64 rows. A matrix is kept by columns, one
// 64-bit word each (bit r of a word is row r). A layout is a list of images of
// basis vectors, and nearly every question about it concerns columns.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LAYOUT_F2MATRIX_H
#define TILE_LAYOUT_F2MATRIX_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>

namespace mlir::triton {

class F2Matrix {
public:
  using Word = uint64_t;
  using Words = llvm::SmallVector<Word, 16>;

  F2Matrix() = default;
  F2Matrix(unsigned numRows, unsigned numCols)
      : rows(numRows), cols(numCols, Word(0)) {}
  F2Matrix(unsigned numRows, llvm::ArrayRef<Word> columns);

  static F2Matrix identity(unsigned n);

  unsigned numRows() const { return rows; }
  unsigned numCols() const { return cols.size(); }
  Word col(unsigned c) const { return cols[c]; }
  llvm::ArrayRef<Word> columns() const { return cols; }
  bool get(unsigned r, unsigned c) const { return (cols[c] >> r) & 1; }
  void set(unsigned r, unsigned c, bool v);

  /// Multiplied by the vector whose bit c selects column c.
  Word apply(Word x) const;
  /// `*this * other`, that is: first other, then this.
  F2Matrix operator*(const F2Matrix &other) const;
  F2Matrix transpose() const;
  bool operator==(const F2Matrix &other) const {
    return rows == other.rows && cols == other.cols;
  }

  unsigned rank() const;
  /// The columns that are independent of all earlier ones, in order.
  llvm::SmallVector<unsigned> pivotColumns() const;
  /// Reduced row echelon form.
  F2Matrix rref() const;
  /// A basis of {x : M x = 0}; each vector is one word over the columns.
  Words kernel() const;
  /// An independent set of columns that spans the image.
  Words image() const;
  /// A solution of M x = b that uses pivot columns only, if there is one.
  std::optional<Word> solve(Word b) const;
  /// The two-sided inverse of a square matrix of full rank.
  std::optional<F2Matrix> inverse() const;
  /// P with M P M = M; unused columns (free variables) are never referenced.
  F2Matrix pseudoInverse() const;

private:
  unsigned rows = 0;
  Words cols;
};

/// Incremental elimination: insert vectors one by one, ask for membership, and
/// read off which inserted vectors combine to a given one.
class F2Span {
public:
  /// Adds `v`; returns false (and changes nothing) if it is already spanned.
  /// The n-th successful insertion is generator n.
  bool insert(uint64_t v);
  bool contains(uint64_t v) const { return reduce(v) == 0; }
  /// `v` reduced by the span: zero iff `v` is in it.
  uint64_t reduce(uint64_t v) const;
  /// A mask of the generators whose sum is `v`, or nullopt.
  std::optional<uint64_t> express(uint64_t v) const;
  unsigned dim() const { return rowsByLead.size(); }

private:
  struct Row {
    uint64_t value;      // distinct leading bits, descending
    uint64_t generators; // which generators sum to value
  };
  llvm::SmallVector<Row, 16> rowsByLead;
};

/// A basis of span(a) ∩ span(b).
F2Matrix::Words intersectSpans(llvm::ArrayRef<uint64_t> a,
                               llvm::ArrayRef<uint64_t> b);
/// Unit vectors (in increasing order) that complete `vectors` to a basis of
/// F2^numBits.
F2Matrix::Words complementBasis(llvm::ArrayRef<uint64_t> vectors,
                                unsigned numBits);

} // namespace mlir::triton

#endif // TILE_LAYOUT_F2MATRIX_H
