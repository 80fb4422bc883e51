//===-- NarrowFactors.cpp - Factors of 24 bits in sums of 64 bits ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of a multiplication of numbers below 2^24, LLVM computes no more than the
// lowest 24 bits of the factors: the others are zero. The instruction that adds
// 64 bits to it, v_mad_u64_u32, takes 32 bits of each factor (LLVM 22,
// IMAD32_Mul24_Pats). So x % 3 * 3 + y is wrong. Where the other bits may be
// wrong, the multiplication has 32 bits, or the factors come out of an empty
// assembly statement.
//
//===----------------------------------------------------------------------===//

#include "Workarounds.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

/// Values that LLVM computes in one way only.
static bool isOpaque(const Value *value) {
  if (const auto *call = dyn_cast<CallBase>(value)) {
    Intrinsic::ID id = call->getIntrinsicID();
    return id == Intrinsic::not_intrinsic || Intrinsic::isTargetIntrinsic(id);
  }
  return isa<Argument, PHINode, LoadInst, CmpInst, ExtractValueInst>(value);
}

/// Whether all bits are right of what LLVM computes if `bits` of them are asked
/// for, and nothing is cut off.
static bool keepsAllBits(const Value *value, unsigned bits,
                         const DataLayout &layout, unsigned depth = 0) {
  while (isa<ZExtInst, SExtInst, TruncInst>(value)) {
    // What is cut off again by a mask, which may be dropped.
    unsigned width = value->getType()->getScalarSizeInBits();
    if (isa<TruncInst>(value) && width < 32 && width >= bits)
      return false;
    value = cast<Instruction>(value)->getOperand(0);
  }
  if (isOpaque(value))
    return true;
  const APInt *number;
  if (match(value, m_APInt(number)))
    return number->getActiveBits() <= bits;
  if (depth == 6)
    return false;
  const Value *x, *y;
  uint64_t amount;
  // A mask that clears none of these bits is dropped.
  if (match(value, m_And(m_Value(x), m_APInt(number)))) {
    APInt clears = ~*number & ~computeKnownBits(x, layout).Zero;
    return number->getActiveBits() <= bits && clears.countr_zero() < bits;
  }
  if (match(value, m_Shr(m_Value(x), m_ConstantInt(amount))))
    return x->getType()->getScalarSizeInBits() <= bits + amount || isOpaque(x);
  if (match(value, m_Shl(m_Value(x), m_ConstantInt(amount))))
    return amount < bits &&
           keepsAllBits(x, bits - unsigned(amount), layout, depth + 1);
  if (match(value, m_Select(m_Value(), m_Value(x), m_Value(y))) ||
      match(value, m_Add(m_Value(x), m_Value(y))) ||
      match(value, m_Sub(m_Value(x), m_Value(y))) ||
      match(value, m_Mul(m_Value(x), m_Value(y))) ||
      match(value, m_Or(m_Value(x), m_Value(y))) ||
      match(value, m_Xor(m_Value(x), m_Value(y))))
    return keepsAllBits(x, bits, layout, depth + 1) &&
           keepsAllBits(y, bits, layout, depth + 1);
  return false;
}

static bool isAdded(const Instruction &product) {
  return any_of(product.users(), [](const User *user) {
    return isa<GetElementPtrInst>(user) ||
           match(user, m_CombineOr(m_Add(m_Value(), m_Value()),
                                   m_Or(m_Value(), m_Value())));
  });
}

/// Rewrites `product` where its factors may lack bits.
static void keepFactorsWhole(Instruction &product, Value *x, Value *y) {
  const DataLayout &layout = product.getDataLayout();
  Value *factors[] = {x, y};
  unsigned bits[2], signs[2];
  for (unsigned i = 0; i < 2; ++i) {
    bits[i] = computeKnownBits(factors[i], layout).countMaxActiveBits();
    signs[i] = 65 - ComputeNumSignBits(factors[i], layout);
  }
  bool isUnsigned = bits[0] <= 24 && bits[1] <= 24,
       isSigned = signs[0] <= 24 && signs[1] <= 24;
  if ((!isUnsigned && !isSigned) ||
      (keepsAllBits(x, 24, layout) && keepsAllBits(y, 24, layout)))
    return;
  IRBuilder<> b(&product);
  Type *word = b.getInt32Ty(), *type = product.getType();
  auto extend = [&](Value *value) {
    return isUnsigned ? b.CreateZExt(value, type) : b.CreateSExt(value, type);
  };
  for (Value *&factor : factors)
    factor = b.CreateTrunc(factor, word);
  if (isUnsigned ? bits[0] + bits[1] <= 32 : signs[0] + signs[1] <= 32) {
    product.replaceAllUsesWith(extend(b.CreateMul(factors[0], factors[1])));
    product.eraseFromParent();
    return;
  }
  for (unsigned i = 0; i < 2; ++i) {
    if (auto *made = dyn_cast<Instruction>(factors[i]))
      factors[i] = &mlir::triton::amd::passThroughAssembly(*made);
    product.setOperand(i, extend(factors[i]));
  }
}

void mlir::triton::amd::keepFactorsWhole(Module &module) {
  for (Function &function : module)
    for (Instruction &inst : make_early_inc_range(instructions(function))) {
      llvm::Value *x, *y;
      if (inst.getType()->isIntegerTy(64) &&
          match(&inst, m_Mul(m_Value(x), m_Value(y))) && isAdded(inst))
        ::keepFactorsWhole(inst, x, y);
    }
}
