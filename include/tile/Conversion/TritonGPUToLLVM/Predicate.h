//===-- Predicate.h - Code under a predicate --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_CONVERSION_TRITONGPUTOLLVM_PREDICATE_H
#define TILE_CONVERSION_TRITONGPUTOLLVM_PREDICATE_H

#include "tile/Conversion/TritonGPUToLLVM/LLVMBuilder.h"

namespace mlir::triton {

/// Branches around `body`, which runs where `pred` holds (always, if it is
/// null). `b` must build through a rewriter, as every lowering does.
void underPredicate(const LLVMBuilder &b, Value pred,
                    function_ref<void()> body);

/// The same for a `body` with a result, which is `otherwise` elsewhere.
Value underPredicate(const LLVMBuilder &b, Value pred, Value otherwise,
                     function_ref<Value()> body);

/// The same for a `body` with as many results as there are in `otherwise`.
SmallVector<Value> underPredicate(const LLVMBuilder &b, Value pred,
                                  ArrayRef<Value> otherwise,
                                  function_ref<SmallVector<Value>()> body);

} // namespace mlir::triton

#endif // TILE_CONVERSION_TRITONGPUTOLLVM_PREDICATE_H
