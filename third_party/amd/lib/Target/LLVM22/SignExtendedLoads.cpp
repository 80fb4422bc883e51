//===-- SignExtendedLoads.cpp - Order of narrow loads of buffers ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM's code generator replaces a load of 8 or 16 bits through a buffer and
// the extension of its sign by a load that extends (LLVM 22, SIISelLowering).
// What came behind the first load is not ordered behind the new one, which
// then may move to its use, past stores to the same place and past barriers.
// A value that is frozen is extended by an instruction of its own.
//
//===----------------------------------------------------------------------===//

#include "Workarounds.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/Module.h"

using namespace llvm;

static bool isNarrowBufferLoad(const Instruction &inst) {
  const auto *call = dyn_cast<IntrinsicInst>(&inst);
  if (!call || !call->getType()->isIntegerTy() ||
      call->getType()->getIntegerBitWidth() > 16)
    return false;
  switch (call->getIntrinsicID()) {
  case Intrinsic::amdgcn_raw_buffer_load:
  case Intrinsic::amdgcn_raw_ptr_buffer_load:
  case Intrinsic::amdgcn_struct_buffer_load:
  case Intrinsic::amdgcn_struct_ptr_buffer_load:
    return true;
  default:
    return false;
  }
}

/// May code generation extend the sign of what `user` takes?
static bool mayExtendSign(const User *user) {
  if (const auto *compare = dyn_cast<ICmpInst>(user))
    return compare->isSigned();
  return !isa<ZExtInst, UIToFPInst, TruncInst, BitCastInst, StoreInst,
              InsertElementInst>(user);
}

/// The code generator orders the operations of one block at a time.
static bool hasSideEffectsBehind(const Instruction &load) {
  for (const Instruction *next = load.getNextNode(); next;
       next = next->getNextNode())
    if (next->mayHaveSideEffects())
      return true;
  return false;
}

void mlir::triton::amd::keepNarrowLoadsInOrder(Module &module) {
  for (Function &function : module)
    for (Instruction &load : make_early_inc_range(instructions(function))) {
      if (!isNarrowBufferLoad(load) || !hasSideEffectsBehind(load) ||
          none_of(load.users(), mayExtendSign))
        continue;
      IRBuilder<> builder(load.getNextNode());
      builder.SetCurrentDebugLocation(load.getDebugLoc());
      llvm::Value *frozen = builder.CreateFreeze(&load);
      load.replaceUsesWithIf(frozen, [&](Use &use) {
        return use.getUser() != frozen && mayExtendSign(use.getUser());
      });
    }
}
