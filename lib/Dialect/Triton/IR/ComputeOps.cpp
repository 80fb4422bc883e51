//===-- ComputeOps.cpp - Matrix products and arithmetic -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mlir/IR/Matchers.h"
#include "tile/Dialect/Triton/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton;

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

/// Checks a * b -> d, where the contracted (K) and outer (M, N) sizes have been
/// unpacked from the operand types.
static LogicalResult verifyDotShapes(Operation *op, ArrayRef<int64_t> a,
                                     ArrayRef<int64_t> b, ArrayRef<int64_t> d) {
  size_t rank = d.size();
  if (rank != 2 && rank != 3)
    return op->emitOpError("expected matrices or batches of them, found rank ")
           << rank;
  if (a.size() != rank || b.size() != rank)
    return op->emitOpError("expected operands of rank ")
           << rank << ", found ranks " << a.size() << " and " << b.size();
  if (rank == 3 && (a[0] != d[0] || b[0] != d[0]))
    return op->emitOpError("expected batches of ")
           << d[0] << " in the operands, found " << a[0] << " and " << b[0];
  if (a[rank - 1] != b[rank - 2])
    return op->emitOpError("expected equal sizes of the contracted dimension, "
                           "found ")
           << a[rank - 1] << " and " << b[rank - 2];
  if (a[rank - 2] != d[rank - 2] || b[rank - 1] != d[rank - 1])
    return op->emitOpError("expected a result of ")
           << a[rank - 2] << " x " << b[rank - 1] << ", found " << d[rank - 2]
           << " x " << d[rank - 1];
  return success();
}

/// Encodings are on all of the matrices or on none, and fit each other.
static LogicalResult verifyDotLayouts(Operation *op, RankedTensorType a,
                                      RankedTensorType b, RankedTensorType d) {
  bool encoded = bool(d.getEncoding());
  if (bool(a.getEncoding()) != encoded || bool(b.getEncoding()) != encoded)
    return op->emitOpError(
               "expected an encoding on all or none of the matrices, found ")
           << a << ", " << b << " and " << d;
  if (!encoded)
    return success();
  const auto *interface =
      getInferLayoutInterface(d.getEncoding(), op->getLoc());
  if (!interface)
    return failure();
  return interface->verifyDotLayouts(op, a.getEncoding(), b.getEncoding(),
                                     d.getEncoding());
}

//===----------------------------------------------------------------------===//
// DotOp
//===----------------------------------------------------------------------===//

LogicalResult DotOp::verify() {
  RankedTensorType a = getA().getType(), b = getB().getType(), d = getType();
  Type aElement = a.getElementType(), bElement = b.getElementType();
  if (aElement.isInteger() != bElement.isInteger() ||
      aElement.getIntOrFloatBitWidth() != bElement.getIntOrFloatBitWidth())
    return emitOpError("expected operand elements of one width, both integers "
                       "or both floats, found ")
           << aElement << " and " << bElement;
  if (aElement.isInteger() != d.getElementType().isInteger())
    return emitOpError("expected accumulation of ")
           << (aElement.isInteger() ? "integers" : "floats")
           << " like the operands, found " << d.getElementType();
  if (getMaxNumImpreciseAcc() < 0)
    return emitOpError("expected a non-negative maxNumImpreciseAcc, found ")
           << getMaxNumImpreciseAcc();
  if (failed(verifyDotShapes(*this, a.getShape(), b.getShape(), d.getShape())))
    return failure();
  return verifyDotLayouts(*this, a, b, d);
}

Value DotOp::getLhs() { return getA(); }
Value DotOp::getRhs() { return getB(); }
OpOperand &DotOp::getAccumulatorMutable() { return getCMutable(); }
Value DotOp::getProduct() { return getD(); }

//===----------------------------------------------------------------------===//
// DotScaledOp
//===----------------------------------------------------------------------===//

/// Whether tensor elements of type `element` can hold values in `format`.
/// Formats of up to 8 bits may also come as bytes.
static bool holdsFormat(Type element, ScaleDotElemType format) {
  switch (format) {
  case ScaleDotElemType::E4M3:
    return isa<Float8E4M3FNType>(element) || element.isInteger(8);
  case ScaleDotElemType::E5M2:
    return isa<Float8E5M2Type>(element) || element.isInteger(8);
  case ScaleDotElemType::E2M3:
  case ScaleDotElemType::E3M2:
  case ScaleDotElemType::E2M1:
    return element.isInteger(8);
  case ScaleDotElemType::BF16:
    return element.isBF16();
  case ScaleDotElemType::FP16:
    return element.isF16();
  }
  return false;
}

/// Checks the scales of an operand whose outer (M or N) and contracted sizes
/// are given, and whose other leading dimensions are `batch`.
static LogicalResult verifyScale(Operation *op,
                                 TypedValue<RankedTensorType> scale,
                                 ArrayRef<int64_t> batch, int64_t outer,
                                 int64_t contracted, StringRef name) {
  if (!scale)
    return success();
  RankedTensorType type = scale.getType();
  int64_t group = type.getElementType().isInteger(8) ? 32 : 16;
  SmallVector<int64_t> expected(batch);
  expected.push_back(outer);
  expected.push_back(contracted / group);
  if (contracted % group != 0)
    return op->emitOpError("expected the contracted size to be a multiple of ")
           << group << " for the scales of " << name << ", found "
           << contracted;
  if (type.getShape() != ArrayRef<int64_t>(expected))
    return op->emitOpError("expected scales of shape [")
           << expected << "] for " << name << ", found " << type;
  return success();
}

LogicalResult DotScaledOp::verify() {
  RankedTensorType a = getA().getType(), b = getB().getType(), d = getType();
  auto checkFormat = [&](RankedTensorType type, ScaleDotElemType format,
                         StringRef name) -> LogicalResult {
    if (holdsFormat(type.getElementType(), format))
      return success();
    return emitOpError("expected elements that hold ")
           << stringifyScaleDotElemType(format) << " in " << name << ", found "
           << type.getElementType();
  };
  if (failed(checkFormat(a, getAElemType(), "a")) ||
      failed(checkFormat(b, getBElemType(), "b")))
    return failure();
  if (!getLhsKPack() && getAElemType() != ScaleDotElemType::E2M1)
    return emitOpError("expected lhs_k_pack = false only with e2m1, found ")
           << stringifyScaleDotElemType(getAElemType());
  if (!getRhsKPack() && getBElemType() != ScaleDotElemType::E2M1)
    return emitOpError("expected rhs_k_pack = false only with e2m1, found ")
           << stringifyScaleDotElemType(getBElemType());

  SmallVector<int64_t> aShape(a.getShape()), bShape(b.getShape());
  size_t rank = d.getRank();
  if (rank < 2 || aShape.size() != rank || bShape.size() != rank)
    return verifyDotShapes(*this, aShape, bShape, d.getShape());
  if (getAElemType() == ScaleDotElemType::E2M1)
    aShape[getLhsKPack() ? rank - 1 : rank - 2] *= 2;
  if (getBElemType() == ScaleDotElemType::E2M1)
    bShape[getRhsKPack() ? rank - 2 : rank - 1] *= 2;
  if (failed(verifyDotShapes(*this, aShape, bShape, d.getShape())))
    return failure();

  ArrayRef<int64_t> batch = d.getShape().drop_back(2);
  int64_t contracted = aShape[rank - 1];
  if (failed(verifyScale(*this, getAScale(), batch, aShape[rank - 2],
                         contracted, "a")) ||
      failed(verifyScale(*this, getBScale(), batch, bShape[rank - 1],
                         contracted, "b")))
    return failure();
  return success();
}

Value DotScaledOp::getLhs() { return getA(); }
Value DotScaledOp::getRhs() { return getB(); }
SmallVector<Value> DotScaledOp::getFactors() {
  SmallVector<Value> factors{getA(), getB()};
  for (Value scale : {getAScale(), getBScale()})
    if (scale)
      factors.push_back(scale);
  return factors;
}
OpOperand &DotScaledOp::getAccumulatorMutable() { return getCMutable(); }
Value DotScaledOp::getProduct() { return getD(); }

//===----------------------------------------------------------------------===//
// Elementwise arithmetic
//===----------------------------------------------------------------------===//

OpFoldResult MulhiUIOp::fold(FoldAdaptor adaptor) {
  // A multiplication by zero or one has nothing in its high half.
  for (auto [value, attr] :
       {std::pair(getX(), adaptor.getX()), std::pair(getY(), adaptor.getY())})
    if (attr && (isConstantZero(value) || isConstantOne(value)))
      return Builder(getContext()).getZeroAttr(getType());
  auto mulhi = [](const APInt &x, const APInt &y) {
    return llvm::APIntOps::mulhu(x, y);
  };
  if (auto x = dyn_cast_if_present<IntegerAttr>(adaptor.getX()))
    if (auto y = dyn_cast_if_present<IntegerAttr>(adaptor.getY()))
      return IntegerAttr::get(getType(), mulhi(x.getValue(), y.getValue()));
  if (auto x = dyn_cast_if_present<SplatElementsAttr>(adaptor.getX()))
    if (auto y = dyn_cast_if_present<SplatElementsAttr>(adaptor.getY()))
      return SplatElementsAttr::get(
          cast<ShapedType>(getType()),
          mulhi(x.getSplatValue<APInt>(), y.getSplatValue<APInt>()));
  return {};
}
