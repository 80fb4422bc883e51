//===-- Speculation.h - What may run although nobody asked ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The one place that knows which operations must not run where the program does
// not run them. Upstream takes remainders to be speculatable, whatever they
// divide by.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_ANALYSIS_SPECULATION_H
#define TILE_ANALYSIS_SPECULATION_H

#include "mlir/IR/Operation.h"

namespace mlir::triton {

/// The divisor of an integer division that may be zero (or, where it is signed,
/// -1 under the smallest number); null for other operations.
OpOperand *getUnsafeDivisor(Operation *op);

/// True if `op`, with everything nested in it, only computes, ends, and is
/// defined for all operands.
bool isSafeToSpeculate(Operation *op);

} // namespace mlir::triton

#endif // TILE_ANALYSIS_SPECULATION_H
