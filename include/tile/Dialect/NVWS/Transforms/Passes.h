//===-- Passes.h - Passes that lower nvws -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_NVWS_TRANSFORMS_PASSES_H
#define TILE_DIALECT_NVWS_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"
#include "tile/Support/PassStatistic.h"

namespace mlir::triton::nvws {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "tile/Dialect/NVWS/Transforms/Passes.h.inc"

} // namespace mlir::triton::nvws

#endif // TILE_DIALECT_NVWS_TRANSFORMS_PASSES_H
