//===-- Passes.h - Sanitizers -----------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITONINSTRUMENT_TRANSFORMS_PASSES_H
#define TILE_DIALECT_TRITONINSTRUMENT_TRANSFORMS_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "tile/Support/PassStatistic.h"

namespace mlir::triton::instrument {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "tile/Dialect/TritonInstrument/Transforms/Passes.h.inc"

} // namespace mlir::triton::instrument

#endif // TILE_DIALECT_TRITONINSTRUMENT_TRANSFORMS_PASSES_H
