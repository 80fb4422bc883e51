//===-- ScaledMma.h - mma.sync with block scales ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef NVIDIA_SCALEDMMA_H
#define NVIDIA_SCALEDMMA_H

#include "nvidia/TargetTable.h"
#include "tile/Dialect/Triton/IR/Dialect.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace mlir::triton::nvidia {

/// An m16n8 instruction whose operands have scales.
struct ScaledMma {
  static constexpr int64_t m = 16, n = 8;

  NVVM::MMABlockScaleKind kind;
  NVVM::BlockScaleFormat scale;
  /// Elements along K, and how many scales a row of them has.
  int64_t k;
  unsigned groups;

  /// Whether two e2m1 are in a byte; else each element has a byte.
  bool isPacked() const { return kind != NVVM::MMABlockScaleKind::MXF8F6F4; }
  /// Elements that a thread gives in one register.
  unsigned perRegister() const { return isPacked() ? 8 : 4; }
  /// The bits of a scale of one.
  int64_t one() const {
    return scale == NVVM::BlockScaleFormat::UE8M0 ? 0x7F : 0x38;
  }
};

/// Elements in each byte of an operand of tt.dot_scaled.
inline unsigned elementsOfByte(ScaleDotElemType format) {
  return format == ScaleDotElemType::E2M1 ? 2 : 1;
}

/// The instruction that computes `op`, whatever the layouts; none where the
/// target or the dot has what there is no instruction for.
std::optional<ScaledMma> findScaledMma(DotScaledOp op,
                                       const NVIDIATarget &facts);

} // namespace mlir::triton::nvidia

#endif // NVIDIA_SCALEDMMA_H
