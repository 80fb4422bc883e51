//===-- ConstantShuffles.cpp - Constants that lanes exchange --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all lanes hold, each of them gets from the others. LLVM does not know
// that; what is more, its code generator makes wrong code of it: having merged
// v_mov_b32_dpp of a constant into the instruction that takes its result, it
// folds the constant by exchanging the instruction's operands, and DPP then
// applies to the other one (LLVM 22, SIFoldOperands).
//
//===----------------------------------------------------------------------===//

#include "Workarounds.h"

#include "llvm/Analysis/InstructionSimplify.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/Module.h"

using namespace llvm;

/// The value that lanes exchange; null for other instructions.
static Value *getExchanged(const Instruction &inst) {
  const auto *call = dyn_cast<IntrinsicInst>(&inst);
  if (!call)
    return nullptr;
  switch (call->getIntrinsicID()) {
  case Intrinsic::amdgcn_ds_swizzle:
    return call->getArgOperand(0);
  case Intrinsic::amdgcn_update_dpp:
  case Intrinsic::amdgcn_permlanex16:
    // The first operand is for lanes that get nothing from others.
    if (isa<UndefValue>(call->getArgOperand(0)) ||
        call->getArgOperand(0) == call->getArgOperand(1))
      return call->getArgOperand(1);
    return nullptr;
  case Intrinsic::amdgcn_ds_bpermute:
    return call->getArgOperand(1);
  default:
    return nullptr;
  }
}

void mlir::triton::amd::foldConstantShuffles(Module &module) {
  for (Function &function : module)
    for (bool changed = true; std::exchange(changed, false);)
      for (Instruction &inst : make_early_inc_range(instructions(function)))
        if (auto *value = dyn_cast_or_null<Constant>(getExchanged(inst))) {
          replaceAndRecursivelySimplify(&inst, value);
          changed = true;
          break;
        }
}
