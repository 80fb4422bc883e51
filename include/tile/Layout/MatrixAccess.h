//===-- MatrixAccess.h - ldmatrix and stmatrix as layouts -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// ldmatrix moves 8x8 matrices of 16-bit values from shared memory to the lanes
// of a warp, stmatrix back. A matrix is eight rows of 16 bytes; lane 8 m + j
// gives the address of row j of matrix m. Lane l receives, as 32 bits for each
// matrix, the values 2 (l % 4) and 2 (l % 4) + 1 of row l / 4; transposed, it
// is of column l / 4.
//
// Where elements are bytes, a transposed value is of two columns. Two matrices
// have four rows of both, which prmt sorts by columns.
//
// GPUs since sm_100 have instructions for bytes, too, transposed. Lane l has 32
// bits of columns l / 4 and l / 4 + 8: two rows of each. A matrix has eight
// rows for a store, and sixteen for a load, of which a lane gets four.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LAYOUT_MATRIXACCESS_H
#define TILE_LAYOUT_MATRIXACCESS_H

#include "tile/Layout/ColumnAction.h"
#include "tile/Layout/LinearLayout.h"

namespace mlir::triton {

struct MatrixAccess {
  bool transposed;
  /// One instruction moves 2^matricesLog2 matrices: 1, 2 or 4.
  unsigned matricesLog2;
  /// Elements in the 32 bits that a lane gets of one matrix: 2^packLog2.
  unsigned packLog2;
  /// After this, the low packLog2 register bits are the elements of one 32-bit
  /// value. The next matricesLog2 bits choose the matrix. Each value of the
  /// bits above is one instruction.
  ColumnAction registers;
  /// (lane, warp, block) -> offset of the row whose address the lane gives, for
  /// the first instruction. Those of later instructions differ by the offset
  /// (xor) of their first register.
  LinearLayout rowOffsets;
  /// How many times an instruction accesses the banks; 2^matricesLog2 is best.
  unsigned wavefronts;
  /// Of bytes, transposed: each two matrices are sorted into two 32-bit values,
  /// the even bytes of both and the odd ones. In lanes whose bit 1 is set, the
  /// first matrix has the upper half of these values, so that the rows of a
  /// matrix are in different banks.
  bool sortsBytes = false;
  /// Bytes, by the instructions for these. A matrix of a load is two here: one
  /// for each 32 bits that a lane gets.
  bool movesBytes = false;

  unsigned getNumElements() const { return 1u << (packLog2 + matricesLog2); }
};

/// Whether accesses with these offsets (see getOffsetLayout in SharedMemory.h;
/// without register copies) are what ldmatrix or stmatrix does.
/// `maxMatrices` is 1, 2 or 4.
std::optional<MatrixAccess> getMatrixAccess(const LinearLayout &offsets,
                                            unsigned elemBits, bool transposed,
                                            unsigned maxMatrices = 4);

/// The same for elements of 8 bits and the instructions for bytes.
std::optional<MatrixAccess> getByteMatrixAccess(const LinearLayout &offsets,
                                                bool isLoad);

} // namespace mlir::triton

#endif // TILE_LAYOUT_MATRIXACCESS_H
