//===-- PredicateOp.h - Operations that run only if ... ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_LIB_TRITONGPU_PIPELINE_PREDICATEOP_H
#define TILE_LIB_TRITONGPU_PIPELINE_PREDICATEOP_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::triton::gpu {

/// True if `op` only computes, and `predicateOp` can keep it from doing harm
/// where an iteration that does not exist computes with nonsense.
bool canRunOutOfRange(Operation *op);

/// Makes `op` have no effect that could be noticed where the i1 `predicate` is
/// false, and returns it or what replaced it; null if that is impossible. In
/// the loop itself (`inLoop`) there is an iteration before.
Operation *predicateOp(RewriterBase &rewriter, Operation *op, Value predicate,
                       bool inLoop);

} // namespace mlir::triton::gpu

#endif // TILE_LIB_TRITONGPU_PIPELINE_PREDICATEOP_H
