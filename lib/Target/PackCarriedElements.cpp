//===-- PackCarriedElements.cpp - Elements of other blocks ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PackCarriedElements.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

#include <map>

using namespace llvm;

static constexpr unsigned kBitsOfWord = 32;

using Phis = SmallVector<PHINode *>;

/// Whether it is a vector of one word, whose elements are smaller.
static bool isWord(const Type *type) {
  const auto *vector = dyn_cast<FixedVectorType>(type);
  return vector && vector->getScalarSizeInBits() < kBitsOfWord &&
         vector->getPrimitiveSizeInBits() == kBitsOfWord;
}

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
  if (!isWord(vector.getType()))
    return {};
  Phis phis(cast<FixedVectorType>(vector.getType())->getNumElements());
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

/// The word that `value` is an element of, and which one it is; null if it is
/// of none.
static std::pair<llvm::Value *, uint64_t> getPart(llvm::Value *value) {
  auto *extract = dyn_cast<ExtractElementInst>(value);
  auto *place =
      extract ? dyn_cast<ConstantInt>(extract->getIndexOperand()) : nullptr;
  if (!place || !isWord(extract->getVectorOperandType()))
    return {nullptr, 0};
  return {extract->getVectorOperand(), place->getLimitedValue()};
}

/// What `phis` are together where control comes from `from`: a word whose
/// elements they are in this order, or constants. `whole` stands for what they
/// are in their own block. Null if they are something else.
static llvm::Value *getWord(ArrayRef<PHINode *> phis, BasicBlock *from,
                            llvm::Value *whole) {
  auto incoming = map_to_vector(
      phis, [&](PHINode *phi) { return phi->getIncomingValueForBlock(from); });
  if (llvm::equal(incoming, phis))
    return whole;
  SmallVector<Constant *> constants;
  for (llvm::Value *value : incoming)
    if (auto *constant = dyn_cast<Constant>(value))
      constants.push_back(constant);
  if (constants.size() == phis.size())
    return ConstantVector::get(constants);
  llvm::Value *word = getPart(incoming.front()).first;
  if (!word || word->getType() != whole->getType())
    return nullptr;
  for (auto [i, value] : enumerate(incoming))
    if (getPart(value) != std::pair(word, uint64_t(i)))
      return nullptr;
  return word;
}

/// The phis of a block that may carry the elements of one word each, in their
/// order, and the type of the word.
static SmallVector<std::pair<Type *, Phis>> findParts(BasicBlock &block) {
  MapVector<llvm::Value *, Phis> partsOf;
  for (PHINode &phi : block.phis())
    for (llvm::Value *value : phi.incoming_values()) {
      auto [word, place] = getPart(value);
      if (!word)
        continue;
      Phis &parts = partsOf[word];
      parts.resize(cast<FixedVectorType>(word->getType())->getNumElements());
      if (place < parts.size() && !parts[place])
        parts[place] = &phi;
      break;
    }
  SmallVector<std::pair<Type *, Phis>> found;
  for (auto &[word, parts] : partsOf)
    if (!is_contained(parts, nullptr))
      found.push_back({word->getType(), parts});
  return found;
}

/// Lets the block have the phi of words where it has those of all elements of
/// words. Whoever uses an element takes it out of the word.
static bool carryWords(BasicBlock &block) {
  bool changed = false;
  for (auto &[type, phis] : findParts(block)) {
    PHINode *first = phis.front();
    PHINode *whole = PHINode::Create(type, first->getNumIncomingValues(), "",
                                     first->getIterator());
    for (BasicBlock *from : first->blocks())
      if (llvm::Value *word = getWord(phis, from, whole))
        whole->addIncoming(word, from);
    if (whole->getNumIncomingValues() < first->getNumIncomingValues()) {
      whole->eraseFromParent();
      continue;
    }
    IRBuilder<> builder(&block, block.getFirstInsertionPt());
    builder.SetCurrentDebugLocation(first->getDebugLoc());
    for (auto [i, phi] : enumerate(phis)) {
      phi->replaceAllUsesWith(builder.CreateExtractElement(whole, uint64_t(i)));
      phi->eraseFromParent();
    }
    changed = true;
  }
  return changed;
}

PreservedAnalyses
mlir::triton::PackCarriedElements::run(Function &function,
                                       FunctionAnalysisManager &) {
  // What comes before in this order may have made words of its elements.
  bool changed = false;
  for (BasicBlock *block : ReversePostOrderTraversal<Function *>(&function))
    changed |= carryWords(*block);
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
  if (known.empty() && !changed)
    return PreservedAnalyses::all();
  PreservedAnalyses preserved;
  preserved.preserveSet<CFGAnalyses>();
  return preserved;
}
