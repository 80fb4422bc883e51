//===-- PackCarriedElements.cpp - Elements that loops carry ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PackCarriedElements.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

#include <map>

using namespace llvm;

static constexpr unsigned kBitsOfWord = 32;

using Phis = SmallVector<PHINode *>;

/// Whether the element is needed as a part of words only, wherever it is
/// carried.
static bool isOnlyPacked(PHINode *phi) {
  SmallSetVector<PHINode *, 4> carriers;
  carriers.insert(phi);
  for (size_t i = 0; i < carriers.size(); ++i)
    for (User *user : carriers[i]->users())
      if (auto *carrier = dyn_cast<PHINode>(user))
        carriers.insert(carrier);
      else if (!isa<InsertElementInst>(user))
        return false;
  return true;
}

/// The phis of one block that `vector`, of one word, has as its elements, one
/// after the other; empty if it is something else.
static Phis getPhis(InsertElementInst &vector) {
  auto *type = dyn_cast<FixedVectorType>(vector.getType());
  if (!type || type->getScalarSizeInBits() >= kBitsOfWord ||
      type->getPrimitiveSizeInBits() != kBitsOfWord)
    return {};
  Phis phis(type->getNumElements());
  for (llvm::Value *rest = &vector; !isa<UndefValue>(rest);) {
    auto *insert = dyn_cast<InsertElementInst>(rest);
    auto *place =
        insert ? dyn_cast<ConstantInt>(insert->getOperand(2)) : nullptr;
    auto *phi = insert ? dyn_cast<PHINode>(insert->getOperand(1)) : nullptr;
    if (!place || !phi || place->uge(phis.size()) || !isOnlyPacked(phi))
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

/// Makes the phi of the vectors of `phis`, and appends those vectors to `made`.
static PHINode *packPhis(ArrayRef<PHINode *> phis, Type *type,
                         SmallVectorImpl<InsertElementInst *> &made) {
  PHINode *first = phis.front();
  IRBuilder<> builder(first);
  PHINode *whole = builder.CreatePHI(type, first->getNumIncomingValues());
  for (BasicBlock *from : first->blocks()) {
    // Blocks that branch here twice come twice, with the same values.
    if (int known = whole->getBasicBlockIndex(from); known >= 0) {
      whole->addIncoming(whole->getIncomingValue(known), from);
      continue;
    }
    builder.SetInsertPoint(from->getTerminator());
    llvm::Value *packed = PoisonValue::get(type);
    for (auto [i, phi] : enumerate(phis))
      packed = builder.CreateInsertElement(
          packed, phi->getIncomingValueForBlock(from), uint64_t(i));
    whole->addIncoming(packed, from);
    if (auto *vector = dyn_cast<InsertElementInst>(packed))
      made.push_back(vector);
  }
  return whole;
}

PreservedAnalyses
mlir::triton::PackCarriedElements::run(Function &function,
                                       FunctionAnalysisManager &) {
  SmallVector<InsertElementInst *> vectors;
  for (Instruction &inst : instructions(function))
    if (auto *vector = dyn_cast<InsertElementInst>(&inst))
      vectors.push_back(vector);
  // What a loop hands on as it is leads back to its own phis.
  std::map<Phis, PHINode *> known;
  while (!vectors.empty()) {
    InsertElementInst *vector = vectors.pop_back_val();
    Phis phis = getPhis(*vector);
    if (phis.empty())
      continue;
    PHINode *&whole = known[phis];
    if (!whole)
      whole = packPhis(phis, vector->getType(), vectors);
    vector->replaceAllUsesWith(whole);
  }
  if (known.empty())
    return PreservedAnalyses::all();
  PreservedAnalyses preserved;
  preserved.preserveSet<CFGAnalyses>();
  return preserved;
}
