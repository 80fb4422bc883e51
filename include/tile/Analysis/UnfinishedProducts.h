//===-- UnfinishedProducts.h - Sums that are not there yet ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// An asynchronous dot returns before its sum is there. Until a wait hands
// the sum on, only these may have it: the wait, another dot that adds to
// it, and control flow, which carries it to another block.
//
// The verifier runs behind every pass that changes something. Between passes, a
// select may choose between such a sum and something else: the canonical form
// of a branch is a select, and tritongpu-combine-tensor-select-and-if makes a
// branch of it again. When code is made there must be none.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_ANALYSIS_UNFINISHEDPRODUCTS_H
#define TILE_ANALYSIS_UNFINISHEDPRODUCTS_H

#include "mlir/IR/Operation.h"

namespace mlir::triton {

enum class Selects { Forward, Read };

/// Fails, with an error, where something in `root` reads a sum that may not be
/// there yet.
LogicalResult verifyUnfinishedProducts(Operation *root,
                                       Selects selects = Selects::Forward);

} // namespace mlir::triton

#endif // TILE_ANALYSIS_UNFINISHEDPRODUCTS_H
