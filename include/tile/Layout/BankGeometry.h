//===-- BankGeometry.h - How shared memory serves a warp --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_LAYOUT_BANKGEOMETRY_H
#define TILE_LAYOUT_BANKGEOMETRY_H

namespace mlir::triton {

/// Shared memory as the lanes of a warp see it. `numBanks` banks serve a word
/// of `bankBytes` bytes each at a time. One instruction is served for as many
/// lanes at once as fill them. Both are powers of two.
struct BankGeometry {
  unsigned numBanks = 32;
  unsigned bankBytes = 4;

  bool operator==(const BankGeometry &) const = default;
};

} // namespace mlir::triton

#endif // TILE_LAYOUT_BANKGEOMETRY_H
