//===-- Decisions.h - What decides branches and addresses -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// All threads of a block take the same branches, run the same iterations, and
// access a block of memory together. So the scalars that decide a branch, a
// loop or an address must be the same in all threads.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_ANALYSIS_DECISIONS_H
#define TILE_ANALYSIS_DECISIONS_H

#include "tile/Dialect/Triton/IR/MemoryOps.h"
#include "tile/Support/AttributeNames.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::triton {

/// The scalars that decide a branch, a loop or an address in `root`, and all
/// scalars that these are computed from. The search ends at operations that
/// each thread executes for itself, such as loads.
llvm::SetVector<Value> findDecidingValues(Operation *root);

/// True if one thread makes the load and hands the element to the other
/// threads. This is so for fresh reads, and for loads with the attribute
/// `tile.loaded_once`.
bool isLoadedOnce(LoadOp load);

} // namespace mlir::triton

#endif // TILE_ANALYSIS_DECISIONS_H
