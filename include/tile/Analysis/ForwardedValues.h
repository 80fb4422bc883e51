//===-- ForwardedValues.h - Values that are others again --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_ANALYSIS_FORWARDEDVALUES_H
#define TILE_ANALYSIS_FORWARDEDVALUES_H

#include "mlir/IR/Operation.h"

namespace mlir::triton {

/// Calls `pass(from, to)` wherever control flow or a select hands values on:
/// `to[i]` may be `from[i]`. These are the operands of a select, the arguments
/// of a branch's target, the values with which regions begin and end, and
/// captures of partitions. Calls of functions are left out.
void forEachForwarded(Operation *op,
                      function_ref<void(ValueRange from, ValueRange to)> pass);

} // namespace mlir::triton

#endif // TILE_ANALYSIS_FORWARDEDVALUES_H
