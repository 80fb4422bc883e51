//===-- ConversionOps.cpp - Operands in MX formats ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "amd/IR/Dialect.h"

#include "tile/Dialect/TritonGPU/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::amdgpu;

/// The shape with a dimension twice as long.
static SmallVector<int64_t> getUnpackedShape(ArrayRef<int64_t> shape,
                                             unsigned axis) {
  SmallVector<int64_t> result(shape);
  result[axis] *= 2;
  return result;
}

static LogicalResult verifyShape(Operation *op, StringRef what,
                                 ArrayRef<int64_t> found,
                                 ArrayRef<int64_t> expected) {
  if (found == expected)
    return success();
  return op->emitOpError("expected ")
         << what << " of shape [" << expected << "], found [" << found << "]";
}

static LogicalResult verifyScaleOfEach(Operation *op, RankedTensorType scale,
                                       RankedTensorType output) {
  if (failed(verifyShape(op, "scales", scale.getShape(), output.getShape())))
    return failure();
  if (scale.getEncoding() == output.getEncoding())
    return success();
  return op->emitOpError("expected scales in the layout of the result, found ")
         << scale << " and " << output;
}

LogicalResult ScaledUpcastFp4Op::verify() {
  RankedTensorType input = getInput().getType(), output = getOutput().getType();
  if (getAxis() >= input.getRank())
    return emitOpError("expected an axis below ")
           << input.getRank() << ", found " << getAxis();
  if (failed(verifyShape(*this, "a result", output.getShape(),
                         getUnpackedShape(input.getShape(), getAxis()))))
    return failure();
  return verifyScaleOfEach(*this, getScale().getType(), output);
}

LogicalResult ScaledUpcastFp8Op::verify() {
  RankedTensorType input = getInput().getType(), output = getOutput().getType();
  if (failed(
          verifyShape(*this, "a result", output.getShape(), input.getShape())))
    return failure();
  return verifyScaleOfEach(*this, getScale().getType(), output);
}

/// Whether an operand of a dot with this layout is the right one.
static bool isRightOperand(RankedTensorType type) {
  auto operand =
      dyn_cast_if_present<gpu::DotOperandEncodingAttr>(type.getEncoding());
  return operand && operand.getOpIdx() == 1;
}

bool UpcastMXFPOp::isRight() { return isRightOperand(getType()); }

LogicalResult UpcastMXFPOp::verify() {
  RankedTensorType src = getSrc().getType(), result = getType();
  unsigned rank = src.getRank();
  if (rank < 2)
    return emitOpError("expected at least two dimensions, found ") << src;
  unsigned k = isRight() ? rank - 2 : rank - 1;
  SmallVector<int64_t> shape(src.getShape());
  switch (getFpType()) {
  case ScaleDotElemType::E2M1:
    if (!src.getElementType().isInteger(8))
      return emitOpError("expected pairs of e2m1 in i8, found ") << src;
    shape = getUnpackedShape(shape, k);
    break;
  case ScaleDotElemType::E4M3:
  case ScaleDotElemType::E5M2:
    break;
  default:
    return emitOpError("expected e2m1, e4m3 or e5m2, found ")
           << stringifyScaleDotElemType(getFpType());
  }
  if (failed(verifyShape(*this, "a result", result.getShape(), shape)))
    return failure();
  constexpr int64_t kElementsOfScale = 32;
  SmallVector<int64_t> scales(shape);
  if (isRight())
    std::swap(scales[rank - 2], scales[rank - 1]);
  scales.back() /= kElementsOfScale;
  return verifyShape(*this, "scales", getScale().getType().getShape(), scales);
}

LogicalResult LocalLoadPackedTransposedOp::verify() {
  RankedTensorType type = getType();
  gpu::MemDescType src = getSrc().getType();
  if (!src.getElementType().isInteger(8) || src.getRank() != 2)
    return emitOpError("expected a matrix of bytes, found ") << src;
  if (!isa_and_present<gpu::DotOperandEncodingAttr>(type.getEncoding()))
    return emitOpError("expected an operand of a product as result, found ")
           << type;
  SmallVector<int64_t> expected(src.getShape());
  unsigned packed = isRightOperand(type) ? 1 : 0;
  expected[packed] *= 2;
  expected[1 - packed] /= 2;
  return verifyShape(*this, "a result", type.getShape(), expected);
}
