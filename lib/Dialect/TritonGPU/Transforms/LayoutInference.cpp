//===-- LayoutInference.cpp - How operations relate layouts ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Dialect/TritonGPU/Transforms/LayoutInference.h"

#include "tile/Dialect/Triton/IR/MemoryOps.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/Transforms/CoalescedAccess.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

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

/// The role of operations of all dialects: foreign ones are told apart by what
/// their traits say.
static LayoutRole getLayoutRole(Operation *op) {
  if (auto rules = dyn_cast<LayoutInferenceOpInterface>(op))
    return rules.getLayoutRole();
  if (isSmallLoad(op) || op->hasTrait<mlir::OpTrait::Elementwise>())
    return LayoutRole::Flexible;
  if (op->hasTrait<mlir::OpTrait::ConstantLike>()) {
    Attribute value;
    bool hasElements = matchPattern(op, m_Constant(&value)) &&
                       isa<ElementsAttr>(value) &&
                       !isa<SplatElementsAttr>(value);
    return hasElements ? LayoutRole::Neutral : LayoutRole::Free;
  }
  // Control flow hands on what it gets.
  return op->getNumRegions() ? LayoutRole::Neutral : LayoutRole::Anchor;
}

bool mlir::triton::gpu::isLayoutFlexible(Operation *op) {
  return getLayoutRole(op) == LayoutRole::Flexible;
}

bool mlir::triton::gpu::isLayoutFree(Operation *op) {
  return getLayoutRole(op) == LayoutRole::Free;
}

bool mlir::triton::gpu::isLayoutAnchor(Operation *op) {
  return getLayoutRole(op) == LayoutRole::Anchor;
}

bool mlir::triton::gpu::acceptsAnyLayout(OpOperand &operand) {
  auto rules = dyn_cast<LayoutInferenceOpInterface>(operand.getOwner());
  return rules && rules.acceptsAnyLayout(operand);
}

bool mlir::triton::gpu::isSmallLoad(Operation *op) {
  auto load = dyn_cast<LoadOp>(op);
  if (!load || isFreshRead(load) || !getLaidOutTensor(load.getPtr().getType()))
    return false;
  auto type = cast<RankedTensorType>(load.getPtr().getType());
  std::optional<int> numWarps = maybeLookupNumWarps(op);
  if (!numWarps ||
      type.getNumElements() >= *numWarps * lookupThreadsPerWarp(op))
    return false;
  // A copy beside the threads keeps the layout that it needs.
  int64_t least = getLeastCopied(op);
  return least == 1 || getContigPerThread(type)[getOrder(type)[0]] < least;
}

//===----------------------------------------------------------------------===//
// Inference
//===----------------------------------------------------------------------===//

Attribute mlir::triton::gpu::inferResultLayout(OpResult result,
                                               Attribute operandLayout) {
  if (!getLaidOutTensor(result.getType()))
    return {};
  auto rules = dyn_cast<LayoutInferenceOpInterface>(result.getOwner());
  if (!rules)
    return operandLayout;
  FailureOr<Attribute> layout =
      rules.inferResultLayout(result, operandLayout, std::nullopt);
  return succeeded(layout) ? *layout : Attribute();
}

Attribute mlir::triton::gpu::inferOperandLayout(OpResult result,
                                                Attribute resultLayout) {
  auto rules = dyn_cast<LayoutInferenceOpInterface>(result.getOwner());
  if (!rules)
    return getLaidOutTensor(result.getType()) ? resultLayout : Attribute();
  FailureOr<Attribute> operandLayout =
      rules.inferOperandLayout(result, resultLayout, std::nullopt);
  if (failed(operandLayout))
    return {};
  // There may be several ways to get to equivalent layouts, or none.
  ArrayRef<int64_t> shape = cast<RankedTensorType>(result.getType()).getShape();
  auto leadsBack = [&](Attribute layout) {
    Attribute back = inferResultLayout(result, layout);
    return back && (back == resultLayout ||
                    areLayoutsEquivalent(shape, back, resultLayout));
  };
  if (leadsBack(*operandLayout))
    return *operandLayout;
  // A join puts the new dimension first in a thread. As slices of the result,
  // its operands keep the result's order.
  if (isa<JoinOp>(result.getOwner()) &&
      isa<DistributedEncodingTrait>(resultLayout)) {
    Attribute slice = SliceEncodingAttr::get(
        result.getContext(), unsigned(shape.size() - 1), resultLayout);
    if (leadsBack(slice))
      return slice;
  }
  return {};
}
