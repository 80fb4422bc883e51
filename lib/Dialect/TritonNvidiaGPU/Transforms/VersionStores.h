//===-- VersionStores.h - Stores that ask where they begin ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_LIB_TRITONNVIDIAGPU_TRANSFORMS_VERSIONSTORES_H
#define TILE_LIB_TRITONNVIDIAGPU_TRANSFORMS_VERSIONSTORES_H

#include "tile/Analysis/ValueRanges.h"
#include "tile/Dialect/Triton/IR/Dialect.h"

namespace mlir::triton::nvidia_gpu {

/// Divides the stores through the descriptor of `make`. Where a block begins
/// inside the tensor, they go through that descriptor, and are known to. The
/// others go through a copy of it.
void versionStores(MakeTensorDescOp make, ValueRanges &ranges);

} // namespace mlir::triton::nvidia_gpu

#endif // TILE_LIB_TRITONNVIDIAGPU_TRANSFORMS_VERSIONSTORES_H
