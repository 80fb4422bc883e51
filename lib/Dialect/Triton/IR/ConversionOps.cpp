//===-- ConversionOps.cpp - Conversions -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Support/AttributeNames.h"

using namespace mlir;
using namespace mlir::triton;

//===----------------------------------------------------------------------===//
// Pointers and integers
//===----------------------------------------------------------------------===//

OpFoldResult IntToPtrOp::fold(FoldAdaptor adaptor) {
  auto inverse = getSrc().getDefiningOp<PtrToIntOp>();
  if (inverse && inverse.getSrc().getType() == getType())
    return inverse.getSrc();
  return {};
}

OpFoldResult PtrToIntOp::fold(FoldAdaptor adaptor) {
  auto inverse = getSrc().getDefiningOp<IntToPtrOp>();
  if (inverse && inverse.getSrc().getType() == getType())
    return inverse.getSrc();
  return {};
}

//===----------------------------------------------------------------------===//
// BitcastOp
//===----------------------------------------------------------------------===//

LogicalResult BitcastOp::verify() {
  Type src = getElementTypeOrSelf(getSrc());
  Type result = getElementTypeOrSelf(getType());
  auto srcPtr = dyn_cast<PointerType>(src);
  auto resultPtr = dyn_cast<PointerType>(result);
  if (bool(srcPtr) != bool(resultPtr))
    return emitOpError("expected numbers or pointers on both sides, found ")
           << src << " and " << result;
  if (srcPtr) {
    if (srcPtr.getAddressSpace() != resultPtr.getAddressSpace())
      return emitOpError("expected a pointer to address space ")
             << srcPtr.getAddressSpace() << ", found " << result;
    return success();
  }
  if (src.getIntOrFloatBitWidth() != result.getIntOrFloatBitWidth())
    return emitOpError("expected result elements of ")
           << src.getIntOrFloatBitWidth() << " bits, found " << result;
  return success();
}

/// Whether users have promised something of what the operation gives.
static bool carriesFacts(Operation *op) {
  return llvm::any_of(
      ArrayRef{kDivisibilityAttr, kContiguityAttr, kConstancyAttr},
      [&](StringRef name) { return op->hasAttr(name); });
}

OpFoldResult BitcastOp::fold(FoldAdaptor adaptor) {
  // One of a type to itself carries facts about what a loop carries.
  if (carriesFacts(*this))
    return {};
  if (getSrc().getType() == getType())
    return getSrc();
  if (auto inner = getSrc().getDefiningOp<BitcastOp>();
      inner && !carriesFacts(inner)) {
    if (inner.getSrc().getType() == getType())
      return inner.getSrc();
    getSrcMutable().assign(inner.getSrc());
    return getResult();
  }
  Type element = getElementTypeOrSelf(getType());
  if (!element.isIntOrFloat())
    return {};
  auto fromBits = [element](const APInt &bits) -> Attribute {
    if (auto type = dyn_cast<FloatType>(element))
      return FloatAttr::get(type, APFloat(type.getFloatSemantics(), bits));
    return IntegerAttr::get(element, bits);
  };
  Attribute src = adaptor.getSrc();
  if (auto integer = dyn_cast_if_present<IntegerAttr>(src))
    return fromBits(integer.getValue());
  if (auto number = dyn_cast_if_present<FloatAttr>(src))
    return fromBits(number.getValue().bitcastToAPInt());
  auto elements = dyn_cast_if_present<DenseElementsAttr>(src);
  // Booleans are stored one to a bit, unlike everything else.
  if (!elements || element.getIntOrFloatBitWidth() == 1)
    return {};
  return elements.bitcast(element);
}

//===----------------------------------------------------------------------===//
// FpToFpOp
//===----------------------------------------------------------------------===//

LogicalResult FpToFpOp::verify() {
  unsigned from = getElementBitWidth(getSrc().getType());
  unsigned to = getElementBitWidth(getType());
  if (from > to && !getRounding())
    return emitOpError("expected a rounding mode in the conversion from ")
           << getElementTypeOrSelf(getSrc()) << " to "
           << getElementTypeOrSelf(getType());
  return success();
}

OpFoldResult FpToFpOp::fold(FoldAdaptor adaptor) {
  if (getSrc().getType() == getType())
    return getSrc();
  auto type = cast<FloatType>(getElementTypeOrSelf(getType()));
  // Whether a value that does not fit saturates depends on the target, so only
  // exact conversions are done here.
  auto convert = [type](APFloat value) -> Attribute {
    bool losesInfo = false;
    value.convert(type.getFloatSemantics(), llvm::RoundingMode::TowardZero,
                  &losesInfo);
    if (losesInfo || !value.isFinite())
      return {};
    return FloatAttr::get(type, value);
  };
  if (auto number = dyn_cast_if_present<FloatAttr>(adaptor.getSrc()))
    return convert(number.getValue());
  if (auto splat = dyn_cast_if_present<SplatElementsAttr>(adaptor.getSrc()))
    if (Attribute value = convert(splat.getSplatValue<APFloat>()))
      return SplatElementsAttr::get(cast<ShapedType>(getType()), value);
  return {};
}
