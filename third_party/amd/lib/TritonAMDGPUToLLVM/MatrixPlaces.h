//===-- MatrixPlaces.h - Where results of MFMA and WMMA are -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef AMD_TRITONAMDGPUTOLLVM_MATRIXPLACES_H
#define AMD_TRITONAMDGPUTOLLVM_MATRIXPLACES_H

#include "tile/Conversion/TritonGPUToLLVM/LayoutIndices.h"

namespace mlir::triton::amd {

/// `table`'s lookup for coordinates without or with a batch.
inline int32_t lookup(const RegisterTable &table, unsigned rank, int32_t batch,
                      int32_t row, int32_t column) {
  if (rank == 2)
    return table.lookup({row, column});
  return table.lookup({batch, row, column});
}

/// The registers of a result that one instruction computes, in its order:
/// `size` rows, or columns of a transposed result.
inline SmallVector<int32_t> getPlaces(const RegisterTable &table, unsigned rank,
                                      int32_t size, bool isTransposed,
                                      int32_t batch, int32_t m, int32_t n) {
  SmallVector<int32_t> places;
  unsigned dim = isTransposed ? rank - 1 : rank - 2;
  int32_t start = isTransposed ? n : m;
  for (int32_t at : table.getContributions(dim))
    if ((at & ~(size - 1)) == start)
      places.push_back(isTransposed ? lookup(table, rank, batch, m, at)
                                    : lookup(table, rank, batch, at, n));
  return places;
}

} // namespace mlir::triton::amd

#endif // AMD_TRITONAMDGPUTOLLVM_MATRIXPLACES_H
