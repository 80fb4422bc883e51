//===-- ShuffledFactors.cpp - Other lanes' values in products of 64 bits --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For gfx12 LLVM's code generator merges v_mov_b32_dpp into the multiplication
// that takes its result, v_mad_co_u64_u32. This instruction has no form with
// DPP. Neither the machine nor LLVM's own assembler knows what is printed (LLVM
// 22, GCNDPPCombine). The result of an empty assembly statement is not merged.
//
//===----------------------------------------------------------------------===//

#include "Workarounds.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/Module.h"

using namespace llvm;

/// Quotients become multiplications, those of 32 bits ones of 64 bits.
static bool mayMultiplyWide(const Instruction &inst) {
  unsigned bits = inst.getType()->getScalarSizeInBits();
  switch (inst.getOpcode()) {
  case Instruction::Mul:
    return bits > 32;
  case Instruction::UDiv:
  case Instruction::SDiv:
  case Instruction::URem:
  case Instruction::SRem:
    return bits >= 32;
  case Instruction::Call: {
    const auto *call = dyn_cast<IntrinsicInst>(&inst);
    return call && (call->getIntrinsicID() == Intrinsic::umul_with_overflow ||
                    call->getIntrinsicID() == Intrinsic::smul_with_overflow);
  }
  default:
    return false;
  }
}

/// Floating-point numbers get into no such multiplication.
static bool isUsedAsInteger(const Instruction &exchange) {
  return any_of(exchange.users(), [](const User *user) {
    return !isa<BitCastInst>(user) || user->getType()->isIntOrIntVectorTy();
  });
}

void mlir::triton::amd::keepShufflesOutOfWideProducts(Module &module) {
  for (Function &function : module) {
    if (none_of(instructions(function), mayMultiplyWide))
      continue;
    for (Instruction &inst : make_early_inc_range(instructions(function))) {
      auto *call = dyn_cast<IntrinsicInst>(&inst);
      if (!call || call->getIntrinsicID() != Intrinsic::amdgcn_update_dpp ||
          !call->getType()->isIntegerTy(32) || !isUsedAsInteger(*call))
        continue;
      passThroughAssembly(*call);
    }
  }
}
