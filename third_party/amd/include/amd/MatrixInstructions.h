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

  /// Elements along K that a lane holds of an operand, in a machine of that
  /// version.
  unsigned getOperandElements(unsigned version) const;
  /// The version that the target's encodings have; 0 if it lacks all of them.
  static unsigned getVersion(const AMDTarget &target);
};

/// The instruction on the same elements in the other order.
const WaveMatrixInstruction &
getWithSwappedOperands(const WaveMatrixInstruction &instruction);

/// The instructions of the target on operands of types `a` and `b`, whose
/// results are of type `d`, the largest first. `relaxed` allows for fp32 what
/// keeps as many bits as tf32 does.
SmallVector<const WaveMatrixInstruction *>
getWaveMatrixInstructions(const AMDTarget &target, Type a, Type b, Type d,
                          bool relaxed);

} // namespace mlir::triton::amd

#endif // AMD_MATRIXINSTRUCTIONS_H
