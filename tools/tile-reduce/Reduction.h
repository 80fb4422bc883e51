//===-- Reduction.h - Smaller programs --------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_TOOLS_TILEREDUCE_REDUCTION_H
#define TILE_TOOLS_TILEREDUCE_REDUCTION_H

namespace mlir::triton {

/// Registers -reduce-kernel='test=SCRIPT', which makes a module as small as it
/// can while the script finds it interesting.
void registerKernelReduction();

} // namespace mlir::triton

#endif // TILE_TOOLS_TILEREDUCE_REDUCTION_H
