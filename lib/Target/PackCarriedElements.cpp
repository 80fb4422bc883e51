//===-- PackCarriedBytes.cpp - Bytes that loops carry ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PackCarriedBytes.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

static constexpr unsigned kBytesOfWord = 4;

/// The phis of one block that `vector` has as its elements, one after the
/// other; empty if it is something else.
static SmallVector<PHINode *> getPhis(InsertElementInst &vector) {
  auto *type = dyn_cast<FixedVectorType>(vector.getType());
  if (!type || type->getNumElements() != kBytesOfWord ||
      !type->getElementType()->isIntegerTy(8))
    return {};
  SmallVector<PHINode *> phis(kBytesOfWord);
  for (llvm::Value *rest = &vector; !isa<UndefValue>(rest);) {
    auto *insert = dyn_cast<InsertElementInst>(rest);
    auto *place =
        insert ? dyn_cast<ConstantInt>(insert->getOperand(2)) : nullptr;
    auto *phi = insert ? dyn_cast<PHINode>(insert->getOperand(1)) : nullptr;
    if (!place || !phi || place->uge(kBytesOfWord))
      return {};
    if (PHINode *&slot = phis[place->getZExtValue()]; !slot)
      slot = phi;
    rest = insert->getOperand(0);
  }
  for (PHINode *phi : phis)
    if (!phi || phi->getParent() != phis.front()->getParent())
      return {};
  return phis;
}

PreservedAnalyses
mlir::triton::PackCarriedBytes::run(Function &function,
                                    FunctionAnalysisManager &) {
  bool changed = false;
  for (Instruction &inst : make_early_inc_range(instructions(function))) {
    auto *vector = dyn_cast<InsertElementInst>(&inst);
    SmallVector<PHINode *> phis =
        vector ? getPhis(*vector) : SmallVector<PHINode *>();
    if (phis.empty())
      continue;
    PHINode *first = phis.front();
    IRBuilder<> builder(first);
    PHINode *whole =
        builder.CreatePHI(vector->getType(), first->getNumIncomingValues());
    for (BasicBlock *from : first->blocks()) {
      // Blocks that branch here twice come twice, with the same values.
      if (int known = whole->getBasicBlockIndex(from); known >= 0) {
        whole->addIncoming(whole->getIncomingValue(known), from);
        continue;
      }
      builder.SetInsertPoint(from->getTerminator());
      llvm::Value *packed = PoisonValue::get(vector->getType());
      for (unsigned i = 0; i < kBytesOfWord; ++i)
        packed = builder.CreateInsertElement(
            packed, phis[i]->getIncomingValueForBlock(from), uint64_t(i));
      whole->addIncoming(packed, from);
    }
    vector->replaceAllUsesWith(whole);
    changed = true;
  }
  if (!changed)
    return PreservedAnalyses::all();
  PreservedAnalyses preserved;
  preserved.preserveSet<CFGAnalyses>();
  return preserved;
}
