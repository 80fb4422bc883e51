//===-- Passes.h - Passes that infer open layouts ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_GLUON_TRANSFORMS_PASSES_H
#define TILE_DIALECT_GLUON_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"
#include "tile/Support/PassStatistic.h"

namespace mlir::triton::gluon {

/// Inlines all calls. Callees are only rid of blocks that nothing reaches, so
/// that what they say about layouts stays as it is.
std::unique_ptr<Pass> createGluonInline();

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "tile/Dialect/Gluon/Transforms/Passes.h.inc"

} // namespace mlir::triton::gluon

#endif // TILE_DIALECT_GLUON_TRANSFORMS_PASSES_H
