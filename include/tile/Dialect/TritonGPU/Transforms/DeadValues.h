//===-- DeadValues.h - Erase what nobody uses -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_DIALECT_TRITONGPU_TRANSFORMS_DEADVALUES_H
#define TILE_DIALECT_TRITONGPU_TRANSFORMS_DEADVALUES_H

namespace mlir {
class Operation;

namespace triton::gpu {

/// Erases pure operations without uses, values that loops carry for themselves
/// alone, and results of branches without uses.
void eraseDeadValues(Operation *func);

} // namespace triton::gpu
} // namespace mlir

#endif // TILE_DIALECT_TRITONGPU_TRANSFORMS_DEADVALUES_H
