//===-- ColumnAction.cpp - Selecting and permuting index bits -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "tile/Layout/ColumnAction.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace mlir::triton {

ColumnAction::ColumnAction(ArrayRef<unsigned> bits, StringRef inDim,
                           unsigned oldSizeLog2)
    : bits(bits.begin(), bits.end()), inDim(inDim), oldSizeLog2(oldSizeLog2) {
#ifndef NDEBUG
  uint64_t seen = 0;
  for (unsigned bit : bits) {
    assert(bit < oldSizeLog2 && "no such bit");
    assert(!((seen >> bit) & 1) && "bit selected twice");
    seen |= uint64_t(1) << bit;
  }
#endif
}

ColumnAction ColumnAction::identity(StringRef inDim, unsigned sizeLog2) {
  return ColumnAction(llvm::to_vector(llvm::seq(0u, sizeLog2)), inDim,
                      sizeLog2);
}

bool ColumnAction::isIdentity() const {
  return isPermutation() && llvm::is_sorted(bits);
}

LinearLayout ColumnAction::apply(const LinearLayout &layout) const {
  assert(layout.getInDimSizeLog2(inDim) == oldSizeLog2 && "wrong dim size");
  LinearLayout::Bases bases = layout.getBases();
  for (auto &[name, dimBases] : bases) {
    if (name != inDim)
      continue;
    LinearLayout::DimBases picked;
    for (unsigned bit : bits)
      picked.push_back(dimBases[bit]);
    dimBases = std::move(picked);
  }
  return LinearLayout(bases, layout.getOutDims(), /*requireSurjective=*/false);
}

uint64_t ColumnAction::sourceIndex(uint64_t newIndex) const {
  uint64_t old = 0;
  for (auto [i, bit] : enumerate(bits))
    old |= ((newIndex >> i) & 1) << bit;
  return old;
}

ColumnAction ColumnAction::then(const ColumnAction &next) const {
  assert(next.inDim == inDim && next.oldSizeLog2 == bits.size() &&
         "actions do not follow each other");
  SmallVector<unsigned> combined;
  for (unsigned bit : next.bits)
    combined.push_back(bits[bit]);
  return ColumnAction(combined, inDim, oldSizeLog2);
}

ColumnAction ColumnAction::inverse() const {
  assert(isPermutation() && "only permutations have an inverse");
  SmallVector<unsigned> inverse(bits.size());
  for (auto [i, bit] : enumerate(bits))
    inverse[bit] = i;
  return ColumnAction(inverse, inDim, oldSizeLog2);
}

std::string ColumnAction::toString() const {
  std::string s;
  raw_string_ostream os(s);
  os << inDim << " bits [";
  interleaveComma(bits, os);
  os << "] of " << oldSizeLog2;
  return s;
}

ColumnAction removeBroadcastedRegisters(const LinearLayout &layout) {
  unsigned n = layout.getInDimSizeLog2(kRegister);
  F2Span span;
  SmallVector<unsigned> kept;
  for (unsigned i = 0; i < n; ++i)
    if (span.insert(layout.getFlatBasis(kRegister, i)))
      kept.push_back(i);
  return ColumnAction(kept, kRegister, n);
}

SmallVector<unsigned> getDistinctRegisterIndices(const LinearLayout &layout) {
  // Coordinates in terms of the kept bits: a free bit may be a combination of
  // several kept ones, not only zero.
  unsigned n = layout.getInDimSizeLog2(kRegister);
  F2Span span;
  SmallVector<uint64_t> coordinates;
  for (unsigned i = 0; i < n; ++i) {
    uint64_t basis = layout.getFlatBasis(kRegister, i);
    span.insert(basis);
    coordinates.push_back(*span.express(basis));
  }
  SmallVector<unsigned> result;
  for (uint64_t r = 0, e = uint64_t(1) << n; r < e; ++r) {
    uint64_t index = 0;
    for (unsigned i = 0; i < n; ++i)
      index ^= ((r >> i) & 1) ? coordinates[i] : 0;
    result.push_back(index);
  }
  return result;
}

std::optional<ColumnAction> moveRegisterBasesFirst(const LinearLayout &layout,
                                                   ArrayRef<uint64_t> wanted) {
  unsigned n = layout.getInDimSizeLog2(kRegister);
  SmallVector<unsigned> bits;
  for (uint64_t basis : wanted) {
    auto candidates = llvm::seq(0u, n);
    auto it = llvm::find_if(candidates, [&](unsigned i) {
      return !is_contained(bits, i) &&
             layout.getFlatBasis(kRegister, i) == basis;
    });
    if (it == candidates.end())
      return std::nullopt;
    bits.push_back(*it);
  }
  for (unsigned i = 0; i < n; ++i)
    if (!is_contained(bits, i))
      bits.push_back(i);
  return ColumnAction(bits, kRegister, n);
}

} // namespace mlir::triton
