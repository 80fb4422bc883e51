//===-- LowerModule.h - The lowering of a module for a target ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_CONVERSION_TRITONGPUTOLLVM_LOWERMODULE_H
#define TILE_CONVERSION_TRITONGPUTOLLVM_LOWERMODULE_H

#include "tile/Conversion/TritonGPUToLLVM/Patterns.h"

#include "mlir/Transforms/DialectConversion.h"

namespace mlir::triton {

/// Lowers tt and ttg to the LLVM dialect for `target`, with all families of
/// common patterns. `populate` adds the patterns of the backend, in a context
/// whose benefit puts them before the common ones, and declares the dialects
/// legal that they make beside LLVM's. Fails, with a diagnostic, where shared
/// memory has not been allocated or has no barriers yet.
LogicalResult lowerModule(
    ModuleOp module, const TargetInfo &target,
    function_ref<void(const LoweringContext &, ConversionTarget &)> populate);

} // namespace mlir::triton

#endif // TILE_CONVERSION_TRITONGPUTOLLVM_LOWERMODULE_H
