//===-- ConvertBytes.cpp - Integers of 8 bits to floats -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The machine converts integers of 32 bits to f32 at full rate, and those of 8
// bits at a quarter of it. All results here are exact:
//
// - As low bits of an f16 or bf16 whose steps are one, the integer is added to
//   that number, which is subtracted again. These are bitwise operations, which
//   pack-bitwise does for two elements at once. A bf16 has room for seven bits:
//   the eighth is in a second number.
// - They go to f32, and to bf16 without arithmetic, through 32 bits.
//
// LLVM would undo this, so it comes after LLVM's passes.
//
//===----------------------------------------------------------------------===//

#include "nvidia/Target/ConvertBytes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace {
/// 1024 as f16: its steps are one.
constexpr uint64_t kF16Base = 0x6400;
/// 128 as bf16, whose steps are one; with the eighth bit it is 256.
constexpr uint64_t kBF16Base = 0x4300;
constexpr uint64_t kTopBit = 0x80;

/// A byte with its top bit turned is the signed integer, plus 128.
Value *byteToF16(IRBuilder<> &b, Value *byte, bool isSigned) {
  uint64_t base = kF16Base | (isSigned ? kTopBit : 0);
  Value *bits = b.CreateXor(b.CreateZExt(byte, b.getInt16Ty()), base);
  Value *number = b.CreateBitCast(bits, b.getHalfTy());
  return b.CreateFSub(
      number, ConstantFP::get(b.getHalfTy(), isSigned ? 1024 + 128 : 1024));
}

/// 128 and the low bits, minus 128 or 256. For an unsigned integer the top bit
/// is turned, which leaves it too small by 128.
Value *byteToBF16(IRBuilder<> &b, Value *byte, bool isSigned) {
  Value *bits = b.CreateZExt(byte, b.getInt16Ty());
  Value *low = b.CreateOr(b.CreateAnd(bits, kTopBit - 1), kBF16Base);
  Value *top = b.CreateXor(b.CreateAnd(bits, kTopBit),
                           kBF16Base | (isSigned ? 0 : kTopBit));
  Type *type = b.getBFloatTy();
  Value *number =
      b.CreateFSub(b.CreateBitCast(low, type), b.CreateBitCast(top, type));
  return isSigned ? number : b.CreateFAdd(number, ConstantFP::get(type, 128));
}

Value *byteToF32(IRBuilder<> &b, Value *byte, bool isSigned) {
  Type *word = b.getInt32Ty();
  return b.CreateIntrinsic(
      isSigned ? Intrinsic::nvvm_i2f_rn : Intrinsic::nvvm_ui2f_rn, {},
      {isSigned ? b.CreateSExt(byte, word) : b.CreateZExt(byte, word)});
}

/// The float of a byte; null for types that have no faster way.
Value *convert(IRBuilder<> &b, const CastInst &cast, bool hasBF16Arithmetic) {
  Value *byte = cast.getOperand(0);
  Type *type = cast.getType();
  bool isSigned = cast.getOpcode() == Instruction::SIToFP;
  if (type->isHalfTy())
    return byteToF16(b, byte, isSigned);
  if (type->isBFloatTy() && hasBF16Arithmetic)
    return byteToBF16(b, byte, isSigned);
  if (type->isFloatTy())
    return byteToF32(b, byte, isSigned);
  if (type->isBFloatTy())
    return b.CreateFPTrunc(byteToF32(b, byte, isSigned), type);
  return nullptr;
}
} // namespace

void mlir::triton::nvidia::convertBytes(Module &module,
                                        bool hasBF16Arithmetic) {
  for (Function &function : module)
    for (Instruction &inst : make_early_inc_range(instructions(function))) {
      auto *cast = dyn_cast<CastInst>(&inst);
      if (!isa<SIToFPInst, UIToFPInst>(inst) ||
          !cast->getSrcTy()->isIntegerTy(8))
        continue;
      IRBuilder<> builder(cast);
      if (llvm::Value *made = convert(builder, *cast, hasBF16Arithmetic)) {
        cast->replaceAllUsesWith(made);
        cast->eraseFromParent();
      }
    }
}
