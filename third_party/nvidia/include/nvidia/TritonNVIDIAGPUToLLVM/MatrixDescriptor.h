//===-- MatrixDescriptor.h - Operands in shared memory ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// wgmma and tcgen05 find the elements of an operand by a rule with few
// parameters. A 64-bit descriptor holds these (PTX ISA, "Asynchronous
// warpgroup-level matrix shared memory layout", "Tcgen05 shared memory
// descriptor"). The linear layout of a buffer tells whether it follows that
// rule. So the answer covers views, transposed ones and layouts without a name.
//
//===----------------------------------------------------------------------===//
#ifndef NVIDIA_TRITONNVIDIAGPUTOLLVM_MATRIXDESCRIPTOR_H
#define NVIDIA_TRITONNVIDIAGPUTOLLVM_MATRIXDESCRIPTOR_H

#include "tile/Conversion/TritonGPUToLLVM/LLVMBuilder.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
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

/// What reads operands by descriptors.
enum class MatrixUnit {
  WarpGroup,   ///< wgmma
  TensorMemory ///< tcgen05
};

/// The part of a buffer that one instruction reads.
struct MatrixTile {
  unsigned outerDim, innerDim;    ///< of the buffer: M or N, and K
  int64_t outerSize, innerSize;   ///< of the tile
  int64_t outerShape, innerShape; ///< of the view of the buffer
  unsigned elementBits;
  /// Pairs of 4-bit elements, along K: 8 bytes of them and 8 bytes that nobody
  /// uses take turns. The unit takes each element for a byte. Sizes along K
  /// count pairs.
  bool isPadded4 = false;
  /// Whether the unit can read rows of M or N, where the size of elements does
  /// not decide it.
  bool mayBeTransposed = true;
};

/// The descriptor of tiles whose elements are at these byte offsets, by the
/// bits of the outer and of the inner coordinate; nothing if there is none.
std::optional<MatrixDescriptor>
matchMatrixDescriptor(llvm::ArrayRef<int32_t> outer,
                      llvm::ArrayRef<int32_t> inner, const MatrixTile &tile,
                      MatrixUnit unit);

/// The descriptor of tiles of a buffer laid out like `memory` (from offset to
/// coordinates); nothing if there is none.
std::optional<MatrixDescriptor>
matchMatrixDescriptor(const LinearLayout &memory, const MatrixTile &tile,
                      MatrixUnit unit);

/// The descriptor of the tile at the origin of a buffer that was converted;
/// `offset` bytes further on, unless that is null.
Value emitMatrixDescriptor(const LLVMBuilder &b, Value converted,
                           gpu::MemDescType type,
                           const MatrixDescriptor &descriptor,
                           Value offset = {});

} // namespace mlir::triton::nvidia

#endif // NVIDIA_TRITONNVIDIAGPUTOLLVM_MATRIXDESCRIPTOR_H
