//===-- ConstantShuffles.cpp - Constants that lanes exchange --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// If all lanes hold the same constant, an exchange between lanes gives this
// constant. LLVM does not know that. Its code generator even makes wrong code
// of such an exchange. It merges v_mov_b32_dpp of the constant into the
// instruction that takes its result. Then it folds the constant by exchanging
// the operands of that instruction. DPP now applies to the other operand (LLVM
// 22, SIFoldOperands).
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
