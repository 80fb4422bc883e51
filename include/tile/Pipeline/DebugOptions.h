//===-- DebugOptions.h - -debug and -debug-only for our tools -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_PIPELINE_DEBUGOPTIONS_H
#define TILE_PIPELINE_DEBUGOPTIONS_H

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace mlir::triton {

/// Registers `-debug` and `-debug-only=<types>`. Release builds of LLVM leave
/// both out, although they export the switches behind them; our own code is
/// built with its debug output in, so the options are worth having. Does
/// nothing where LLVM registered them itself. Also registers
/// `-pass-statistics`, which prints at the end what the passes counted.
void registerDebugOptions();

/// Makes `--version` say tile's, and the LLVM's that it is built on.
void registerVersion();

/// Prints all statistics of the process that are not zero, by pass.
void printPassStatistics(llvm::raw_ostream &os);

} // namespace mlir::triton

#endif // TILE_PIPELINE_DEBUGOPTIONS_H
