//===-- Predicate.cpp - Code under a predicate ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Conversion/TritonGPUToLLVM/Predicate.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::triton;

SmallVector<Value>
triton::underPredicate(const LLVMBuilder &b, Value pred,
                       ArrayRef<Value> otherwise,
                       function_ref<SmallVector<Value>()> body) {
  if (!pred)
    return body();
  // The rewriter must hear of the split.
  auto &builder = static_cast<RewriterBase &>(b.getBuilder());
  Block *before = builder.getInsertionBlock();
  Block *after = builder.splitBlock(before, builder.getInsertionPoint());
  SmallVector<Value> results;
  for (Value value : otherwise)
    results.push_back(after->addArgument(value.getType(), b.getLoc()));
  Block *then = builder.createBlock(after);
  b.create<LLVM::BrOp>(body(), after);
  builder.setInsertionPointToEnd(before);
  b.create<LLVM::CondBrOp>(pred, then, ValueRange(), after, otherwise);
  builder.setInsertionPointToStart(after);
  return results;
}

void triton::underPredicate(const LLVMBuilder &b, Value pred,
                            function_ref<void()> body) {
  underPredicate(b, pred, ArrayRef<Value>(), [&] {
    body();
    return SmallVector<Value>();
  });
}

Value triton::underPredicate(const LLVMBuilder &b, Value pred, Value otherwise,
                             function_ref<Value()> body) {
  if (!pred)
    return body();
  return underPredicate(b, pred, ArrayRef<Value>(otherwise),
                        [&] { return SmallVector<Value>{body()}; })[0];
}
