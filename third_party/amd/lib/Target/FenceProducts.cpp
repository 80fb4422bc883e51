//===-- FenceProducts.cpp - Multiply before waiting for loads -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pipelined loop loads operands for the next iteration, multiplies, and
// writes what was loaded to LDS. LLVM's scheduler takes matrix instructions for
// arithmetic like any other. It moves them behind the writes. And it moves the
// operations on the loaded words before them, with their wait for memory. Then
// all operands are in registers at once, and no dot hides the latency of the
// loads. A fence for the scheduler keeps the order.
//
//===----------------------------------------------------------------------===//

#include "TargetMachine.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/Support/AMDGPUAddrSpace.h"

using namespace mlir;
using namespace mlir::triton;

bool amd::isProduct(const llvm::Instruction &instruction) {
  auto *call = dyn_cast<llvm::IntrinsicInst>(&instruction);
  if (!call)
    return false;
  StringRef name = call->getCalledFunction()->getName();
  return name.contains(".mfma.") || name.contains(".wmma.");
}

static bool writesSharedMemory(const llvm::Instruction &instruction) {
  auto *store = dyn_cast<llvm::StoreInst>(&instruction);
  return store &&
         store->getPointerAddressSpace() == llvm::AMDGPUAS::LOCAL_ADDRESS;
}

/// The last product of `block`, if anything is written to LDS behind it.
static llvm::Instruction *findProductBeforeWrites(llvm::BasicBlock &block) {
  bool writes = false;
  for (llvm::Instruction &instruction : llvm::reverse(block)) {
    if (amd::isProduct(instruction))
      return writes ? &instruction : nullptr;
    writes |= writesSharedMemory(instruction);
  }
  return nullptr;
}

void amd::fenceProducts(llvm::Function &function) {
  for (llvm::BasicBlock &block : function)
    if (llvm::Instruction *product = findProductBeforeWrites(block)) {
      llvm::IRBuilder<> b(product->getNextNode());
      b.CreateIntrinsic(llvm::Intrinsic::amdgcn_sched_barrier, {},
                        {b.getInt32(0)});
    }
}
