//===-- StoredHalves.cpp - Stores to LDS of two registers' halves ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operands that are read across K lie in LDS in pieces of two rows: a store of
// 16 bytes has half of what one load brought and half of another's. Four
// registers in a row take copies of two; ds_write2_b64 takes pairs from
// anywhere. It writes 8 bytes of 16 lanes at a time, which lie 16 apart: with
// 64 banks, as much as the other store does, while two would meet in one of 32.
// LLVM selects it where 16 bytes are not aligned to more than 8.
//
//===----------------------------------------------------------------------===//

#include "TargetMachine.h"

#include "amd/TargetTable.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/AMDGPUAddrSpace.h"

using namespace llvm;

static constexpr unsigned kPairBits = 64;

namespace {
/// An element of a vector that is no shuffle of others.
struct Element {
  const Value *vector = nullptr;
  unsigned index = 0;
};
} // namespace

static Element findElement(const Value *vector, unsigned index) {
  while (const auto *shuffle = dyn_cast<ShuffleVectorInst>(vector)) {
    int from = shuffle->getMaskValue(index);
    if (from < 0)
      return {};
    unsigned count = cast<FixedVectorType>(shuffle->getOperand(0)->getType())
                         ->getNumElements();
    vector = shuffle->getOperand(unsigned(from) >= count);
    index = from % count;
  }
  return {vector, index};
}

/// The vector of which elements from `first` on are a pair of its registers.
static const Value *findPair(const Value *vector, unsigned first,
                             unsigned count) {
  Element begin = findElement(vector, first);
  if (!begin.vector || begin.index % count)
    return nullptr;
  for (unsigned i = 1; i < count; ++i) {
    Element next = findElement(vector, first + i);
    if (next.vector != begin.vector || next.index != begin.index + i)
      return nullptr;
  }
  return begin.vector;
}

/// Whether the value is a pair of registers of one wider value, and one of
/// another.
static bool joinsHalves(const Value *value, const DataLayout &layout) {
  auto *type = dyn_cast<FixedVectorType>(value->getType());
  if (!type || layout.getTypeStoreSizeInBits(type) != 2 * kPairBits ||
      type->getNumElements() < 2)
    return false;
  unsigned half = type->getNumElements() / 2;
  const Value *low = findPair(value, 0, half),
              *high = findPair(value, half, half);
  return low && high && low != high &&
         all_of(ArrayRef{low, high}, [&](const Value *from) {
           return layout.getTypeStoreSizeInBits(from->getType()) > kPairBits;
         });
}

void mlir::triton::amd::storeHalvesApart(Module &module,
                                         const AMDTarget &target) {
  if (target.sharedMemoryBanks < 64)
    return;
  const Align pairAlign(kPairBits / 8);
  for (Function &function : module)
    for (Instruction &inst : instructions(function))
      if (auto *store = dyn_cast<StoreInst>(&inst);
          store && store->getPointerAddressSpace() == AMDGPUAS::LOCAL_ADDRESS &&
          store->getAlign() > pairAlign &&
          joinsHalves(store->getValueOperand(), module.getDataLayout()))
        store->setAlignment(pairAlign);
}
