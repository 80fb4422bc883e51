//===-- ConvergentProducts.cpp - Matrix products that stay where they are -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A matrix instruction takes operands from all lanes of a wave. So it has to be
// convergent. LLVM 22 does not mark all of them (llvm-project pull requests
// 178314 and 178627). On gfx11 the form is missing that writes its result over
// the sum. On gfx950 and gfx1250 the scaled ones are missing. MachineSink then
// moves such an instruction into a branch that only some lanes take, with the
// copies of its operands. The registers of the other lanes hold something else
// there.
//
// An empty assembly statement that is convergent takes the dot's result in
// the dot's block. So the dot stays there.
//
//===----------------------------------------------------------------------===//

#include "../TargetMachine.h"
#include "Workarounds.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;

/// LLVM marks MFMA as convergent, but for scaled ones.
static bool mayLackMark(const Instruction &inst) {
  if (!mlir::triton::amd::isProduct(inst))
    return false;
  StringRef name = cast<CallInst>(inst).getCalledFunction()->getName();
  return name.contains(".wmma.") || name.contains(".scale.");
}

/// Moves parts of vectors, and computes nothing.
static bool isRearrangement(const Instruction &inst) {
  return isa<ExtractElementInst, InsertElementInst, ShuffleVectorInst,
             BitCastInst>(inst);
}

/// Whether a use in `block` keeps a dot of this block there. It is another dot
/// that adds to it, which stays itself, or a phi of the loop that consists of
/// this block. Between them may be rearrangements.
static bool keepsInBlock(const User *user, const BasicBlock *block,
                         unsigned depth = 0) {
  const auto *inst = cast<Instruction>(user);
  if (inst->getParent() != block)
    return false;
  if (isa<PHINode>(inst) || mlir::triton::amd::isProduct(*inst))
    return true;
  constexpr unsigned kMaxDepth = 3;
  return isRearrangement(*inst) && depth < kMaxDepth &&
         any_of(
             inst->users(),
             [&](const User *next) {
               return keepsInBlock(next, block, depth + 1);
             });
}

/// MachineSink moves nothing out of a block with one successor: it is the
/// branch that some lanes do not take that makes the fault.
static bool mayBeSunk(const Instruction &product) {
  const BasicBlock *block = product.getParent();
  return block->getTerminator()->getNumSuccessors() > 1 &&
         none_of(product.users(),
                 [&](const User *user) { return keepsInBlock(user, block); });
}

static void keepInBlock(Instruction &product) {
  CallInst &passed = mlir::triton::amd::passThroughAssembly(product);
  passed.setConvergent();
  passed.setDoesNotAccessMemory();
}

void mlir::triton::amd::keepProductsInTheirBlocks(Module &module) {
  for (Function &function : module)
    for (Instruction &inst : make_early_inc_range(instructions(function)))
      if (mayLackMark(inst) && mayBeSunk(inst))
        keepInBlock(inst);
}
