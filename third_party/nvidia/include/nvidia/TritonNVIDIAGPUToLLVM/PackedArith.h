//===-- PackedArith.h - Arithmetic on pairs ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NVIDIA_TRITONNVIDIAGPUTOLLVM_PACKEDARITH_H
#define NVIDIA_TRITONNVIDIAGPUTOLLVM_PACKEDARITH_H

#include "nvidia/TritonNVIDIAGPUToLLVM/Patterns.h"

namespace mlir::triton::nvidia {

void populatePackedArithPatterns(const LoweringContext &context);

} // namespace mlir::triton::nvidia

#endif // NVIDIA_TRITONNVIDIAGPUTOLLVM_PACKEDARITH_H
