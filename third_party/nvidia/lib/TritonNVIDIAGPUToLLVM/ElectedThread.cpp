//===-- ElectedThread.cpp - Assembly that one thread runs -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "nvidia/TritonNVIDIAGPUToLLVM/ElectedThread.h"

#include "tile/Conversion/TritonGPUToLLVM/LayoutIndices.h"

using namespace mlir;
using namespace mlir::triton;

nvidia::ElectedThread::ElectedThread(const LLVMBuilder &b,
                                     const triton::TargetInfo &target,
                                     Operation *op, Value pred)
    : ptx(b) {
  ThreadIndex index = getThreadIndex(b, target, op);
  Value inFirstWarp = b.ult(index.thread, b.i32(index.threadsPerWarp));
  // The branch is inside the assembly: blocks of LLVM's would have it move
  // values between them.
  ptx << "{ .reg .pred elected; @!"
      << ptx.input(b.andPred(inFirstWarp, pred), "b")
      << " bra DONE; elect.sync _|elected, 0xffffffff; @!elected bra "
         "DONE;\n\t{ ";
}

void nvidia::ElectedThread::emit() {
  ptx << "}\n\tDONE: }";
  ptx.emit({}, PTXAsm::SideEffects);
}
