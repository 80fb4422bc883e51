//===-- Patterns.h - Marks for a debugger in assembly -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_CONVERSION_DEBUGTOLLVM_PATTERNS_H
#define TILE_CONVERSION_DEBUGTOLLVM_PATTERNS_H

#include "tile/Conversion/TritonGPUToLLVM/Patterns.h"

namespace mlir::triton::debug {

/// What a mark looks like in the assembly of a target.
struct MarkForm {
  /// An instruction that does nothing: a place that can be stopped at.
  StringRef nothing;
  /// Begins a comment.
  StringRef comment;
  /// Constraints of inline assembly for registers of 32 and of 64 bits.
  StringRef word, twoWords;
};

/// Lowers the operations of the debug dialect. Each becomes one line of
/// assembly, or several for a value of many registers:
///
///   nothing // tile.debug value %r1 %r2 {"name": "x", ...}
///
/// A debugger reads the registers when a warp comes to this line. So the value
/// that it shows is the one that the source assigned, whatever the register
/// holds later.
void populateDebugPatterns(const LoweringContext &context,
                           const MarkForm &form);

} // namespace mlir::triton::debug

#endif // TILE_CONVERSION_DEBUGTOLLVM_PATTERNS_H
