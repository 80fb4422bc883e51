//===-- RedundantWaits.cpp - Waits for LDS that fences ask for, too -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A barrier waits for accesses to LDS by an instruction of its own, because
// LLVM may drop the wait of its fence (SIInsertWaitcnts). LLVM looks at a block
// once, with the accesses that are under way at its first entry. If there are
// none, it takes the wait out. It does not look again for accesses that a back
// edge brings.
//
// This pass drops the barrier's own wait where there is an access before it in
// the same block. Then LLVM sees at every entry that there may be something to
// wait for. Or something has waited for this access already, and for all before
// it. There the fence is enough, and LLVM knows where even the fence needs no
// wait.
//
//===----------------------------------------------------------------------===//

#include "TargetMachine.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace mlir::triton;

/// A wait as `TargetInfo::barrier` writes it: behind a fence that orders LDS.
static bool isWaitOfBarrier(const Instruction &inst) {
  const auto *wait = dyn_cast<IntrinsicInst>(&inst);
  if (!wait || (wait->getIntrinsicID() != Intrinsic::amdgcn_s_waitcnt &&
                wait->getIntrinsicID() != Intrinsic::amdgcn_s_wait_dscnt))
    return false;
  const auto *barrier = dyn_cast_or_null<IntrinsicInst>(inst.getNextNode());
  if (!barrier || barrier->getIntrinsicID() != Intrinsic::amdgcn_s_barrier)
    return false;
  const auto *fence = dyn_cast_or_null<FenceInst>(inst.getPrevNode());
  return fence && fence->getOrdering() == AtomicOrdering::Release &&
         !fence->hasMetadata(LLVMContext::MD_mmra);
}

/// Whether an access to LDS comes before `wait` in its block.
static bool followsAccess(const Instruction &wait) {
  for (const Instruction *inst = wait.getPrevNode(); inst;
       inst = inst->getPrevNode())
    if (amd::accessesSharedMemory(*inst))
      return true;
  return false;
}

void amd::dropRedundantWaits(Module &module) {
  for (Function &function : module)
    for (Instruction &inst : make_early_inc_range(instructions(function)))
      if (isWaitOfBarrier(inst) && followsAccess(inst))
        inst.eraseFromParent();
}
