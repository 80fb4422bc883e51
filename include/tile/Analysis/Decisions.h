//===-- Decisions.h - What decides branches and addresses -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Threads take a branch or a loop together, and access a block as one. What
// decides that must be the same in all of them.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_ANALYSIS_DECISIONS_H
#define TILE_ANALYSIS_DECISIONS_H

#include "tile/Dialect/Triton/IR/MemoryOps.h"
#include "tile/Support/AttributeNames.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::triton {

/// What decides a branch, a loop or an address in `root`, and what that is
/// computed from: back to the operations that each thread executes for itself.
llvm::SetVector<Value> findDecidingValues(Operation *root);

/// True if one thread loads an element, and those that have a copy of it get it
/// from there: fresh reads, and what has the attribute.
bool isLoadedOnce(LoadOp load);

} // namespace mlir::triton

#endif // TILE_ANALYSIS_DECISIONS_H
