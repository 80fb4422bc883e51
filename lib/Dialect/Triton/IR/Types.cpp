//===-- Types.cpp - Types of the tt dialect -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Dialect/Triton/IR/Types.h"
#include "mlir/IR/DialectImplementation.h"
#include "tile/Dialect/Triton/IR/BlockTypeSyntax.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::triton;

ParseResult triton::parseBlockType(AsmParser &parser, RankedTensorType &block) {
  SMLoc loc = parser.getCurrentLocation();
  Type type;
  if (OptionalParseResult tensor = parser.parseOptionalType(type);
      tensor.has_value()) {
    if (failed(*tensor))
      return failure();
    auto ranked = dyn_cast<RankedTensorType>(type);
    if (!ranked)
      return parser.emitError(loc, "expected a ranked tensor, found ") << type;
    block = ranked;
    return success();
  }
  SmallVector<int64_t> shape;
  Type element;
  Attribute encoding;
  if (parser.parseDimensionList(shape) || parser.parseType(element))
    return failure();
  if (succeeded(parser.parseOptionalComma()) && parser.parseAttribute(encoding))
    return failure();
  auto ranked =
      parser.getChecked<RankedTensorType>(loc, shape, element, encoding);
  if (!ranked)
    return failure();
  block = ranked;
  return success();
}

void triton::printBlockType(AsmPrinter &printer, RankedTensorType block) {
  printer << block;
}

#define GET_TYPEDEF_CLASSES
#include "tile/Dialect/Triton/IR/Types.cpp.inc"

void TritonDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "tile/Dialect/Triton/IR/Types.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// PointerType
//===----------------------------------------------------------------------===//

static constexpr int defaultAddressSpace = 1;

Type PointerType::parse(AsmParser &parser) {
  Type pointee;
  int addressSpace = defaultAddressSpace;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseType(pointee))
    return {};
  if (succeeded(parser.parseOptionalComma()) &&
      parser.parseInteger(addressSpace))
    return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<PointerType>(loc, parser.getContext(), pointee,
                                        addressSpace);
}

void PointerType::print(AsmPrinter &printer) const {
  printer << "<" << getPointeeType();
  if (getAddressSpace() != defaultAddressSpace)
    printer << ", " << getAddressSpace();
  printer << ">";
}

LogicalResult PointerType::verify(function_ref<InFlightDiagnostic()> emitError,
                                  Type pointeeType, int addressSpace) {
  if (addressSpace < 0)
    return emitError() << "expected a non-negative address space, found "
                       << addressSpace;
  if (auto block = dyn_cast<RankedTensorType>(pointeeType)) {
    if (!block.hasStaticShape())
      return emitError() << "expected a block of static shape, found " << block;
    if (!isa<PointerType>(block.getElementType()) &&
        !block.getElementType().isIntOrFloat())
      return emitError() << "expected a block of numbers or pointers, found "
                         << block;
    return success();
  }
  if (!pointeeType.isIntOrFloat() && !isa<PointerType, NoneType>(pointeeType))
    return emitError()
           << "expected a pointer to a number, pointer or tensor, found "
           << pointeeType;
  return success();
}

//===----------------------------------------------------------------------===//
// TensorDescType
//===----------------------------------------------------------------------===//

LogicalResult
TensorDescType::verify(function_ref<InFlightDiagnostic()> emitError,
                       RankedTensorType blockType) {
  if (!blockType.hasStaticShape() || blockType.getRank() == 0)
    return emitError()
           << "expected a block of static shape and rank 1 or more, found "
           << blockType;
  if (!blockType.getElementType().isIntOrFloat())
    return emitError() << "expected a block of numbers, found " << blockType;
  return success();
}

Type TensorDescType::getElementType() {
  auto integer = dyn_cast<IntegerType>(getBlockType().getElementType());
  if (!integer)
    return getBlockType().getElementType();
  return IntegerType::get(getContext(), integer.getWidth());
}

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

bool triton::isBlockPointer(Type type) {
  auto ptr = dyn_cast<PointerType>(type);
  return ptr && isa<RankedTensorType>(ptr.getPointeeType());
}

Type triton::getPointeeType(Type type) {
  auto ptr = dyn_cast<PointerType>(getElementTypeOrSelf(type));
  return ptr ? ptr.getPointeeType() : type;
}

int triton::getAddressSpace(Type type) {
  return cast<PointerType>(getElementTypeOrSelf(type)).getAddressSpace();
}

Type triton::getTypeLike(Type scalar, Type like) {
  auto tensor = dyn_cast<RankedTensorType>(like);
  return tensor ? Type(tensor.clone(scalar)) : scalar;
}

Type triton::getLoadedType(Type ptrType) {
  auto ptr = dyn_cast<PointerType>(getElementTypeOrSelf(ptrType));
  // A tensor of block pointers is no valid operand of anything.
  if (!ptr || (isa<RankedTensorType>(ptrType) &&
               isa<RankedTensorType>(ptr.getPointeeType())))
    return ptrType;
  return getTypeLike(ptr.getPointeeType(), ptrType);
}

Type triton::getMaskType(Type type) {
  Type i1 = IntegerType::get(type.getContext(), 1);
  return getTypeLike(i1, isBlockPointer(type) ? getPointeeType(type) : type);
}

Type triton::getBlockBaseType(Type blockPtrType) {
  if (!isBlockPointer(blockPtrType))
    return blockPtrType;
  auto ptr = cast<PointerType>(blockPtrType);
  return PointerType::get(getElementTypeOrSelf(ptr.getPointeeType()),
                          ptr.getAddressSpace());
}

unsigned triton::getElementBitWidth(Type type) {
  Type element = getElementTypeOrSelf(type);
  return isa<PointerType>(element) ? 64 : element.getIntOrFloatBitWidth();
}
