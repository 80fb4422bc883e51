//===-- CarriedValues.h - What loops hand on --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITONGPU_TRANSFORMS_CARRIEDVALUES_H
#define TILE_DIALECT_TRITONGPU_TRANSFORMS_CARRIEDVALUES_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::triton::gpu {

/// A value that a loop hands on from iteration to iteration.
struct CarriedValue {
  /// The loop, which replaces the one that did not carry it. The value behind
  /// it is its last result.
  Operation *loop;
  /// The value in the body.
  Value argument;
  /// The end of the body, whose last operand is the value for the next
  /// iteration. It is the argument, until somebody sets it.
  Operation *yield;
};

/// Has an `scf.for` or `scf.while` hand on one more value, `init` at first.
CarriedValue addCarriedValue(Operation *loop, Value init);

} // namespace mlir::triton::gpu

#endif // TILE_DIALECT_TRITONGPU_TRANSFORMS_CARRIEDVALUES_H
