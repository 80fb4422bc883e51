//===-- MatrixInstructions.cpp - MFMA and WMMA ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "amd/MatrixInstructions.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace mlir::triton::amd;
using Element = WaveMatrixInstruction::Element;

namespace {
// The tables list, for each pair of operands, larger ones first.
constexpr WaveMatrixInstruction kInstructions[] = {
    // CDNA. Version 4 doubles K where elements are small.
    {"llvm.amdgcn.mfma.f32.32x32x16.f16", true, 4, 4, 32, 32, 16, Element::F16,
     Element::F16},
    {"llvm.amdgcn.mfma.f32.16x16x32.f16", true, 4, 4, 16, 16, 32, Element::F16,
     Element::F16},
    {"llvm.amdgcn.mfma.f32.32x32x8f16", true, 2, 4, 32, 32, 8, Element::F16,
     Element::F16},
    {"llvm.amdgcn.mfma.f32.16x16x16f16", true, 2, 4, 16, 16, 16, Element::F16,
     Element::F16},
    {"llvm.amdgcn.mfma.f32.32x32x16.bf16", true, 4, 4, 32, 32, 16,
     Element::BF16, Element::BF16},
    {"llvm.amdgcn.mfma.f32.16x16x32.bf16", true, 4, 4, 16, 16, 32,
     Element::BF16, Element::BF16},
    {"llvm.amdgcn.mfma.f32.32x32x8bf16.1k", true, 2, 4, 32, 32, 8,
     Element::BF16, Element::BF16},
    {"llvm.amdgcn.mfma.f32.16x16x16bf16.1k", true, 2, 4, 16, 16, 16,
     Element::BF16, Element::BF16},
    {"llvm.amdgcn.mfma.f32.32x32x4.xf32", true, 3, 3, 32, 32, 4, Element::XF32,
     Element::XF32},
    {"llvm.amdgcn.mfma.f32.16x16x8.xf32", true, 3, 3, 16, 16, 8, Element::XF32,
     Element::XF32},
    {"llvm.amdgcn.mfma.f32.32x32x2f32", true, 2, 4, 32, 32, 2, Element::F32,
     Element::F32},
    {"llvm.amdgcn.mfma.f32.16x16x4f32", true, 2, 4, 16, 16, 4, Element::F32,
     Element::F32},
    {"llvm.amdgcn.mfma.f64.16x16x4f64", true, 2, 4, 16, 16, 4, Element::F64,
     Element::F64},
    {"llvm.amdgcn.mfma.i32.32x32x32.i8", true, 4, 4, 32, 32, 32, Element::I8,
     Element::I8},
    {"llvm.amdgcn.mfma.i32.16x16x64.i8", true, 4, 4, 16, 16, 64, Element::I8,
     Element::I8},
    {"llvm.amdgcn.mfma.i32.32x32x16.i8", true, 3, 4, 32, 32, 16, Element::I8,
     Element::I8},
    {"llvm.amdgcn.mfma.i32.16x16x32.i8", true, 3, 4, 16, 16, 32, Element::I8,
     Element::I8},
    {"llvm.amdgcn.mfma.i32.32x32x8i8", true, 2, 2, 32, 32, 8, Element::I8,
     Element::I8},
    {"llvm.amdgcn.mfma.i32.16x16x16i8", true, 2, 2, 16, 16, 16, Element::I8,
     Element::I8},
    {"llvm.amdgcn.mfma.scale.f32.32x32x64.f8f6f4", true, 4, 4, 32, 32, 64,
     Element::FP8, Element::FP8},
    {"llvm.amdgcn.mfma.scale.f32.16x16x128.f8f6f4", true, 4, 4, 16, 16, 128,
     Element::FP8, Element::FP8},
    {"llvm.amdgcn.mfma.f32.32x32x16.fp8.fp8", true, 3, 4, 32, 32, 16,
     Element::FP8, Element::FP8},
    {"llvm.amdgcn.mfma.f32.16x16x32.fp8.fp8", true, 3, 4, 16, 16, 32,
     Element::FP8, Element::FP8},
    {"llvm.amdgcn.mfma.scale.f32.32x32x64.f8f6f4", true, 4, 4, 32, 32, 64,
     Element::FP8, Element::BF8},
    {"llvm.amdgcn.mfma.scale.f32.16x16x128.f8f6f4", true, 4, 4, 16, 16, 128,
     Element::FP8, Element::BF8},
    {"llvm.amdgcn.mfma.f32.32x32x16.fp8.bf8", true, 3, 4, 32, 32, 16,
     Element::FP8, Element::BF8},
    {"llvm.amdgcn.mfma.f32.16x16x32.fp8.bf8", true, 3, 4, 16, 16, 32,
     Element::FP8, Element::BF8},
    {"llvm.amdgcn.mfma.scale.f32.32x32x64.f8f6f4", true, 4, 4, 32, 32, 64,
     Element::BF8, Element::FP8},
    {"llvm.amdgcn.mfma.scale.f32.16x16x128.f8f6f4", true, 4, 4, 16, 16, 128,
     Element::BF8, Element::FP8},
    {"llvm.amdgcn.mfma.f32.32x32x16.bf8.fp8", true, 3, 4, 32, 32, 16,
     Element::BF8, Element::FP8},
    {"llvm.amdgcn.mfma.f32.16x16x32.bf8.fp8", true, 3, 4, 16, 16, 32,
     Element::BF8, Element::FP8},
    {"llvm.amdgcn.mfma.scale.f32.32x32x64.f8f6f4", true, 4, 4, 32, 32, 64,
     Element::BF8, Element::BF8},
    {"llvm.amdgcn.mfma.scale.f32.16x16x128.f8f6f4", true, 4, 4, 16, 16, 128,
     Element::BF8, Element::BF8},
    {"llvm.amdgcn.mfma.f32.32x32x16.bf8.bf8", true, 3, 4, 32, 32, 16,
     Element::BF8, Element::BF8},
    {"llvm.amdgcn.mfma.f32.16x16x32.bf8.bf8", true, 3, 4, 16, 16, 32,
     Element::BF8, Element::BF8},
    // Narrow ones.
    {"llvm.amdgcn.mfma.f32.4x4x4f16", true, 2, 4, 4, 64, 64, Element::F16,
     Element::F16},
    {"llvm.amdgcn.mfma.f32.4x4x4f16", true, 2, 4, 64, 4, 64, Element::F16,
     Element::F16},
    {"llvm.amdgcn.mfma.f32.4x4x4bf16.1k", true, 2, 4, 4, 64, 64, Element::BF16,
     Element::BF16},
    {"llvm.amdgcn.mfma.f32.4x4x4bf16.1k", true, 2, 4, 64, 4, 64, Element::BF16,
     Element::BF16},
    {"llvm.amdgcn.mfma.f32.4x4x1f32", true, 3, 3, 4, 64, 16, Element::XF32,
     Element::XF32},
    {"llvm.amdgcn.mfma.f32.4x4x1f32", true, 3, 3, 64, 4, 16, Element::XF32,
     Element::XF32},
    {"llvm.amdgcn.mfma.f32.4x4x1f32", true, 2, 4, 4, 64, 16, Element::F32,
     Element::F32},
    {"llvm.amdgcn.mfma.f32.4x4x1f32", true, 2, 4, 64, 4, 16, Element::F32,
     Element::F32},
    {"llvm.amdgcn.mfma.i32.4x4x4i8", true, 2, 4, 4, 64, 64, Element::I8,
     Element::I8},
    {"llvm.amdgcn.mfma.i32.4x4x4i8", true, 2, 4, 64, 4, 64, Element::I8,
     Element::I8},
    // RDNA.
    {"llvm.amdgcn.wmma.f32.16x16x16.f16", false, 1, 2, 16, 16, 16, Element::F16,
     Element::F16},
    {"llvm.amdgcn.wmma.f32.16x16x16.bf16", false, 1, 2, 16, 16, 16,
     Element::BF16, Element::BF16},
    {"llvm.amdgcn.wmma.i32.16x16x16.iu8", false, 1, 2, 16, 16, 16, Element::I8,
     Element::I8},
    {"llvm.amdgcn.wmma.f32.16x16x16.fp8.fp8", false, 2, 2, 16, 16, 16,
     Element::FP8, Element::FP8},
    {"llvm.amdgcn.wmma.f32.16x16x16.fp8.bf8", false, 2, 2, 16, 16, 16,
     Element::FP8, Element::BF8},
    {"llvm.amdgcn.wmma.f32.16x16x16.bf8.fp8", false, 2, 2, 16, 16, 16,
     Element::BF8, Element::FP8},
    {"llvm.amdgcn.wmma.f32.16x16x16.bf8.bf8", false, 2, 2, 16, 16, 16,
     Element::BF8, Element::BF8},
    {"llvm.amdgcn.wmma.f32.16x16x4.f32", false, 3, 3, 16, 16, 4, Element::F32,
     Element::F32},
    {"llvm.amdgcn.wmma.f32.16x16x32.f16", false, 3, 3, 16, 16, 32, Element::F16,
     Element::F16},
    {"llvm.amdgcn.wmma.f32.16x16x32.bf16", false, 3, 3, 16, 16, 32,
     Element::BF16, Element::BF16},
    {"llvm.amdgcn.wmma.i32.16x16x64.iu8", false, 3, 3, 16, 16, 64, Element::I8,
     Element::I8},
    {"llvm.amdgcn.wmma.f32.16x16x128.fp8.fp8", false, 3, 3, 16, 16, 128,
     Element::FP8, Element::FP8},
    {"llvm.amdgcn.wmma.f32.16x16x64.fp8.fp8", false, 3, 3, 16, 16, 64,
     Element::FP8, Element::FP8},
    {"llvm.amdgcn.wmma.f32.16x16x128.fp8.bf8", false, 3, 3, 16, 16, 128,
     Element::FP8, Element::BF8},
    {"llvm.amdgcn.wmma.f32.16x16x64.fp8.bf8", false, 3, 3, 16, 16, 64,
     Element::FP8, Element::BF8},
    {"llvm.amdgcn.wmma.f32.16x16x128.bf8.fp8", false, 3, 3, 16, 16, 128,
     Element::BF8, Element::FP8},
    {"llvm.amdgcn.wmma.f32.16x16x64.bf8.fp8", false, 3, 3, 16, 16, 64,
     Element::BF8, Element::FP8},
    {"llvm.amdgcn.wmma.f32.16x16x128.bf8.bf8", false, 3, 3, 16, 16, 128,
     Element::BF8, Element::BF8},
    {"llvm.amdgcn.wmma.f32.16x16x64.bf8.bf8", false, 3, 3, 16, 16, 64,
     Element::BF8, Element::BF8},
};

constexpr ScaledMatrixInstruction kScaledInstructions[] = {
    {"llvm.amdgcn.mfma.scale.f32.32x32x64.f8f6f4", 32, 64},
    {"llvm.amdgcn.mfma.scale.f32.16x16x128.f8f6f4", 16, 128},
};

/// What the elements of type `type` are to the target's instructions.
std::optional<Element> getElement(const AMDTarget &target, Type type,
                                  bool relaxed) {
  if (type.isF64())
    return Element::F64;
  if (type.isF32())
    return relaxed && target.hasXF32 ? Element::XF32 : Element::F32;
  if (type.isF16())
    return Element::F16;
  if (type.isBF16())
    return Element::BF16;
  if (type.isInteger(8))
    return Element::I8;
  if (target.hasFNUZ ? isa<Float8E4M3FNUZType>(type)
                     : isa<Float8E4M3FNType>(type))
    return Element::FP8;
  if (target.hasFNUZ ? isa<Float8E5M2FNUZType>(type)
                     : isa<Float8E5M2Type>(type))
    return Element::BF8;
  return std::nullopt;
}

bool isResult(Element operand, Type type) {
  switch (operand) {
  case Element::F64:
    return type.isF64();
  case Element::I8:
    return type.isInteger(32);
  default:
    return type.isF32();
  }
}
} // namespace

unsigned WaveMatrixInstruction::getOperandElements(unsigned version) const {
  if (isMFMA)
    return std::min(m, n) * k / 64;
  // The halves of a wave hold the same in version 1.
  return version == 1 ? k : k / 2;
}

unsigned WaveMatrixInstruction::getVersion(const AMDTarget &target) {
  return target.mfmaVersion ? target.mfmaVersion : target.wmmaVersion;
}

const WaveMatrixInstruction &
triton::amd::getWithSwappedOperands(const WaveMatrixInstruction &instruction) {
  for (const WaveMatrixInstruction &other : kInstructions)
    if (other.isMFMA == instruction.isMFMA &&
        other.firstVersion == instruction.firstVersion &&
        other.m == instruction.m && other.k == instruction.k &&
        other.a == instruction.b && other.b == instruction.a)
      return other;
  llvm_unreachable("the formats of 8 bits are mixed in every way");
}

SmallVector<const WaveMatrixInstruction *>
triton::amd::getWaveMatrixInstructions(const AMDTarget &target, Type a, Type b,
                                       Type d, bool relaxed) {
  SmallVector<const WaveMatrixInstruction *> result;
  std::optional<Element> left = getElement(target, a, relaxed),
                         right = getElement(target, b, relaxed);
  if (!left || !right || !isResult(*left, d))
    return result;
  unsigned version = WaveMatrixInstruction::getVersion(target);
  bool isMFMA = target.mfmaVersion;
  for (const WaveMatrixInstruction &instruction : kInstructions)
    if (instruction.isMFMA == isMFMA && instruction.firstVersion <= version &&
        version <= instruction.lastVersion && instruction.a == *left &&
        instruction.b == *right)
      result.push_back(&instruction);
  return result;
}

ArrayRef<ScaledMatrixInstruction>
triton::amd::getScaledMatrixInstructions(const AMDTarget &target) {
  if (target.mfmaVersion >= 4)
    return kScaledInstructions;
  return {};
}
