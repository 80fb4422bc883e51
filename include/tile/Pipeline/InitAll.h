//===-- InitAll.h - The one place that registers things -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_PIPELINE_INITALL_H
#define TILE_PIPELINE_INITALL_H

namespace mlir {
class DialectRegistry;

namespace triton {

/// Registers tile's dialects, the upstream ones its IR is mixed with, and the
/// extensions (inlining, translation to LLVM IR) they need.
void registerAllDialects(DialectRegistry &registry);

/// Registers every pass and pipeline of tile and of its backends, and the
/// upstream passes a compiler engineer reaches for. Call once per process.
void registerAllPasses();

} // namespace triton
} // namespace mlir

#endif // TILE_PIPELINE_INITALL_H
