//===-- InstructionDescriptor.cpp - What tcgen05.mma computes -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "nvidia/TritonNVIDIAGPUToLLVM/InstructionDescriptor.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia;

using Kind = TensorMma::Kind;

//===----------------------------------------------------------------------===//
// TensorMma
//===----------------------------------------------------------------------===//

unsigned TensorMma::getElementBits() const {
  switch (kind) {
  case Kind::F16:
    return 16;
  case Kind::TF32:
    return 32;
  case Kind::F8F6F4:
  case Kind::I8:
  case Kind::MXF8F6F4:
    return 8;
  case Kind::MXF4:
  case Kind::MXF4NVF4:
    return 4;
  }
  llvm_unreachable("no kind");
}

StringRef TensorMma::getSuffix() const {
  switch (kind) {
  case Kind::F16:
    return ".kind::f16";
  case Kind::TF32:
    return ".kind::tf32";
  case Kind::F8F6F4:
    return ".kind::f8f6f4";
  case Kind::I8:
    return ".kind::i8";
  case Kind::MXF8F6F4:
    return ".kind::mxf8f6f4.block_scale.block32";
  case Kind::MXF4:
    return ".kind::mxf4.block_scale.block32";
  case Kind::MXF4NVF4:
    return numScales == 4 ? ".kind::mxf4nvf4.block_scale.block16"
                          : ".kind::mxf4nvf4.block_scale.block32";
  }
  llvm_unreachable("no kind");
}

uint32_t TensorMma::getDescriptor(unsigned aScale, unsigned bScale) const {
  uint32_t word = aCode << 7 | bCode << 10 | unsigned(aTransposed) << 15 |
                  unsigned(bTransposed) << 16 | n / 8 << 17;
  if (!isScaled())
    return word | dCode << 4 | m / 16 << 24;
  return word | bScale << 4 | unsigned(!scalesAreE4M3) << 23 | m / 128 << 27 |
         aScale << 29;
}

std::string TensorMma::checkShape(bool twoBlocks) const {
  constexpr unsigned kMostColumns = 256;
  unsigned rows = twoBlocks ? m / 2 : m;
  bool hasRows = rows == 128 || (rows == 64 && (twoBlocks || !isScaled()));
  unsigned step = 8;
  // Bytes that lie along N come in larger pieces.
  if (bTransposed && getElementBits() == 8)
    step = 16;
  if (kind == Kind::I8 && n > 32)
    step = 16;
  if (twoBlocks)
    step = kind == Kind::I8 ? 32 : 2 * step;
  if (hasRows && n >= step && n % step == 0 && n <= kMostColumns)
    return {};
  return (llvm::Twine("tcgen05.mma") + getSuffix() + " of " +
          (twoBlocks ? "two blocks" : "one block") + " has no shape of " +
          llvm::Twine(m) + " rows and " + llvm::Twine(n) + " columns")
      .str();
}

//===----------------------------------------------------------------------===//
// Which instruction it takes
//===----------------------------------------------------------------------===//

namespace {
constexpr unsigned kE4M3 = 0, kE5M2 = 1, kE2M3 = 3, kE3M2 = 4, kE2M1 = 5;

std::optional<unsigned> getFp8Code(Type type) {
  if (isa<Float8E4M3FNType>(type))
    return kE4M3;
  if (isa<Float8E5M2Type>(type))
    return kE5M2;
  return std::nullopt;
}

std::optional<unsigned> getCode(ScaleDotElemType type) {
  switch (type) {
  case ScaleDotElemType::E4M3:
    return kE4M3;
  case ScaleDotElemType::E5M2:
    return kE5M2;
  case ScaleDotElemType::E2M3:
    return kE2M3;
  case ScaleDotElemType::E3M2:
    return kE3M2;
  case ScaleDotElemType::E2M1:
    return kE2M1;
  default:
    return std::nullopt;
  }
}
} // namespace

std::optional<TensorMma> nvidia::findTensorMma(Type a, Type b, Type d) {
  constexpr unsigned kF16Sum = 0, kF32Sum = 1, kI32Sum = 2;
  bool isF32 = d.isF32(), isF16 = d.isF16();
  unsigned sum = isF32 ? kF32Sum : kF16Sum;
  if (std::optional<unsigned> aCode = getFp8Code(a), bCode = getFp8Code(b);
      aCode && bCode && (isF32 || isF16))
    return TensorMma{Kind::F8F6F4, *aCode, *bCode, sum};
  if (a != b)
    return std::nullopt;
  if (a.isF16() && (isF32 || isF16))
    return TensorMma{Kind::F16, 0, 0, sum};
  if (a.isBF16() && isF32)
    return TensorMma{Kind::F16, 1, 1, sum};
  if (a.isF32() && isF32)
    return TensorMma{Kind::TF32, 2, 2, sum};
  constexpr unsigned kSignedCode = 1;
  if (a.isInteger(8) && d.isInteger(32))
    return TensorMma{Kind::I8, kSignedCode, kSignedCode, kI32Sum};
  return std::nullopt;
}

std::optional<TensorMma> nvidia::findScaledTensorMma(ScaleDotElemType a,
                                                     ScaleDotElemType b,
                                                     bool isPacked, Type scale,
                                                     unsigned perScale) {
  std::optional<unsigned> aCode = getCode(a), bCode = getCode(b);
  if (!aCode || !bCode)
    return std::nullopt;
  bool isE4M3 = isa<Float8E4M3FNType>(scale);
  if (!isE4M3 && !scale.isInteger(8))
    return std::nullopt;
  TensorMma mma{Kind::MXF8F6F4, *aCode, *bCode, 0};
  mma.scalesAreE4M3 = isE4M3;
  if (!isPacked) {
    if (isE4M3 || perScale != 32)
      return std::nullopt;
    mma.numScales = 1;
    return mma;
  }
  if (a != ScaleDotElemType::E2M1 || b != ScaleDotElemType::E2M1)
    return std::nullopt;
  // Of the types of mxf4 and mxf4nvf4, e2m1 is the only one.
  mma.aCode = mma.bCode = 1;
  if (perScale == 16) {
    mma.kind = Kind::MXF4NVF4;
    mma.numScales = 4;
    return mma;
  }
  if (isE4M3 || perScale != 32)
    return std::nullopt;
  mma.kind = Kind::MXF4;
  mma.numScales = 2;
  return mma;
}
