//===-- ElectedThread.h - Assembly that one thread runs ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One thread issues what tensor cores do: `elect.sync` chooses it among the
// lanes of the first warp. The choice is always the same. That matters, because
// the order of this work, and what a commit waits for, belong to the thread
// that issued it.
//
// ptxas knows that `elect.sync` leaves one thread. Of a comparison with thread
// 0 it does not know this: there it makes a loop over lanes around each
// instruction of the tensor cores.
//
//===----------------------------------------------------------------------===//
#ifndef NVIDIA_TRITONNVIDIAGPUTOLLVM_ELECTEDTHREAD_H
#define NVIDIA_TRITONNVIDIAGPUTOLLVM_ELECTEDTHREAD_H

#include "nvidia/TritonNVIDIAGPUToLLVM/PTXAsm.h"
#include "tile/Conversion/TritonGPUToLLVM/TargetInfo.h"

namespace mlir::triton::nvidia {

/// Collects the text. All threads that execute `op` together run the assembly;
/// the elected one runs the text, where `pred` is true or null.
class ElectedThread {
public:
  ElectedThread(const LLVMBuilder &b, const triton::TargetInfo &target,
                Operation *op, Value pred = {});

  PTXAsm &getAsm() { return ptx; }
  void emit();

private:
  PTXAsm ptx;
};

} // namespace mlir::triton::nvidia

#endif // NVIDIA_TRITONNVIDIAGPUTOLLVM_ELECTEDTHREAD_H
