//===-- LowerModule.h - The lowering of a module for a target ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_CONVERSION_TRITONGPUTOLLVM_LOWERMODULE_H
#define TILE_CONVERSION_TRITONGPUTOLLVM_LOWERMODULE_H

#include "tile/Conversion/TritonGPUToLLVM/Patterns.h"

#include "mlir/Transforms/DialectConversion.h"

namespace mlir::triton {

/// Makes sure that buffers in shared memory have places, and that there are
/// barriers between their accesses. Where no pass did that, inserts the
/// barriers if there are buffers only and the text says all places. Fails, with
/// a diagnostic, in all other cases.
LogicalResult prepareSharedMemory(ModuleOp module);

/// Lowers tt and ttg to the LLVM dialect for `target`, with all families of
/// common patterns. `populate` adds the patterns of the backend, in a context
/// whose benefit puts them before the common ones, and declares the dialects
/// legal that they make beside LLVM's. Calls `prepareSharedMemory` first.
LogicalResult lowerModule(
    ModuleOp module, const TargetInfo &target,
    function_ref<void(const LoweringContext &, ConversionTarget &)> populate);

} // namespace mlir::triton

#endif // TILE_CONVERSION_TRITONGPUTOLLVM_LOWERMODULE_H
