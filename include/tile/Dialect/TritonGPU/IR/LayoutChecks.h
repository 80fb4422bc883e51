//===-- LayoutChecks.h - Has everything a layout? ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITONGPU_IR_LAYOUTCHECKS_H
#define TILE_DIALECT_TRITONGPU_IR_LAYOUTCHECKS_H

#include "mlir/IR/Operation.h"

namespace mlir::triton::gpu {

/// Fails, with a diagnostic, where a tensor in `root` has no layout: of such a
/// one it is not known which thread holds what.
LogicalResult checkTensorsHaveLayouts(Operation *root);

} // namespace mlir::triton::gpu

#endif // TILE_DIALECT_TRITONGPU_IR_LAYOUTCHECKS_H
