//===-- LayoutInference.cpp - How operations relate layouts ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Dialect/TritonGPU/Transforms/LayoutInference.h"
#include "tile/Dialect/Triton/IR/MemoryOps.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

RankedTensorType mlir::triton::gpu::getLaidOutTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getEncoding() ? tensor : RankedTensorType();
}

Attribute mlir::triton::gpu::getLayout(Value value) {
  RankedTensorType tensor = getLaidOutTensor(value.getType());
  return tensor ? tensor.getEncoding() : Attribute();
}

void mlir::triton::gpu::setLayout(Value value, Attribute layout) {
  auto type =
      cloneWithEncoding(cast<RankedTensorType>(value.getType()), layout);
  value.setType(type);
  if (auto constant = value.getDefiningOp<arith::ConstantOp>())
    constant.setValueAttr(
        cast<DenseElementsAttr>(constant.getValue()).reshape(type));
}

//===----------------------------------------------------------------------===//
// Kinds of operations
//===----------------------------------------------------------------------===//

bool mlir::triton::gpu::isLayoutFlexible(Operation *op) {
  if (isa<ConvertLayoutOp>(op))
    return false;
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    return !reshape.getEfficientLayout();
  if (auto gather = dyn_cast<GatherOp>(op))
    return !gather.getEfficientLayout();
  if (isa<ExpandDimsOp, BroadcastOp, ReduceOp, ScanOp, TransOp, JoinOp, SplitOp,
          MapElementwiseOp, ElementwiseInlineAsmOp, ExternElementwiseOp,
          arith::SelectOp, AddPtrOp, FpToFpOp, BitcastOp, IntToPtrOp,
          PtrToIntOp>(op))
    return true;
  // A small load moves with the pointers it goes through.
  if (isSmallLoad(op))
    return true;
  return op->hasTrait<mlir::OpTrait::Elementwise>();
}

bool mlir::triton::gpu::acceptsAnyLayout(OpOperand &operand) {
  Operation *op = operand.getOwner();
  if (isa<LocalAllocOp, LocalStoreOp, PrintOp, AssertOp, UnsplatOp>(op))
    return true;
  // A mask must have the layout of what it masks.
  if (auto histogram = dyn_cast<HistogramOp>(op))
    return !histogram.getMask();
  if (auto gather = dyn_cast<GatherOp>(op))
    return !gather.getEfficientLayout() && operand.get() == gather.getSrc() &&
           operand.getOperandNumber() == 0;
  return false;
}

bool mlir::triton::gpu::isSmallLoad(Operation *op) {
  auto load = dyn_cast<LoadOp>(op);
  if (!load || isFreshRead(load) || !getLaidOutTensor(load.getPtr().getType()))
    return false;
  auto type = cast<RankedTensorType>(load.getPtr().getType());
  std::optional<int> numWarps = maybeLookupNumWarps(op);
  return numWarps &&
         type.getNumElements() < *numWarps * lookupThreadsPerWarp(op);
}

bool mlir::triton::gpu::isLayoutFree(Operation *op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValue()))
      return dense.isSplat();
  return isa<MakeRangeOp, SplatOp, ub::PoisonOp>(op);
}

bool mlir::triton::gpu::isLayoutAnchor(Operation *op) {
  if (isLayoutFlexible(op) || isLayoutFree(op))
    return false;
  // Neither conversions nor control flow choose layouts, and a histogram takes
  // any.
  if (isa<ConvertLayoutOp, HistogramOp, arith::ConstantOp>(op) ||
      op->getNumRegions() != 0)
    return false;
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    return reshape.getEfficientLayout();
  return true;
}

//===----------------------------------------------------------------------===//
// Inference
//===----------------------------------------------------------------------===//

static const DialectInferLayoutInterface *getInterface(Attribute layout) {
  return dyn_cast<DialectInferLayoutInterface>(&layout.getDialect());
}

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

static SmallVector<int32_t> invert(ArrayRef<int32_t> order) {
  SmallVector<int32_t> inverse(order.size());
  for (auto [i, from] : llvm::enumerate(order))
    inverse[from] = i;
  return inverse;
}

Attribute mlir::triton::gpu::inferResultLayout(OpResult result,
                                               Attribute operandLayout) {
  if (!getLaidOutTensor(result.getType()))
    return {};
  const DialectInferLayoutInterface *infer = getInterface(operandLayout);
  if (!infer)
    return {};
  auto orNull = [](FailureOr<Attribute> layout) {
    return succeeded(layout) ? *layout : Attribute();
  };
  return llvm::TypeSwitch<Operation *, Attribute>(result.getOwner())
      .Case([&](ExpandDimsOp op) {
        return orNull(infer->inferExpandDimsLayout(operandLayout, op.getAxis(),
                                                   std::nullopt));
      })
      .Case([&](ReduceOp op) {
        return orNull(infer->inferReduceLayout(operandLayout, op.getAxis(),
                                               std::nullopt));
      })
      .Case([&](TransOp op) {
        return orNull(infer->inferTransLayout(
            operandLayout, shapeOf(op.getSrc()), op.getOrder(), std::nullopt));
      })
      .Case([&](ReshapeOp op) {
        return orNull(
            infer->inferReshapeLayout(operandLayout, shapeOf(op.getSrc()),
                                      shapeOf(op.getResult()), std::nullopt));
      })
      .Case([&](JoinOp op) {
        return orNull(infer->inferJoinLayout(
            operandLayout, shapeOf(op.getLhs()), std::nullopt));
      })
      .Case([&](SplitOp op) {
        return orNull(infer->inferSplitLayout(
            operandLayout, shapeOf(op.getSrc()), std::nullopt));
      })
      .Default(operandLayout);
}

Attribute mlir::triton::gpu::inferOperandLayout(OpResult result,
                                                Attribute resultLayout) {
  Operation *op = result.getOwner();
  const DialectInferLayoutInterface *infer = getInterface(resultLayout);
  if (!infer)
    return {};
  auto orNull = [](FailureOr<Attribute> layout) {
    return succeeded(layout) ? *layout : Attribute();
  };
  Attribute operandLayout =
      llvm::TypeSwitch<Operation *, Attribute>(op)
          .Case([&](ExpandDimsOp op) -> Attribute {
            return SliceEncodingAttr::get(op.getContext(), op.getAxis(),
                                          resultLayout);
          })
          .Case([&](ReduceOp op) -> Attribute {
            auto slice = dyn_cast<SliceEncodingAttr>(resultLayout);
            if (!slice || slice.getDim() != unsigned(op.getAxis()))
              return {};
            return slice.getParent();
          })
          .Case([&](TransOp op) {
            return orNull(
                infer->inferTransLayout(resultLayout, shapeOf(op.getResult()),
                                        invert(op.getOrder()), std::nullopt));
          })
          .Case([&](ReshapeOp op) {
            return orNull(
                infer->inferReshapeLayout(resultLayout, shapeOf(op.getResult()),
                                          shapeOf(op.getSrc()), std::nullopt));
          })
          .Case([&](JoinOp op) {
            return orNull(infer->inferSplitLayout(
                resultLayout, shapeOf(op.getResult()), std::nullopt));
          })
          .Case([&](SplitOp op) {
            return orNull(infer->inferJoinLayout(
                resultLayout, shapeOf(op.getOutLHS()), std::nullopt));
          })
          .Default(resultLayout);
  if (!operandLayout)
    return {};
  // There may be several ways to get to equivalent layouts, or none.
  Attribute back = inferResultLayout(result, operandLayout);
  if (!back)
    return {};
  if (back == resultLayout ||
      areLayoutsEquivalent(shapeOf(result), back, resultLayout))
    return operandLayout;
  return {};
}
