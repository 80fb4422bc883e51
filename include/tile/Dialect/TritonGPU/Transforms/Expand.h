//===-- Expand.h - Overlap the iterations of a loop -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A loop of T iterations whose operations have stages 0 to S becomes
//
//   for i in 0 .. S - 1:               (unrolled: the prologue)
//     each operation of stage s <= i, for iteration i - s
//   for j in 0 .. T - 1:
//     each operation of stage s, for iteration j + S - s
//
// with its own bounds and step. Of stages before the last one, the last
// iterations do not exist: operations there are predicated.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_DIALECT_TRITONGPU_TRANSFORMS_EXPAND_H
#define TILE_DIALECT_TRITONGPU_TRANSFORMS_EXPAND_H

#include "tile/Analysis/LoopSchedule.h"

#include "mlir/IR/PatternMatch.h"
#include <string>

namespace mlir::triton::gpu {

/// Why `loop` cannot be expanded as `schedule` says; empty if it can. Whether
/// operations can be predicated is another question.
std::string whyNot(scf::ForOp loop, const LoopSchedule &schedule);

/// Makes the operation do nothing that could be noticed where the i1 is false.
/// In the loop itself (the last argument) there is an iteration before. Returns
/// what stands for it now, with as many results; null if that is impossible.
using Predicate =
    function_ref<Operation *(RewriterBase &, Operation *, Value, bool)>;

/// Expands `loop`, which `whyNot` has nothing against. Fails with an error if
/// an operation cannot be predicated.
FailureOr<scf::ForOp> expand(scf::ForOp loop, const LoopSchedule &schedule,
                             Predicate predicate);

} // namespace mlir::triton::gpu

#endif // TILE_DIALECT_TRITONGPU_TRANSFORMS_EXPAND_H
