//===-- Passes.h - Passes before the lowering to LLVM -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_CONVERSION_TRITONGPUTOLLVM_PASSES_H
#define TILE_CONVERSION_TRITONGPUTOLLVM_PASSES_H

#include "mlir/Pass/Pass.h"
#include "tile/Support/PassStatistic.h"

namespace mlir::triton {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "tile/Conversion/TritonGPUToLLVM/Passes.h.inc"

} // namespace mlir::triton

#endif // TILE_CONVERSION_TRITONGPUTOLLVM_PASSES_H
