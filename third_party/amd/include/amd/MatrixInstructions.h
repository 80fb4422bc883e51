//===-- MatrixInstructions.h - MFMA and WMMA --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef AMD_MATRIXINSTRUCTIONS_H
#define AMD_MATRIXINSTRUCTIONS_H

#include "amd/TargetTable.h"
#include "mlir/IR/Types.h"

namespace mlir::triton::amd {

/// One instruction, which a wave executes: d = a * b + d.
struct WaveMatrixInstruction {
  enum class Element { F64, F32, XF32, F16, BF16, FP8, BF8, I8 };

  /// LLVM's intrinsic, without the types it is overloaded on.
  const char *intrinsic;
  /// MFMA, of waves of 64, or WMMA, of waves of 32.
  bool isMFMA;
  /// Versions of the encodings (and so, of the machines) that have it.
  unsigned firstVersion, lastVersion;
  unsigned m, n, k;
  Element a, b;

  /// Whether the instruction multiplies 16 blocks of 4x4. All blocks share one
  /// operand, of 4 rows or columns; each lane holds other elements of it along
  /// K. The machine takes one instruction for each block: in it, all blocks
  /// read what the lanes of this block hold. The other operand and the result
  /// have 64 columns or rows, one in each lane.
  bool isNarrow() const { return isMFMA && m != n; }
  /// Elements along K that a lane holds of an operand, in a machine of that
  /// version; of narrow ones, those of one instruction of the machine.
  unsigned getOperandElements(unsigned version) const;
  /// The version that the target's encodings have; 0 if it lacks all of them.
  static unsigned getVersion(const AMDTarget &target);
};

/// The instruction on the same elements in the other order.
const WaveMatrixInstruction &
getWithSwappedOperands(const WaveMatrixInstruction &instruction);

/// The instructions of the target on operands of types `a` and `b`, whose
/// results are of type `d`, the largest first, narrow ones last. `relaxed`
/// allows for fp32 what keeps as many bits as tf32 does.
SmallVector<const WaveMatrixInstruction *>
getWaveMatrixInstructions(const AMDTarget &target, Type a, Type b, Type d,
                          bool relaxed);

/// An instruction on elements of 4 to 8 bits, each operand in a format of its
/// own, with scales: d = (a * scale of a) * (b * scale of b) + d. Results are
/// of fp32.
struct ScaledMatrixInstruction {
  /// LLVM's intrinsic, without the types it is overloaded on.
  const char *intrinsic;
  /// Rows, which are as many as columns, and what is between.
  unsigned m, k;
};

/// Elements along K that share a scale.
constexpr int64_t kElementsOfScale = 32;

/// Those of the target, the largest first.
ArrayRef<ScaledMatrixInstruction>
getScaledMatrixInstructions(const AMDTarget &target);

} // namespace mlir::triton::amd

#endif // AMD_MATRIXINSTRUCTIONS_H
