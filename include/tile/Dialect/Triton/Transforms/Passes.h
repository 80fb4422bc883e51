//===-- Passes.h - Passes on tt, before layouts are chosen ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITON_TRANSFORMS_PASSES_H
#define TILE_DIALECT_TRITON_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"
#include "tile/Support/PassStatistic.h"

namespace mlir::triton {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "tile/Dialect/Triton/Transforms/Passes.h.inc"

} // namespace mlir::triton

#endif // TILE_DIALECT_TRITON_TRANSFORMS_PASSES_H
