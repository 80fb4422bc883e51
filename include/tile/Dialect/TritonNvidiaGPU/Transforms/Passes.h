//===-- Passes.h - Passes that use what only NVIDIA GPUs have -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITONNVIDIAGPU_TRANSFORMS_PASSES_H
#define TILE_DIALECT_TRITONNVIDIAGPU_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"
#include "tile/Support/PassStatistic.h"

namespace mlir::triton::nvidia_gpu {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h.inc"

} // namespace mlir::triton::nvidia_gpu

#endif // TILE_DIALECT_TRITONNVIDIAGPU_TRANSFORMS_PASSES_H
