//===-- Passes.h - Optimisation of layouts, loops and products --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITONGPU_TRANSFORMS_PASSES_H
#define TILE_DIALECT_TRITONGPU_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"
#include "tile/Support/PassStatistic.h"

namespace mlir::triton::gpu {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "tile/Dialect/TritonGPU/Transforms/Passes.h.inc"

} // namespace mlir::triton::gpu

#endif // TILE_DIALECT_TRITONGPU_TRANSFORMS_PASSES_H
