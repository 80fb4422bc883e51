//===-- ImpliedPredicate.h - Masks that end with their loop -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_LIB_TRITONGPU_PIPELINE_IMPLIEDPREDICATE_H
#define TILE_LIB_TRITONGPU_PIPELINE_IMPLIEDPREDICATE_H

#include "mlir/IR/Value.h"

namespace mlir::triton::gpu {

/// Whether no element of `mask`, which an iteration computes, is true unless
/// the i1 `predicate` is, which says that there is such an iteration. So it is
/// with masks of the last, partial tile: a loop over ceil(n / 32) tiles ends
/// where no index is less than n - i * 32.
bool impliesPredicate(Value mask, Value predicate);

} // namespace mlir::triton::gpu

#endif // TILE_LIB_TRITONGPU_PIPELINE_IMPLIEDPREDICATE_H
