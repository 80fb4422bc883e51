//===-- FirstUser.h - Where a value is needed first -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_DIALECT_TRITONGPU_TRANSFORMS_FIRSTUSER_H
#define TILE_DIALECT_TRITONGPU_TRANSFORMS_FIRSTUSER_H

#include "mlir/IR/Operation.h"

namespace mlir::triton::gpu {

/// The first operation of `block` that uses `value`, itself or by what is in
/// it; null if there is none.
Operation *findFirstUser(Value value, Block *block);

} // namespace mlir::triton::gpu

#endif // TILE_DIALECT_TRITONGPU_TRANSFORMS_FIRSTUSER_H
