//===-- InstrumentPatterns.h - Checks of sanitizers -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_CONVERSION_TRITONGPUTOLLVM_INSTRUMENTPATTERNS_H
#define TILE_CONVERSION_TRITONGPUTOLLVM_INSTRUMENTPATTERNS_H

#include "tile/Conversion/TritonGPUToLLVM/Patterns.h"

namespace mlir::triton {

/// Calls of the library of checks.
void populateInstrumentPatterns(const LoweringContext &context);

} // namespace mlir::triton

#endif // TILE_CONVERSION_TRITONGPUTOLLVM_INSTRUMENTPATTERNS_H
