//===-- DirectLoads.cpp - Waits for loads straight into LDS ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What loads write to LDS is there when an s_waitcnt says so, which counts them
// and stands where the program waits (`amdg.async_wait`). LLVM does not know
// that, and has all of them done before every access to LDS and every fence
// that orders LDS (SIInsertWaitcnts, SIMemoryLegalizer). So nothing else may
// touch what they write, as far as LLVM can tell. Fences between the waves of a
// program, whose barrier waits for LDS itself, order other memory only. That
// nothing moves across them is none of this: it is what barriers and waits are
// to LLVM.
//
//===----------------------------------------------------------------------===//

#include "TargetMachine.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/MemoryModelRelaxationAnnotations.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/AMDGPUAddrSpace.h"

using namespace llvm;

static bool isDirectLoad(const Instruction &inst) {
  const auto *call = dyn_cast<IntrinsicInst>(&inst);
  if (!call)
    return false;
  switch (call->getIntrinsicID()) {
  case Intrinsic::amdgcn_raw_ptr_buffer_load_lds:
  case Intrinsic::amdgcn_global_load_lds:
    return true;
  default:
    return false;
  }
}

static bool isSharedMemory(const llvm::Type *type) {
  return type->isPointerTy() &&
         type->getPointerAddressSpace() == AMDGPUAS::LOCAL_ADDRESS;
}

bool mlir::triton::amd::accessesSharedMemory(const Instruction &inst) {
  if (const llvm::Value *pointer = getLoadStorePointerOperand(&inst))
    return isSharedMemory(pointer->getType());
  const auto *call = dyn_cast<IntrinsicInst>(&inst);
  return call && call->mayReadOrWriteMemory() &&
         any_of(call->args(), [](const Use &operand) {
           return isSharedMemory(operand->getType());
         });
}

void mlir::triton::amd::waitForDirectLoadsAsWritten(Module &module) {
  LLVMContext &context = module.getContext();
  MDBuilder builder(context);
  MDNode *notShared =
      MMRAMetadata::getTagMD(context, "amdgpu-synchronize-as", "global");
  SyncScope::ID workgroup = context.getOrInsertSyncScopeID("workgroup");
  for (Function &function : module) {
    if (none_of(instructions(function), isDirectLoad))
      continue;
    MDNode *domain = builder.createAnonymousAliasScopeDomain();
    MDNode *scope =
        MDNode::get(context, builder.createAnonymousAliasScope(domain));
    for (Instruction &inst : instructions(function)) {
      if (isDirectLoad(inst))
        inst.setMetadata(LLVMContext::MD_alias_scope, scope);
      else if (mlir::triton::amd::accessesSharedMemory(inst))
        inst.setMetadata(LLVMContext::MD_noalias, scope);
      else if (auto *fence = dyn_cast<FenceInst>(&inst);
               fence && fence->getSyncScopeID() == workgroup)
        fence->setMetadata(LLVMContext::MD_mmra, notShared);
    }
  }
}
