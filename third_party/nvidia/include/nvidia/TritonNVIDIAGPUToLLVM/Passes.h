//===-- Passes.h - Passes of the NVIDIA backend -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef NVIDIA_TRITONNVIDIAGPUTOLLVM_PASSES_H
#define NVIDIA_TRITONNVIDIAGPUTOLLVM_PASSES_H

#include "mlir/Pass/Pass.h"
#include "tile/Support/PassStatistic.h"

namespace mlir::triton::nvidia {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "nvidia/TritonNVIDIAGPUToLLVM/Passes.h.inc"

} // namespace mlir::triton::nvidia

#endif // NVIDIA_TRITONNVIDIAGPUTOLLVM_PASSES_H
