//===-- DebugOptions.h - -debug and -debug-only for our tools -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_PIPELINE_DEBUGOPTIONS_H
#define TILE_PIPELINE_DEBUGOPTIONS_H

namespace mlir::triton {

/// Registers `-debug` and `-debug-only=<types>`. Release builds of LLVM leave
/// both out, although they export the switches behind them; our own code is
/// built with its debug output in, so the options are worth having. Does
/// nothing where LLVM registered them itself.
void registerDebugOptions();

} // namespace mlir::triton

#endif // TILE_PIPELINE_DEBUGOPTIONS_H
