//===-- Passes.h - Passes on records ----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_PROTON_TRANSFORMS_PASSES_H
#define TILE_DIALECT_PROTON_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"
#include "tile/Support/PassStatistic.h"

namespace mlir::triton::proton {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "tile/Dialect/Proton/Transforms/Passes.h.inc"

} // namespace mlir::triton::proton

#endif // TILE_DIALECT_PROTON_TRANSFORMS_PASSES_H
