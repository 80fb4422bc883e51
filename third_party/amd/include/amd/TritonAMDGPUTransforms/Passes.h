//===-- Passes.h - Passes on ttg for AMD GPUs -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef AMD_TRITONAMDGPUTRANSFORMS_PASSES_H
#define AMD_TRITONAMDGPUTRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"
#include "tile/Support/PassStatistic.h"

namespace mlir::triton::amd {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "amd/TritonAMDGPUTransforms/Passes.h.inc"

} // namespace mlir::triton::amd

#endif // AMD_TRITONAMDGPUTRANSFORMS_PASSES_H
