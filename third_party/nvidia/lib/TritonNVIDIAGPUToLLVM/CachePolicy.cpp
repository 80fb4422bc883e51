//===-- CachePolicy.cpp - Eviction priorities in the L2 cache -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "nvidia/TritonNVIDIAGPUToLLVM/CachePolicy.h"

using namespace mlir;
using namespace mlir::triton;

nvidia::CachePolicy::CachePolicy(const LLVMBuilder &b,
                                 const NVIDIATarget &facts,
                                 EvictionPolicy eviction) {
  // Policies came with asynchronous copies.
  if (eviction == EvictionPolicy::NORMAL || !facts.hasAsyncCopy)
    return;
  // The same number each time: LLVM makes one of those of a kernel.
  PTXAsm ptx(b);
  auto result = ptx.output("l");
  ptx << "createpolicy.fractional.L2::"
      << (eviction == EvictionPolicy::EVICT_FIRST ? "evict_first"
                                                  : "evict_last")
      << ".b64 " << result << ", 1.0;";
  policy = ptx.emit({b.intTy(64)}, PTXAsm::Pure).front();
}

void nvidia::CachePolicy::append(PTXAsm &ptx) const {
  if (policy)
    ptx << ", " << ptx.input(policy, "l");
}
