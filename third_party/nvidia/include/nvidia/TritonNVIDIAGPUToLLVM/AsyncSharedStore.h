//===-- AsyncSharedStore.h - st.async ---------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NVIDIA_TRITONNVIDIAGPUTOLLVM_ASYNCSHAREDSTORE_H
#define NVIDIA_TRITONNVIDIAGPUTOLLVM_ASYNCSHAREDSTORE_H

#include "nvidia/TritonNVIDIAGPUToLLVM/Patterns.h"

namespace mlir::triton::nvidia {

void populateAsyncSharedStorePatterns(const LoweringContext &context,
                                      const TargetInfo &target);

} // namespace mlir::triton::nvidia

#endif // NVIDIA_TRITONNVIDIAGPUTOLLVM_ASYNCSHAREDSTORE_H
