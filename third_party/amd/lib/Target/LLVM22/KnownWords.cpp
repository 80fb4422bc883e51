//===-- KnownWords.cpp - Words of disjunctions that are all ones ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM's code generator takes `or` of 64 bits apart into two of 32, and makes
// `or x, -1` a copy of x (LLVM 22, SIFoldOperands). It meets that where a word
// of an operand is known to be -1 and the whole operand is no constant. Such
// words are written as what they are.
//
//===----------------------------------------------------------------------===//

#include "Workarounds.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/KnownBits.h"

using namespace llvm;

/// The words of an `or` of 64 bits, those known to be -1 as constants; null if
/// there are none of these.
static llvm::Value *makeWordsKnown(Instruction &inst,
                                   const DataLayout &layout) {
  if (inst.getOpcode() != Instruction::Or || !inst.getType()->isIntegerTy(64))
    return nullptr;
  KnownBits known = computeKnownBits(&inst, layout);
  bool isKnown[] = {known.extractBits(32, 0).isAllOnes(),
                    known.extractBits(32, 32).isAllOnes()};
  if (!isKnown[0] && !isKnown[1])
    return nullptr;
  IRBuilder<> builder(&inst);
  auto *words = FixedVectorType::get(builder.getInt32Ty(), 2);
  llvm::Value *left = builder.CreateBitCast(inst.getOperand(0), words);
  llvm::Value *right = builder.CreateBitCast(inst.getOperand(1), words);
  llvm::Value *result = PoisonValue::get(words);
  for (uint64_t i = 0; i < 2; ++i) {
    llvm::Value *word =
        isKnown[i] ? builder.getInt32(-1)
                   : builder.CreateOr(builder.CreateExtractElement(left, i),
                                      builder.CreateExtractElement(right, i));
    result = builder.CreateInsertElement(result, word, i);
  }
  return builder.CreateBitCast(result, inst.getType());
}

void mlir::triton::amd::writeKnownWords(Module &module) {
  for (Function &function : module)
    for (Instruction &inst : make_early_inc_range(instructions(function)))
      if (llvm::Value *value = makeWordsKnown(inst, module.getDataLayout()))
        inst.replaceAllUsesWith(value);
}
