//===-- ConvertBytes.cpp - Integers of 8 bits to floats -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The machine converts integers of 32 bits to f32 at full rate. Integers of 8
// bits, and all that become 16 bits, take four times as long. All results here
// are exact:
//
// - As low bits of an f16 or bf16 whose steps are one, a byte is added to that
//   number, which is subtracted again. These are bitwise operations, which
//   pack-bitwise does for two elements at once. A bf16 has room for seven bits:
//   the eighth is in a second number. Wider integers are bytes, too, where
//   their value is known to be as small: weights of four bits are.
// - Integers of 8 bits go to f32, and to bf16 without arithmetic, through 32
//   bits.
//
// LLVM would undo this, so it comes after LLVM's passes.
//
//===----------------------------------------------------------------------===//

#include "nvidia/Target/ConvertBytes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/KnownBits.h"

#include <optional>

using namespace llvm;

namespace {
/// 1024 as f16: its steps are one.
constexpr uint64_t kF16Base = 0x6400;
/// 128 as bf16, whose steps are one; with the eighth bit it is 256.
constexpr uint64_t kBF16Base = 0x4300;
constexpr uint64_t kTopBit = 0x80;
constexpr unsigned kBitsOfByte = 8;

/// An integer of which the low eight bits say all.
struct Byte {
  Value *integer;
  bool isSigned;
};

/// The byte that an integer is; nothing for one that may be larger.
std::optional<Byte> getByte(const CastInst &cast, const DataLayout &layout) {
  Value *integer = cast.getOperand(0);
  bool isSigned = cast.getOpcode() == Instruction::SIToFP;
  unsigned bits = integer->getType()->getScalarSizeInBits();
  if (!integer->getType()->isIntegerTy() || bits > 32 || bits < kBitsOfByte)
    return std::nullopt;
  if (bits == kBitsOfByte)
    return Byte{integer, isSigned};
  if (computeKnownBits(integer, layout).countMaxActiveBits() <= kBitsOfByte)
    return Byte{integer, false};
  if (isSigned && ComputeNumSignBits(integer, layout) > bits - kBitsOfByte)
    return Byte{integer, true};
  return std::nullopt;
}

/// The bits of a byte, in an integer of 16 bits whose others are zero.
Value *getBits(IRBuilder<> &b, Byte byte) {
  Value *bits = b.CreateZExtOrTrunc(byte.integer, b.getInt16Ty());
  bool isExtended = byte.integer->getType()->isIntegerTy(kBitsOfByte);
  return byte.isSigned && !isExtended ? b.CreateAnd(bits, 0xff) : bits;
}

/// A byte with its top bit turned is the signed integer, plus 128.
Value *byteToF16(IRBuilder<> &b, Byte byte) {
  uint64_t base = kF16Base | (byte.isSigned ? kTopBit : 0);
  Value *bits = b.CreateXor(getBits(b, byte), base);
  Value *number = b.CreateBitCast(bits, b.getHalfTy());
  return b.CreateFSub(
      number,
      ConstantFP::get(b.getHalfTy(), byte.isSigned ? 1024 + 128 : 1024));
}

/// 128 and the low bits, minus 128 or 256. For an unsigned integer the top bit
/// is turned, which leaves it too small by 128.
Value *byteToBF16(IRBuilder<> &b, Byte byte) {
  Value *bits = getBits(b, byte);
  Value *low = b.CreateOr(b.CreateAnd(bits, kTopBit - 1), kBF16Base);
  Value *top = b.CreateXor(b.CreateAnd(bits, kTopBit),
                           kBF16Base | (byte.isSigned ? 0 : kTopBit));
  Type *type = b.getBFloatTy();
  Value *number =
      b.CreateFSub(b.CreateBitCast(low, type), b.CreateBitCast(top, type));
  return byte.isSigned ? number
                       : b.CreateFAdd(number, ConstantFP::get(type, 128));
}

Value *byteToF32(IRBuilder<> &b, Byte byte) {
  Type *word = b.getInt32Ty();
  return b.CreateIntrinsic(
      byte.isSigned ? Intrinsic::nvvm_i2f_rn : Intrinsic::nvvm_ui2f_rn, {},
      {byte.isSigned ? b.CreateSExt(byte.integer, word)
                     : b.CreateZExt(byte.integer, word)});
}

/// The float of a byte; null for types that have no faster way.
Value *convert(IRBuilder<> &b, Byte byte, Type *type, bool hasBF16Arithmetic) {
  if (type->isHalfTy())
    return byteToF16(b, byte);
  if (type->isBFloatTy() && hasBF16Arithmetic)
    return byteToBF16(b, byte);
  // LLVM converts wider integers to f32 with the same instruction.
  if (!byte.integer->getType()->isIntegerTy(kBitsOfByte))
    return nullptr;
  if (type->isFloatTy())
    return byteToF32(b, byte);
  if (type->isBFloatTy())
    return b.CreateFPTrunc(byteToF32(b, byte), type);
  return nullptr;
}
} // namespace

void mlir::triton::nvidia::convertBytes(Module &module,
                                        bool hasBF16Arithmetic) {
  const llvm::DataLayout &layout = module.getDataLayout();
  for (Function &function : module)
    for (Instruction &inst : make_early_inc_range(instructions(function))) {
      auto *cast = dyn_cast<CastInst>(&inst);
      if (!isa<SIToFPInst, UIToFPInst>(inst))
        continue;
      std::optional<Byte> byte = getByte(*cast, layout);
      if (!byte)
        continue;
      IRBuilder<> builder(cast);
      if (llvm::Value *made =
              convert(builder, *byte, cast->getType(), hasBF16Arithmetic)) {
        cast->replaceAllUsesWith(made);
        cast->eraseFromParent();
      }
    }
}
