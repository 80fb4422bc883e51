//===-- ShapeOps.cpp - Types and verifiers of the shape operations --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mlir/IR/Builders.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::triton;

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

/// The first of `count` operands as a tensor, or an error if they are no such
/// thing: types are inferred before an operation is verified.
static FailureOr<RankedTensorType> getTensor(ValueRange operands, size_t count,
                                             std::optional<Location> loc) {
  if (operands.size() != count)
    return emitOptionalError(loc, "expected ", count, " operands, found ",
                             operands.size());
  if (auto type = dyn_cast<RankedTensorType>(operands[0].getType()))
    return type;
  return emitOptionalError(loc, "expected a ranked tensor as operand, found ",
                           operands[0].getType());
}

using InferEncoding =
    function_ref<FailureOr<Attribute>(const DialectInferLayoutInterface *)>;

/// Adds, `count` times, a tensor of the given shape whose encoding, if the
/// operand has one, `infer` computes.
static LogicalResult inferTensors(RankedTensorType src, ArrayRef<int64_t> shape,
                                  std::optional<Location> loc,
                                  InferEncoding infer,
                                  SmallVectorImpl<Type> &inferred,
                                  unsigned count = 1) {
  Attribute encoding = src.getEncoding();
  if (encoding) {
    const auto *interface = getInferLayoutInterface(encoding, loc);
    if (!interface)
      return failure();
    FailureOr<Attribute> result = infer(interface);
    if (failed(result))
      return failure();
    encoding = *result;
  }
  inferred.append(count,
                  RankedTensorType::get(shape, src.getElementType(), encoding));
  return success();
}

static LogicalResult verifySameElementType(Operation *op, Type src,
                                           Type result) {
  Type expected = getElementTypeOrSelf(src);
  Type found = getElementTypeOrSelf(result);
  if (expected == found)
    return success();
  return op->emitOpError("expected result elements of type ")
         << expected << ", found " << found;
}

//===----------------------------------------------------------------------===//
// Making tensors
//===----------------------------------------------------------------------===//

LogicalResult MakeRangeOp::verify() {
  int64_t start = getStart(), end = getEnd();
  if (start >= end)
    return emitOpError("expected start < end, found start = ")
           << start << " and end = " << end;
  RankedTensorType type = getType();
  if (type.getRank() != 1)
    return emitOpError("expected a 1-D tensor, found ") << type;
  if (type.getDimSize(0) != end - start)
    return emitOpError("expected a result of end - start = ")
           << end - start << " elements, found " << type.getDimSize(0);
  return success();
}

LogicalResult SplatOp::verify() {
  return verifySameElementType(*this, getSrc().getType(), getType());
}

LogicalResult UnsplatOp::inferReturnTypes(MLIRContext *context,
                                          std::optional<Location> loc,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &inferred) {
  FailureOr<RankedTensorType> src = getTensor(adaptor.getOperands(), 1, loc);
  if (failed(src))
    return failure();
  inferred.push_back(src->getElementType());
  return success();
}

LogicalResult UnsplatOp::verify() {
  RankedTensorType type = getSrc().getType();
  if (type.getNumElements() != 1)
    return emitOpError("expected an operand of one element, found ") << type;
  return success();
}

//===----------------------------------------------------------------------===//
// Changing shape
//===----------------------------------------------------------------------===//

LogicalResult ExpandDimsOp::inferReturnTypes(MLIRContext *context,
                                             std::optional<Location> loc,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &inferred) {
  FailureOr<RankedTensorType> src = getTensor(adaptor.getOperands(), 1, loc);
  if (failed(src))
    return failure();
  if (!adaptor.getAxisAttr())
    return emitOptionalError(loc, "'tt.expand_dims' op expected an axis");
  int64_t axis = adaptor.getAxis();
  if (axis < 0 || axis > src->getRank())
    return emitOptionalError(loc,
                             "'tt.expand_dims' op expected an axis from 0 to ",
                             src->getRank(), ", found ", axis);
  SmallVector<int64_t> shape(src->getShape());
  shape.insert(shape.begin() + axis, 1);
  return inferTensors(
      *src, shape, loc,
      [&](const DialectInferLayoutInterface *interface) {
        return interface->inferExpandDimsLayout(src->getEncoding(), axis, loc);
      },
      inferred);
}

LogicalResult BroadcastOp::verify() {
  RankedTensorType src = getSrc().getType(), result = getType();
  if (failed(verifySameElementType(*this, src, result)))
    return failure();
  if (src.getRank() != result.getRank())
    return emitOpError("expected a result of rank ")
           << src.getRank() << ", found " << result;
  for (auto [i, from, to] : llvm::enumerate(src.getShape(), result.getShape()))
    if (from != 1 && from != to)
      return emitOpError("expected dimension #")
             << i << " to keep size " << from << ", found " << to;
  return success();
}

void ReshapeOp::build(OpBuilder &builder, OperationState &state,
                      ArrayRef<int64_t> shape, Value src, bool allowReorder) {
  auto type = cast<RankedTensorType>(src.getType());
  SmallVector<Type, 1> result;
  LogicalResult inferred = inferTensors(
      type, shape, state.location,
      [&](const DialectInferLayoutInterface *interface) {
        return interface->inferReshapeLayout(
            type.getEncoding(), type.getShape(), shape, state.location);
      },
      result);
  (void)inferred;
  assert(succeeded(inferred) && "expected a reshape with a layout");
  build(builder, state, result.front(), src, allowReorder,
        /*efficient_layout=*/false);
}

LogicalResult ReshapeOp::verify() {
  RankedTensorType src = getSrc().getType(), result = getType();
  if (failed(verifySameElementType(*this, src, result)))
    return failure();
  if (src.getNumElements() != result.getNumElements())
    return emitOpError("expected a result of ")
           << src.getNumElements() << " elements, found "
           << result.getNumElements() << " in " << result;
  if (bool(src.getEncoding()) != bool(result.getEncoding()))
    return emitOpError("expected an encoding on both or none of operand and "
                       "result, found ")
           << src << " and " << result;
  if (!src.getEncoding() || getAllowReorder())
    return success();
  const auto *interface = getInferLayoutInterface(src.getEncoding(), getLoc());
  if (!interface)
    return failure();
  FailureOr<Attribute> expected = interface->inferReshapeLayout(
      src.getEncoding(), src.getShape(), result.getShape(), getLoc());
  if (failed(expected))
    return failure();
  return interface->verifyLayoutsAreEquivalent(result.getShape(), *expected,
                                               result.getEncoding(), getLoc());
}

LogicalResult TransOp::inferReturnTypes(MLIRContext *context,
                                        std::optional<Location> loc,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &inferred) {
  FailureOr<RankedTensorType> src = getTensor(adaptor.getOperands(), 1, loc);
  if (failed(src))
    return failure();
  if (!adaptor.getOrderAttr())
    return emitOptionalError(loc, "'tt.trans' op expected an order");
  ArrayRef<int32_t> order = adaptor.getOrder();
  int64_t rank = src->getRank();
  llvm::SmallBitVector seen(rank);
  for (int32_t dim : order)
    if (dim >= 0 && dim < rank)
      seen.set(dim);
  if (int64_t(order.size()) != rank || !seen.all())
    return emitOptionalError(
        loc, "'tt.trans' op expected order to be a permutation of the ", rank,
        " dimensions, found [", order, "]");
  auto shape = llvm::map_to_vector(
      order, [&](int32_t dim) { return src->getDimSize(dim); });
  return inferTensors(
      *src, shape, loc,
      [&](const DialectInferLayoutInterface *interface) {
        return interface->inferTransLayout(src->getEncoding(), src->getShape(),
                                           order, loc);
      },
      inferred);
}

//===----------------------------------------------------------------------===//
// Putting tensors together
//===----------------------------------------------------------------------===//

LogicalResult JoinOp::inferReturnTypes(MLIRContext *context,
                                       std::optional<Location> loc,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &inferred) {
  FailureOr<RankedTensorType> src = getTensor(adaptor.getOperands(), 2, loc);
  if (failed(src))
    return failure();
  SmallVector<int64_t> shape(src->getShape());
  shape.push_back(2);
  return inferTensors(
      *src, shape, loc,
      [&](const DialectInferLayoutInterface *interface) {
        return interface->inferJoinLayout(src->getEncoding(), src->getShape(),
                                          loc);
      },
      inferred);
}

LogicalResult SplitOp::inferReturnTypes(MLIRContext *context,
                                        std::optional<Location> loc,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &inferred) {
  FailureOr<RankedTensorType> src = getTensor(adaptor.getOperands(), 1, loc);
  if (failed(src))
    return failure();
  if (src->getRank() == 0 || src->getShape().back() != 2)
    return emitOptionalError(
        loc, "'tt.split' op expected a last dimension of size 2, found ", *src);
  return inferTensors(
      *src, src->getShape().drop_back(), loc,
      [&](const DialectInferLayoutInterface *interface) {
        return interface->inferSplitLayout(src->getEncoding(), src->getShape(),
                                           loc);
      },
      inferred, /*count=*/2);
}

LogicalResult CatOp::verify() {
  RankedTensorType operand = getLhs().getType(), result = getType();
  if (operand.getRank() != result.getRank())
    return emitOpError("expected a result of rank ")
           << operand.getRank() << ", found " << result;
  if (2 * operand.getNumElements() != result.getNumElements())
    return emitOpError("expected a result of ")
           << 2 * operand.getNumElements() << " elements, found "
           << result.getNumElements();
  return success();
}
