//===-- F2Matrix.cpp - Linear algebra over the field of two elements ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "tile/Layout/F2Matrix.h"
#include "llvm/ADT/bit.h"
#include <cassert>

using namespace llvm;

namespace mlir::triton {

namespace {
/// Calls `fn(i)` for every set bit i of `mask`, lowest first.
template <typename Fn> void forEachBit(uint64_t mask, Fn fn) {
  for (; mask; mask &= mask - 1)
    fn(unsigned(llvm::countr_zero(mask)));
}

unsigned leadingBit(uint64_t v) { return 63 - llvm::countl_zero(v); }
} // namespace

//===----------------------------------------------------------------------===//
// F2Span
//===----------------------------------------------------------------------===//

bool F2Span::insert(uint64_t v) {
  assert(rowsByLead.size() < 64 && "a span has at most 64 generators");
  uint64_t generators = uint64_t(1) << rowsByLead.size();
  for (const Row &row : rowsByLead) {
    if (!((v >> leadingBit(row.value)) & 1))
      continue;
    v ^= row.value;
    generators ^= row.generators;
  }
  if (!v)
    return false;
  auto at = rowsByLead.begin();
  while (at != rowsByLead.end() && at->value > v)
    ++at;
  rowsByLead.insert(at, Row{v, generators});
  return true;
}

uint64_t F2Span::reduce(uint64_t v) const {
  for (const Row &row : rowsByLead)
    if ((v >> leadingBit(row.value)) & 1)
      v ^= row.value;
  return v;
}

std::optional<uint64_t> F2Span::express(uint64_t v) const {
  uint64_t generators = 0;
  for (const Row &row : rowsByLead) {
    if (!((v >> leadingBit(row.value)) & 1))
      continue;
    v ^= row.value;
    generators ^= row.generators;
  }
  if (v)
    return std::nullopt;
  return generators;
}

//===----------------------------------------------------------------------===//
// F2Matrix
//===----------------------------------------------------------------------===//

F2Matrix::F2Matrix(unsigned numRows, ArrayRef<Word> columns)
    : rows(numRows), cols(columns.begin(), columns.end()) {
  assert(numRows <= 64 && columns.size() <= 64 && "matrix too large");
#ifndef NDEBUG
  for (Word c : cols)
    assert((numRows == 64 || (c >> numRows) == 0) && "entry outside the rows");
#endif
}

F2Matrix F2Matrix::identity(unsigned n) {
  F2Matrix m(n, n);
  for (unsigned i = 0; i < n; ++i)
    m.set(i, i, true);
  return m;
}

void F2Matrix::set(unsigned r, unsigned c, bool v) {
  assert(r < rows && c < cols.size() && "entry outside the matrix");
  Word bit = Word(1) << r;
  cols[c] = v ? cols[c] | bit : cols[c] & ~bit;
}

F2Matrix::Word F2Matrix::apply(Word x) const {
  Word result = 0;
  forEachBit(x, [&](unsigned c) { result ^= cols[c]; });
  return result;
}

F2Matrix F2Matrix::operator*(const F2Matrix &other) const {
  assert(other.rows == numCols() && "matrix sizes do not agree");
  F2Matrix result(rows, other.numCols());
  for (unsigned c = 0, e = other.numCols(); c < e; ++c)
    result.cols[c] = apply(other.cols[c]);
  return result;
}

F2Matrix F2Matrix::transpose() const {
  F2Matrix result(numCols(), rows);
  for (unsigned c = 0, e = numCols(); c < e; ++c)
    forEachBit(cols[c], [&](unsigned r) { result.set(c, r, true); });
  return result;
}

unsigned F2Matrix::rank() const {
  F2Span span;
  for (Word c : cols)
    span.insert(c);
  return span.dim();
}

SmallVector<unsigned> F2Matrix::pivotColumns() const {
  F2Span span;
  SmallVector<unsigned> result;
  for (unsigned c = 0, e = numCols(); c < e; ++c)
    if (span.insert(cols[c]))
      result.push_back(c);
  return result;
}

F2Matrix F2Matrix::rref() const {
  // In reduced echelon form, column c holds the coordinates of c in terms of
  // the pivot columns; pivot k is the k-th unit vector.
  F2Span span;
  F2Matrix result(rows, numCols());
  for (unsigned c = 0, e = numCols(); c < e; ++c) {
    span.insert(cols[c]);
    result.cols[c] = *span.express(cols[c]);
  }
  return result;
}

F2Matrix::Words F2Matrix::kernel() const {
  Words result;
  SmallVector<unsigned> pivots;
  F2Span span;
  for (unsigned c = 0, e = numCols(); c < e; ++c) {
    if (span.insert(cols[c])) {
      pivots.push_back(c);
      continue;
    }
    Word relation = Word(1) << c;
    forEachBit(*span.express(cols[c]),
               [&](unsigned g) { relation |= Word(1) << pivots[g]; });
    result.push_back(relation);
  }
  return result;
}

F2Matrix::Words F2Matrix::image() const {
  Words result;
  for (unsigned c : pivotColumns())
    result.push_back(cols[c]);
  return result;
}

std::optional<F2Matrix::Word> F2Matrix::solve(Word b) const {
  F2Span span;
  SmallVector<unsigned> pivots;
  for (unsigned c = 0, e = numCols(); c < e; ++c)
    if (span.insert(cols[c]))
      pivots.push_back(c);
  std::optional<uint64_t> generators = span.express(b);
  if (!generators)
    return std::nullopt;
  Word x = 0;
  forEachBit(*generators, [&](unsigned g) { x |= Word(1) << pivots[g]; });
  return x;
}

std::optional<F2Matrix> F2Matrix::inverse() const {
  if (rows != numCols() || rank() != rows)
    return std::nullopt;
  return pseudoInverse();
}

F2Matrix F2Matrix::pseudoInverse() const {
  F2Span span;
  SmallVector<unsigned> pivots;
  for (unsigned c = 0, e = numCols(); c < e; ++c)
    if (span.insert(cols[c]))
      pivots.push_back(c);
  // Split the target space into the image and a complement; the inverse sends
  // the complement to zero.
  for (unsigned r = 0; r < rows; ++r)
    span.insert(Word(1) << r);

  F2Matrix result(numCols(), rows);
  for (unsigned r = 0; r < rows; ++r) {
    forEachBit(*span.express(Word(1) << r), [&](unsigned g) {
      if (g < pivots.size())
        result.cols[r] |= Word(1) << pivots[g];
    });
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Subspaces
//===----------------------------------------------------------------------===//

F2Matrix::Words intersectSpans(ArrayRef<uint64_t> a, ArrayRef<uint64_t> b) {
  F2Span span;
  F2Matrix::Words generators;
  for (uint64_t v : a)
    if (span.insert(v))
      generators.push_back(v);
  unsigned fromA = generators.size();
  // Every dependency a' + b' = 0 exhibits a' in both spans; as many of them as
  // there are independent vectors of b that the sum already contains.
  F2Matrix::Words result;
  F2Span spanB;
  for (uint64_t v : b) {
    if (!spanB.insert(v))
      continue;
    if (span.insert(v)) {
      generators.push_back(v);
      continue;
    }
    uint64_t common = 0;
    forEachBit(*span.express(v), [&](unsigned g) {
      if (g < fromA)
        common ^= generators[g];
    });
    result.push_back(common);
  }
  return result;
}

F2Matrix::Words complementBasis(ArrayRef<uint64_t> vectors, unsigned numBits) {
  F2Span span;
  for (uint64_t v : vectors)
    span.insert(v);
  F2Matrix::Words result;
  for (unsigned i = 0; i < numBits; ++i)
    if (span.insert(uint64_t(1) << i))
      result.push_back(uint64_t(1) << i);
  return result;
}

} // namespace mlir::triton
