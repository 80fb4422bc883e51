//===-- InstructionDescriptor.h - What tcgen05.mma computes -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The kind of an instruction is in its name. Its element types, its shape, and
// which operands lie along M or N, are in a word that it takes as an operand
// (PTX ISA, "Tcgen05 instruction descriptor").
//
//===----------------------------------------------------------------------===//
#ifndef NVIDIA_TRITONNVIDIAGPUTOLLVM_INSTRUCTIONDESCRIPTOR_H
#define NVIDIA_TRITONNVIDIAGPUTOLLVM_INSTRUCTIONDESCRIPTOR_H

#include "tile/Dialect/Triton/IR/Dialect.h"

#include "mlir/IR/Types.h"
#include <optional>
#include <string>

namespace mlir::triton::nvidia {

/// One tcgen05.mma.
struct TensorMma {
  enum class Kind { F16, TF32, F8F6F4, I8, MXF8F6F4, MXF4, MXF4NVF4 };

  Kind kind;
  /// The codes of the element types.
  unsigned aCode, bCode, dCode;
  /// Rows and columns. Of two blocks that multiply together, of both.
  unsigned m = 0, n = 0;
  bool aTransposed = false, bTransposed = false; ///< along M, along N
  /// Scales of each row of A, and of each column of B; zero: none.
  unsigned numScales = 0;
  bool scalesAreE4M3 = false; ///< else ue8m0

  bool isScaled() const { return numScales > 0; }
  /// Whether a byte of an operand has two elements.
  bool isPacked() const { return kind == Kind::MXF4 || kind == Kind::MXF4NVF4; }
  /// Bits of an element as the instruction reads it.
  unsigned getElementBits() const;
  /// Elements along K: 32 bytes of them.
  unsigned getK() const { return 256 / getElementBits(); }
  /// ".kind::f16", with what goes with it.
  StringRef getSuffix() const;

  /// The word. `aScale` and `bScale` are the first of the bytes, among the four
  /// of a column of tensor memory, that hold the scales.
  uint32_t getDescriptor(unsigned aScale = 0, unsigned bScale = 0) const;

  /// Why there is no instruction of this shape; empty where there is one.
  std::string checkShape(bool twoBlocks) const;
};

/// The code of bytes without a sign.
inline constexpr unsigned kUnsignedCode = 0;

/// The instruction for elements of these types, without its shape. Integers
/// have a sign.
std::optional<TensorMma> findTensorMma(Type a, Type b, Type d);

/// The instruction for elements with scales, of which one belongs to `perScale`
/// elements. `isPacked`: both operands have two e2m1 in a byte.
std::optional<TensorMma> findScaledTensorMma(ScaleDotElemType a,
                                             ScaleDotElemType b, bool isPacked,
                                             Type scale, unsigned perScale);

} // namespace mlir::triton::nvidia

#endif // NVIDIA_TRITONNVIDIAGPUTOLLVM_INSTRUCTIONDESCRIPTOR_H
