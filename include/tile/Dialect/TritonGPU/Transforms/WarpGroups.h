//===-- WarpGroups.h - Registers of groups of warps -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITONGPU_TRANSFORMS_WARPGROUPS_H
#define TILE_DIALECT_TRITONGPU_TRANSFORMS_WARPGROUPS_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::triton::gpu {

/// Divides the registers that a block has got, `ttg.maxnreg` for each thread if
/// that is stated, among the warp groups of every `ttg.warp_specialize`, whose
/// partitions have their places.
void allocateRegisters(ModuleOp module);

/// The registers that each thread begins with: the operation
/// `ttg.warp_specialize` has groups take or give some.
int getFirstRegisters(ModuleOp module);

} // namespace mlir::triton::gpu

#endif // TILE_DIALECT_TRITONGPU_TRANSFORMS_WARPGROUPS_H
