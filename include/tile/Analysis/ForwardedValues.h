//===-- ForwardedValues.h - Values that are others again --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_ANALYSIS_FORWARDEDVALUES_H
#define TILE_ANALYSIS_FORWARDEDVALUES_H

#include "mlir/IR/Operation.h"

namespace mlir::triton {

/// Calls `pass(from, to)` for values of which each of `to` may be the one of
/// `from` in its place: selects, arguments of blocks that branches go to, what
/// regions are entered with and end with, and what partitions capture. Calls
/// are left out.
void forEachForwarded(Operation *op,
                      function_ref<void(ValueRange from, ValueRange to)> pass);

} // namespace mlir::triton

#endif // TILE_ANALYSIS_FORWARDEDVALUES_H
