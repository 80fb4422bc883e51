//===-- MatrixDescriptor.h - Operands of wgmma in shared memory -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// wgmma finds the elements of an operand by a rule with few parameters, which a
// 64-bit descriptor holds (PTX ISA, "Asynchronous warpgroup-level matrix
// shared memory layout"). Whether a buffer follows that rule is asked of its
// linear layout, so that the answer covers views, transposed ones and layouts
// without a name.
//
//===----------------------------------------------------------------------===//
#ifndef NVIDIA_TRITONNVIDIAGPUTOLLVM_MATRIXDESCRIPTOR_H
#define NVIDIA_TRITONNVIDIAGPUTOLLVM_MATRIXDESCRIPTOR_H

#include "tile/Layout/LinearLayout.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace mlir::triton::nvidia {

/// How one instruction finds its part of an operand, a matrix of M (or N) by K
/// elements.
struct MatrixDescriptor {
  /// All of the descriptor but the start address.
  uint64_t bits = 0;
  /// Whether neighbours along M (or N) are neighbours in memory, not those
  /// along K.
  bool isTransposed = false;
  /// The byte offsets that the bits of the two coordinates contribute: where
  /// the parts of the other instructions start.
  llvm::SmallVector<int32_t> outer, inner;

  /// Byte offset of the part that starts at these coordinates.
  int32_t getOffset(int32_t outerAt, int32_t innerAt) const;
};

/// The part of a buffer that one instruction reads.
struct MatrixTile {
  unsigned outerDim, innerDim;    ///< of the buffer: M or N, and K
  int64_t outerSize, innerSize;   ///< of the tile
  int64_t outerShape, innerShape; ///< of the view of the buffer
  unsigned elementBits;
};

/// The descriptor of tiles of a buffer laid out like `memory` (from offset to
/// coordinates); nothing if there is none.
std::optional<MatrixDescriptor>
matchMatrixDescriptor(const LinearLayout &memory, const MatrixTile &tile);

} // namespace mlir::triton::nvidia

#endif // NVIDIA_TRITONNVIDIAGPUTOLLVM_MATRIXDESCRIPTOR_H
