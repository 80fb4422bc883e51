//===-- FoldAndSink.cpp - Conversions that go, or move down ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Internal.h"

#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/Transforms/LayoutInference.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

unsigned layout_conversions::foldConversions(Operation *func) {
  unsigned count = 0;
  func->walk([&](ConvertLayoutOp convert) {
    // Operands come first in the walk, so chains collapse one by one.
    if (auto inner = convert.getSrc().getDefiningOp<ConvertLayoutOp>()) {
      convert.getSrcMutable().set(inner.getSrc());
      ++count;
    }
    for (OpOperand &use : llvm::make_early_inc_range(convert->getUses()))
      if (acceptsAnyLayout(use)) {
        use.set(convert.getSrc());
        ++count;
      }
    if (convert.getSrc().getType() == convert.getType()) {
      convert.replaceAllUsesWith(convert.getSrc());
      ++count;
    }
    if (convert.use_empty())
      convert.erase();
  });
  return count;
}

/// The operand of an operation that does nothing but make its elements
/// narrower; null for other operations.
static OpOperand *getTruncatedOperand(Operation *op) {
  if (!isa<arith::TruncFOp, arith::TruncIOp, FpToFpOp>(op))
    return nullptr;
  OpOperand &operand = op->getOpOperand(0);
  if (!getLayout(operand.get()) ||
      getElementBitWidth(op->getResult(0).getType()) >=
          getElementBitWidth(operand.get().getType()))
    return nullptr;
  return &operand;
}

unsigned layout_conversions::sinkConversions(Operation *func) {
  unsigned count = 0;
  SmallVector<Operation *> candidates;
  func->walk([&](Operation *op) {
    if (getTruncatedOperand(op))
      candidates.push_back(op);
  });
  for (Operation *op : candidates) {
    OpOperand *operand = getTruncatedOperand(op);
    auto convert = operand->get().getDefiningOp<ConvertLayoutOp>();
    // In another block, the truncation may run more often than the conversion.
    if (!convert || !convert->hasOneUse() ||
        convert->getBlock() != op->getBlock())
      continue;
    Value result = op->getResult(0);
    Type before = result.getType();
    operand->set(convert.getSrc());
    setLayout(result, convert.getSrc().getType().getEncoding());
    OpBuilder b(op->getContext());
    b.setInsertionPointAfter(op);
    auto sunk = ConvertLayoutOp::create(b, convert.getLoc(), before, result);
    result.replaceAllUsesExcept(sunk, sunk);
    convert.erase();
    ++count;
  }
  return count;
}
