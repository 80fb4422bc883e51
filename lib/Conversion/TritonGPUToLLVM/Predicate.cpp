//===-- Predicate.cpp - Code under a predicate ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Conversion/TritonGPUToLLVM/Predicate.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::triton;

/// `body` returns the result, or null where it has none.
static Value branchAround(const LLVMBuilder &b, Value pred, Value otherwise,
                          function_ref<Value()> body) {
  // The rewriter must hear of the split.
  auto &builder = static_cast<RewriterBase &>(b.getBuilder());
  Block *before = builder.getInsertionBlock();
  Block *after = builder.splitBlock(before, builder.getInsertionPoint());
  Value result;
  if (otherwise)
    result = after->addArgument(otherwise.getType(), b.getLoc());
  Block *then = builder.createBlock(after);
  Value value = body();
  b.create<LLVM::BrOp>(value ? ValueRange(value) : ValueRange(), after);
  builder.setInsertionPointToEnd(before);
  b.create<LLVM::CondBrOp>(pred, then, ValueRange(), after,
                           otherwise ? ValueRange(otherwise) : ValueRange());
  builder.setInsertionPointToStart(after);
  return result;
}

void triton::underPredicate(const LLVMBuilder &b, Value pred,
                            function_ref<void()> body) {
  if (!pred)
    return body();
  branchAround(b, pred, /*otherwise=*/{}, [&] {
    body();
    return Value();
  });
}

Value triton::underPredicate(const LLVMBuilder &b, Value pred, Value otherwise,
                             function_ref<Value()> body) {
  if (!pred)
    return body();
  return branchAround(b, pred, otherwise, body);
}
