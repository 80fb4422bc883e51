//===-- NarrowFactors.cpp - One instruction for products of 64 bits -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A product of 64 bits takes four instructions. Where both factors fit into 32
// bits it takes one, `mul.wide`. The code generator looks for extensions in the
// block of the multiplication alone. Strides are extended ahead of the loop
// that multiplies pages with them, or are known to be small by their range. A
// load extends what it reads by itself. This pass writes the instruction.
//
//===----------------------------------------------------------------------===//

#include "nvidia/Target/NarrowFactors.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace {
constexpr unsigned kNarrow = 32;

/// Whether the code generator sees that a factor is extended.
bool isShown(const Value *factor, const BasicBlock *block) {
  if (isa<ConstantInt>(factor))
    return true;
  if (!isa<SExtInst, ZExtInst>(factor))
    return false;
  const auto *extension = cast<CastInst>(factor);
  return extension->getParent() == block &&
         extension->getSrcTy()->getIntegerBitWidth() <= kNarrow &&
         !isa<LoadInst>(extension->getOperand(0));
}

/// Whether it is the same number as the lower half of its bits with a sign.
bool fits(const Value *factor, const DataLayout &layout) {
  return ComputeNumSignBits(factor, layout) >
         factor->getType()->getIntegerBitWidth() - kNarrow;
}

Value *narrow(Value *factor, IRBuilder<> &builder) {
  if (isa<SExtInst, ZExtInst>(factor))
    if (Value *source = cast<CastInst>(factor)->getOperand(0);
        source->getType()->isIntegerTy(kNarrow))
      return source;
  return builder.CreateTrunc(factor, builder.getIntNTy(kNarrow));
}

bool isHidden(const Instruction &inst) {
  if (inst.getOpcode() != Instruction::Mul ||
      !inst.getType()->isIntegerTy(2 * kNarrow))
    return false;
  const DataLayout &layout = inst.getModule()->getDataLayout();
  auto isShownHere = [&](const Value *factor) {
    return isShown(factor, inst.getParent());
  };
  return !all_of(inst.operand_values(), isShownHere) &&
         all_of(inst.operand_values(),
                [&](const Value *factor) { return fits(factor, layout); });
}

void replaceProduct(Instruction &product) {
  IRBuilder<> builder(&product);
  Value *lhs = narrow(product.getOperand(0), builder);
  Value *rhs = narrow(product.getOperand(1), builder);
  auto *type = FunctionType::get(product.getType(),
                                 {lhs->getType(), rhs->getType()}, false);
  auto *wide = InlineAsm::get(type, "mul.wide.s32 $0, $1, $2;", "=l,r,r",
                              /*hasSideEffects=*/false);
  CallInst *call = builder.CreateCall(type, wide, {lhs, rhs});
  call->setDoesNotAccessMemory();
  call->setDoesNotThrow();
  product.replaceAllUsesWith(call);
  product.eraseFromParent();
}
} // namespace

void mlir::triton::nvidia::narrowFactors(Module &module) {
  for (Function &function : module)
    for (Instruction &inst : make_early_inc_range(instructions(function)))
      if (isHidden(inst))
        replaceProduct(inst);
}
