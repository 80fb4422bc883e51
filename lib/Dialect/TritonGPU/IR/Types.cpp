//===-- Types.cpp - Types of the ttg dialect ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "tile/Dialect/TritonGPU/IR/Types.h"
#include "mlir/IR/DialectImplementation.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

#define GET_TYPEDEF_CLASSES
#include "tile/Dialect/TritonGPU/IR/Types.cpp.inc"

void TritonGPUDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "tile/Dialect/TritonGPU/IR/Types.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// MemDescType
//===----------------------------------------------------------------------===//

MemDescType MemDescType::get(ArrayRef<int64_t> shape, Type elementType,
                             Attribute encoding, Attribute memorySpace,
                             bool mutableMemory) {
  return get(shape, elementType, encoding, memorySpace, mutableMemory, shape);
}

MemDescType MemDescType::get(ArrayRef<int64_t> shape, Type elementType,
                             Attribute encoding, Attribute memorySpace,
                             bool mutableMemory, ArrayRef<int64_t> allocShape) {
  return Base::get(elementType.getContext(), shape, elementType, encoding,
                   memorySpace, mutableMemory, allocShape);
}

MemDescType
MemDescType::getChecked(function_ref<InFlightDiagnostic()> emitError,
                        ArrayRef<int64_t> shape, Type elementType,
                        Attribute encoding, Attribute memorySpace,
                        bool mutableMemory) {
  return getChecked(emitError, shape, elementType, encoding, memorySpace,
                    mutableMemory, shape);
}

MemDescType
MemDescType::getChecked(function_ref<InFlightDiagnostic()> emitError,
                        ArrayRef<int64_t> shape, Type elementType,
                        Attribute encoding, Attribute memorySpace,
                        bool mutableMemory, ArrayRef<int64_t> allocShape) {
  return Base::getChecked(emitError, elementType.getContext(), shape,
                          elementType, encoding, memorySpace, mutableMemory,
                          allocShape);
}

MemDescType MemDescType::cloneWith(std::optional<ArrayRef<int64_t>> shape,
                                   Type elementType) const {
  if (!shape)
    return get(getShape(), elementType, getEncoding(), getMemorySpace(),
               getMutableMemory(), getAllocShape());
  return get(*shape, elementType, getEncoding(), getMemorySpace(),
             getMutableMemory(), *shape);
}

MemDescType MemDescType::withMutable(bool isMutable) const {
  return get(getShape(), getElementType(), getEncoding(), getMemorySpace(),
             isMutable, getAllocShape());
}

Type MemDescType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> shape, allocShape;
  Type elementType;
  Attribute encoding, memorySpace;
  if (parser.parseLess() ||
      parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(elementType) || parser.parseComma() ||
      parser.parseAttribute(encoding) || parser.parseComma() ||
      parser.parseAttribute(memorySpace))
    return {};
  bool isMutable = false;
  bool hasAllocShape = false;
  if (succeeded(parser.parseOptionalComma())) {
    isMutable = succeeded(parser.parseOptionalKeyword("mutable"));
    hasAllocShape = !isMutable || succeeded(parser.parseOptionalComma());
  }
  if (hasAllocShape &&
      parser.parseDimensionList(allocShape, /*allowDynamic=*/false,
                                /*withTrailingX=*/false))
    return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<MemDescType>(
      loc, ArrayRef<int64_t>(shape), elementType, encoding, memorySpace,
      isMutable, ArrayRef<int64_t>(hasAllocShape ? allocShape : shape));
}

void MemDescType::print(AsmPrinter &printer) const {
  printer << "<";
  printer.printDimensionList(getShape());
  if (!getShape().empty())
    printer << "x";
  printer << getElementType() << ", " << getEncoding() << ", "
          << getMemorySpace();
  if (getMutableMemory())
    printer << ", mutable";
  if (getAllocShape() != getShape()) {
    printer << ", ";
    printer.printDimensionList(getAllocShape());
  }
  printer << ">";
}

LogicalResult MemDescType::verify(function_ref<InFlightDiagnostic()> emitError,
                                  ArrayRef<int64_t> shape, Type elementType,
                                  Attribute encoding, Attribute memorySpace,
                                  bool mutableMemory,
                                  ArrayRef<int64_t> allocShape) {
  if (shape.empty())
    return emitError() << "expected a memory descriptor of at least one "
                          "dimension, found none";
  if (llvm::any_of(shape, [](int64_t size) { return size <= 0; }))
    return emitError()
           << "expected positive dimensions of a memory descriptor, found ["
           << shape << "]";
  if (!elementType.isIntOrIndexOrFloat() && !isa<PointerType>(elementType))
    return emitError()
           << "expected elements that are numbers or pointers, found "
           << elementType;
  if (!encoding)
    return emitError()
           << "expected an encoding of a memory descriptor, found none";
  if (!memorySpace)
    return emitError()
           << "expected a memory space of a memory descriptor, found none";

  if (auto layout = dyn_cast<LayoutEncodingTrait>(encoding)) {
    if (isa<DistributedEncodingTrait>(encoding))
      return emitError()
             << "expected an encoding of memory, found one of registers: "
             << encoding;
    size_t rank = layout.getRank();
    if (shape.size() != rank && shape.size() != rank + 1)
      return emitError() << "expected a shape of rank " << rank
                         << ", like the encoding (or " << rank + 1
                         << " for an array of buffers), found [" << shape
                         << "]";
    // The leading dimension of an array of buffers is counted by an index and
    // may have any size; the others are those of a layout.
    for (int64_t size : shape.take_back(rank))
      if (!llvm::isPowerOf2_64(size))
        return emitError() << "expected dimensions of a buffer that are powers "
                              "of two, found ["
                           << shape << "]";
  }

  if (allocShape.size() < shape.size())
    return emitError()
           << "expected a whole buffer of no fewer dimensions than the view, ["
           << shape << "], found [" << allocShape << "]";
  if (auto layout = dyn_cast<LayoutEncodingTrait>(encoding))
    for (int64_t size : allocShape.take_back(layout.getRank()))
      if (!llvm::isPowerOf2_64(size))
        return emitError() << "expected dimensions of a whole buffer that are "
                              "powers of two, found ["
                           << allocShape << "]";
  for (auto [whole, view] :
       llvm::zip(allocShape.take_back(shape.size()), shape))
    if (view > whole)
      return emitError() << "expected a view no larger than the whole buffer, ["
                         << allocShape << "], found [" << shape << "]";
  // Whoever works on a buffer asks for its layout.
  if (isa<SharedEncodingTrait>(encoding)) {
    size_t rank = cast<LayoutEncodingTrait>(encoding).getRank();
    return tryToLinearLayout(allocShape.take_back(rank), encoding, emitError);
  }
  // Other memories have no smaller parts than bytes.
  if (elementType.isIntOrFloat() && elementType.getIntOrFloatBitWidth() < 8)
    return emitError() << "expected elements of at least 8 bits outside of "
                          "shared memory, found "
                       << elementType;
  return success();
}
