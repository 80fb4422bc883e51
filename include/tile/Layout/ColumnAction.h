//===-- ColumnAction.h - Selecting and permuting index bits -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A ColumnAction picks some bits of one in dim of a layout, in some order. On a
// layout it selects bases. On an array of values indexed by that dim (the
// registers of a thread, in lowering) it moves the values accordingly, so that
// `action.apply(layout)` describes `action.apply(values)`.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LAYOUT_COLUMNACTION_H
#define TILE_LAYOUT_COLUMNACTION_H

#include "tile/Layout/LinearLayout.h"

namespace mlir::triton {

class ColumnAction {
public:
  /// New bit i is old bit `bits[i]`; old bits not named are fixed to 0.
  ColumnAction(llvm::ArrayRef<unsigned> bits, llvm::StringRef inDim,
               unsigned oldSizeLog2);
  static ColumnAction identity(llvm::StringRef inDim, unsigned sizeLog2);

  llvm::ArrayRef<unsigned> getBits() const { return bits; }
  bool isIdentity() const;
  bool isPermutation() const { return bits.size() == oldSizeLog2; }

  LinearLayout apply(const LinearLayout &layout) const;

  /// The old index that a new index stands for.
  uint64_t sourceIndex(uint64_t newIndex) const;

  /// Moves values: result[i] = values[sourceIndex(i)].
  template <typename T>
  llvm::SmallVector<T> apply(llvm::ArrayRef<T> values) const {
    assert(values.size() == size_t(1) << oldSizeLog2 && "wrong value count");
    llvm::SmallVector<T> result;
    result.reserve(size_t(1) << bits.size());
    for (uint64_t i = 0, e = uint64_t(1) << bits.size(); i < e; ++i)
      result.push_back(values[sourceIndex(i)]);
    return result;
  }
  template <typename T>
  llvm::SmallVector<T> apply(const llvm::SmallVectorImpl<T> &values) const {
    return apply(llvm::ArrayRef<T>(values));
  }

  /// First `this`, then `next`.
  ColumnAction then(const ColumnAction &next) const;
  /// Of a permutation.
  ColumnAction inverse() const;

  std::string toString() const;

private:
  llvm::SmallVector<unsigned> bits;
  llvm::StringRef inDim;
  unsigned oldSizeLog2;
};

/// Drops the register bits that hold copies: those that are free variables
/// among the register bases alone.
ColumnAction removeBroadcastedRegisters(const LinearLayout &layout);

/// Undoes removeBroadcastedRegisters on values: `values` has one entry per
/// distinct register of `layout`; the result one entry per register.
template <typename T>
llvm::SmallVector<T> broadcastRegisters(llvm::ArrayRef<T> values,
                                        const LinearLayout &layout);

/// Implementation of the above: for each register of `layout`, the index of the
/// distinct register that holds its value.
llvm::SmallVector<unsigned>
getDistinctRegisterIndices(const LinearLayout &layout);

template <typename T>
llvm::SmallVector<T> broadcastRegisters(llvm::ArrayRef<T> values,
                                        const LinearLayout &layout) {
  llvm::SmallVector<T> result;
  for (unsigned i : getDistinctRegisterIndices(layout))
    result.push_back(values[i]);
  return result;
}

/// Orders the register bits so that bit i of the action's result has basis
/// `wanted[i]` (flat); nullopt if some wanted basis is not among the register
/// bases. Bits not wanted follow in their order.
std::optional<ColumnAction>
moveRegisterBasesFirst(const LinearLayout &layout,
                       llvm::ArrayRef<uint64_t> wanted);

} // namespace mlir::triton

#endif // TILE_LAYOUT_COLUMNACTION_H
