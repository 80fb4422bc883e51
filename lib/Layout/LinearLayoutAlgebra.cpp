//===-- LinearLayoutAlgebra.cpp - Products, inverses, quotients -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "tile/Layout/LinearLayout.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace mlir::triton {

//===----------------------------------------------------------------------===//
// The direct product of layouts
//===----------------------------------------------------------------------===//

LinearLayout LinearLayout::operator*(const LinearLayout &other) const {
  Dims newIns = ins, newOuts = outs;
  for (const Dim &d : other.ins) {
    if (int i = findIn(d.name); i >= 0)
      newIns[i].log2 += d.log2;
    else
      newIns.push_back(d);
  }
  for (const Dim &d : other.outs) {
    if (int i = findOut(d.name); i >= 0)
      newOuts[i].log2 += d.log2;
    else
      newOuts.push_back(d);
  }

  // Moves an image of either factor to its place in the result.
  auto place = [&](const LinearLayout &factor, uint64_t column, bool high) {
    uint64_t result = 0;
    unsigned shift = 0;
    for (const Dim &d : newOuts) {
      if (int i = factor.findOut(d.name); i >= 0) {
        unsigned low = 0;
        if (high && hasOutDim(d.name))
          low = getOutDimSizeLog2(d.name);
        result |= uint64_t(factor.extractOut(column, i)) << (shift + low);
      }
      shift += d.log2;
    }
    return result;
  };

  F2Matrix::Words newColumns;
  for (const Dim &d : newIns) {
    if (int i = findIn(d.name); i >= 0)
      for (unsigned pos = 0; pos < ins[i].log2; ++pos)
        newColumns.push_back(place(*this, columns[inShift(i) + pos], false));
    if (int i = other.findIn(d.name); i >= 0)
      for (unsigned pos = 0; pos < other.ins[i].log2; ++pos)
        newColumns.push_back(
            place(other, other.columns[other.inShift(i) + pos], true));
  }
  return LinearLayout(std::move(newIns), std::move(newOuts),
                      std::move(newColumns));
}

//===----------------------------------------------------------------------===//
// Composition and inverses
//===----------------------------------------------------------------------===//

LinearLayout LinearLayout::compose(const LinearLayout &outer) const {
  assert(outs.size() == outer.ins.size() && "dims do not agree");
  // Where each of our out dims starts in the flat input of `outer`.
  SmallVector<unsigned> starts;
  for (const Dim &d : outs) {
    unsigned i = outer.getInDimIndex(d.name);
    assert(d.log2 <= outer.ins[i].log2 && "out dim does not fit");
    starts.push_back(outer.inShift(i));
  }
  F2Matrix::Words newColumns;
  for (uint64_t column : columns) {
    uint64_t x = 0;
    for (auto [i, start] : enumerate(starts))
      x |= uint64_t(extractOut(column, i)) << start;
    newColumns.push_back(outer.applyFlat(x));
  }
  return LinearLayout(ins, outer.outs, std::move(newColumns));
}

LinearLayout LinearLayout::invert() const {
  assert(isInvertible() && "only invertible layouts have an inverse");
  return pseudoinvert();
}

LinearLayout LinearLayout::pseudoinvert() const {
  F2Matrix inverse = getMatrix().pseudoInverse();
  return LinearLayout(
      outs, ins,
      F2Matrix::Words(inverse.columns().begin(), inverse.columns().end()));
}

std::optional<LinearLayout>
LinearLayout::tryInvertAndCompose(const LinearLayout &outer) const {
  if (outs.size() != outer.outs.size())
    return std::nullopt;
  for (const Dim &d : outs)
    if (!outer.hasOutDim(d.name))
      return std::nullopt;
  // Bring both to the same flat out space; the sizes may differ.
  LinearLayout inner = transposeOuts(outer.getOutDimNames());
  LinearLayout target = outer;
  for (unsigned i = 0; i < inner.outs.size(); ++i) {
    // A copy: the assignments below replace what it would refer to.
    Dim d = inner.outs[i];
    unsigned log2 = std::max(d.log2, target.outs[i].log2);
    inner = inner.resizeOutDim(d.name, int32_t(1) << log2);
    target = target.resizeOutDim(d.name, int32_t(1) << log2);
  }

  F2Matrix targetMatrix = target.getMatrix();
  F2Matrix::Words newColumns;
  for (const Dim &d : inner.ins) {
    int same = target.findIn(d.name);
    for (unsigned pos = 0; pos < d.log2; ++pos) {
      uint64_t image = inner.getFlatBasis(d.name, pos);
      // Data that is already in place stays there, even if another bit of
      // `outer` reaches it too. This also keeps copies where they are.
      if (same >= 0 && pos < target.ins[same].log2 &&
          target.columns[target.inShift(same) + pos] == image) {
        newColumns.push_back(uint64_t(1) << (target.inShift(same) + pos));
        continue;
      }
      std::optional<uint64_t> x = targetMatrix.solve(image);
      if (!x)
        return std::nullopt;
      newColumns.push_back(*x);
    }
  }
  return LinearLayout(ins, outer.ins, std::move(newColumns));
}

LinearLayout LinearLayout::invertAndCompose(const LinearLayout &outer) const {
  std::optional<LinearLayout> result = tryInvertAndCompose(outer);
  assert(result && "the image must lie in the image of the outer layout");
  return *result;
}

//===----------------------------------------------------------------------===//
// Division
//===----------------------------------------------------------------------===//

/// Division works bit by bit: with `divisorFirst`, the divisor must own the low
/// bits of each of its in and out dims, otherwise the high ones. In each in
/// dim, its bits must map as in the divisor, and all others must avoid its out
/// bits; those others are the quotient.
std::optional<LinearLayout>
LinearLayout::divideLeft(const LinearLayout &divisor) const {
  return divide(divisor, /*divisorFirst=*/true);
}

std::optional<LinearLayout>
LinearLayout::divideRight(const LinearLayout &divisor) const {
  return divide(divisor, /*divisorFirst=*/false);
}

std::optional<LinearLayout> LinearLayout::divide(const LinearLayout &divisor,
                                                 bool divisorFirst) const {
  Dims newIns = ins, newOuts = outs;
  for (const Dim &d : divisor.ins) {
    int i = findIn(d.name);
    if (i < 0 || newIns[i].log2 < d.log2)
      return std::nullopt;
    newIns[i].log2 -= d.log2;
  }
  for (const Dim &d : divisor.outs) {
    int i = findOut(d.name);
    if (i < 0 || newOuts[i].log2 < d.log2)
      return std::nullopt;
    newOuts[i].log2 -= d.log2;
  }

  // Splits an image into the parts that belong to divisor and quotient.
  auto split = [&](uint64_t column) {
    uint64_t mine = 0, rest = 0;
    unsigned restShift = 0;
    for (unsigned i = 0; i < outs.size(); ++i) {
      uint64_t value = extractOut(column, i);
      int at = divisor.findOut(outs[i].name);
      unsigned taken = at < 0 ? 0 : divisor.outs[at].log2;
      unsigned kept = newOuts[i].log2;
      uint64_t taken_ = divisorFirst ? value & maskTrailingOnes<uint64_t>(taken)
                                     : value >> kept;
      uint64_t kept_ = divisorFirst ? value >> taken
                                    : value & maskTrailingOnes<uint64_t>(kept);
      if (at >= 0)
        mine |= taken_ << divisor.outShift(at);
      rest |= kept_ << restShift;
      restShift += kept;
    }
    return std::pair(mine, rest);
  };

  F2Matrix::Words newColumns;
  for (unsigned i = 0; i < ins.size(); ++i) {
    int at = divisor.findIn(ins[i].name);
    unsigned taken = at < 0 ? 0 : divisor.ins[at].log2;
    unsigned first = divisorFirst ? 0 : newIns[i].log2;
    for (unsigned pos = 0; pos < ins[i].log2; ++pos) {
      auto [mine, rest] = split(columns[inShift(i) + pos]);
      if (pos >= first && pos < first + taken) {
        if (rest || mine != divisor.columns[divisor.inShift(at) + pos - first])
          return std::nullopt;
        continue;
      }
      if (mine)
        return std::nullopt;
      newColumns.push_back(rest);
    }
  }
  return LinearLayout(std::move(newIns), std::move(newOuts),
                      std::move(newColumns));
}

std::optional<LinearLayout>
LinearLayout::quotient(ArrayRef<StringRef> dims) const {
  if (!isTrivialOver(dims))
    return std::nullopt;
  SmallVector<StringRef> keptIns, keptOuts;
  for (const Dim &d : ins)
    if (!is_contained(dims, d.name))
      keptIns.push_back(d.name);
  for (const Dim &d : outs)
    if (!is_contained(dims, d.name))
      keptOuts.push_back(d.name);
  return sublayout(keptIns, keptOuts);
}

} // namespace mlir::triton
