//===-- MatrixPlaces.h - Where results of MFMA and WMMA are -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef AMD_TRITONAMDGPUTOLLVM_MATRIXPLACES_H
#define AMD_TRITONAMDGPUTOLLVM_MATRIXPLACES_H

#include "tile/Conversion/TritonGPUToLLVM/LayoutIndices.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"

namespace mlir::triton::amd {

/// `table`'s lookup for coordinates without or with a batch.
inline int32_t lookup(const RegisterTable &table, unsigned rank, int32_t batch,
                      int32_t row, int32_t column) {
  if (rank == 2)
    return table.lookup({row, column});
  return table.lookup({batch, row, column});
}

/// What the registers of an instruction's result, in its order, add to the
/// coordinate along `dim`, of which it computes `size`. A tensor that is
/// smaller repeats itself in the instruction.
inline SmallVector<int32_t> getSteps(RankedTensorType result, unsigned dim,
                                     int32_t size) {
  SmallVector<int64_t> shape(result.getShape());
  shape[dim] = std::max<int64_t>(shape[dim], size);
  RegisterTable table(gpu::toLinearLayout(shape, result.getEncoding()));
  SmallVector<int32_t> steps;
  for (int32_t at : table.getContributions(dim))
    if (at < size)
      steps.push_back(at);
  return steps;
}

/// The registers of a result that one instruction computes, in its order:
/// `size` rows, or columns of a transposed result, from that of `m` or `n` on.
inline SmallVector<int32_t> getPlaces(const RegisterTable &table,
                                      RankedTensorType result, int32_t size,
                                      bool isTransposed, int32_t batch,
                                      int32_t m, int32_t n) {
  unsigned rank = result.getRank();
  unsigned dim = isTransposed ? rank - 1 : rank - 2;
  int32_t extent = result.getDimSize(dim);
  SmallVector<int32_t> places;
  for (int32_t step : getSteps(result, dim, size)) {
    int32_t at = ((isTransposed ? n : m) + step) & (extent - 1);
    places.push_back(isTransposed ? lookup(table, rank, batch, m, at)
                                  : lookup(table, rank, batch, at, n));
  }
  return places;
}

} // namespace mlir::triton::amd

#endif // AMD_TRITONAMDGPUTOLLVM_MATRIXPLACES_H
