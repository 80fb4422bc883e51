//===-- MemDescOps.cpp - Views of memory descriptors ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "LayoutInterfaces.h"
#include "tile/Dialect/TritonGPU/IR/BufferSize.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

/// A view has the memory space of its source, and is mutable only if that is;
/// with `mayFreeze`, it need not be even then.
static LogicalResult verifyView(Operation *op, MemDescType src, MemDescType dst,
                                bool mayFreeze = false) {
  if (src.getMemorySpace() != dst.getMemorySpace())
    return op->emitOpError()
           << "expected a result in " << src.getMemorySpace()
           << ", like the source, found " << dst.getMemorySpace();
  bool isFrozen = mayFreeze && !dst.getMutableMemory();
  if (src.getMutableMemory() != dst.getMutableMemory() && !isFrozen)
    return op->emitOpError()
           << "expected a result that is mutable where the source is, found "
           << dst << " of " << src;
  return success();
}

static LogicalResult verifySameElements(Operation *op, MemDescType src,
                                        MemDescType dst) {
  if (src.getElementType() == dst.getElementType())
    return success();
  return op->emitOpError() << "expected a result with elements of type "
                           << src.getElementType()
                           << ", like the source, found "
                           << dst.getElementType();
}

//===----------------------------------------------------------------------===//
// MemDescIndexOp
//===----------------------------------------------------------------------===//

Value MemDescIndexOp::getViewSource() { return getSrc(); }

LogicalResult MemDescIndexOp::verify() {
  MemDescType src = getSrc().getType(), dst = getType();
  if (failed(verifyView(*this, src, dst, /*mayFreeze=*/true)) ||
      failed(verifySameElements(*this, src, dst)))
    return failure();
  if (src.getEncoding() != dst.getEncoding())
    return emitOpError() << "expected a result with encoding "
                         << src.getEncoding() << ", like the source, found "
                         << dst.getEncoding();
  if (dst.getShape() != src.getShape().drop_front())
    return emitOpError() << "expected a result of shape ["
                         << src.getShape().drop_front() << "], found ["
                         << dst.getShape() << "]";
  auto encoding = dyn_cast<LayoutEncodingTrait>(src.getEncoding());
  if (encoding && src.getShape().size() != encoding.getRank() + 1)
    return emitOpError() << "expected the source to be an array of buffers, "
                            "found one buffer of rank "
                         << encoding.getRank();
  return success();
}

//===----------------------------------------------------------------------===//
// MemDescSubsliceOp
//===----------------------------------------------------------------------===//

Value MemDescSubsliceOp::getViewSource() { return getSrc(); }

LogicalResult MemDescSubsliceOp::verify() {
  MemDescType src = getSrc().getType(), dst = getType();
  if (failed(verifyView(*this, src, dst)) ||
      failed(verifySameElements(*this, src, dst)))
    return failure();
  if (src.getEncoding() != dst.getEncoding())
    return emitOpError() << "expected a result with encoding "
                         << src.getEncoding() << ", like the source, found "
                         << dst.getEncoding();
  unsigned rank = src.getShape().size();
  if (dst.getShape().size() != rank || getOffsets().size() != rank)
    return emitOpError()
           << "expected source, result and offsets of one rank, found " << rank
           << ", " << dst.getShape().size() << " and " << getOffsets().size();
  if (dst.getAllocShape() != src.getAllocShape())
    return emitOpError() << "expected a part of a buffer of shape ["
                         << src.getAllocShape() << "], like the source, found ["
                         << dst.getAllocShape() << "]";
  auto encoding = dyn_cast<LayoutEncodingTrait>(src.getEncoding());
  bool isArray = encoding && rank == encoding.getRank() + 1;
  for (unsigned dim = 0; dim < rank; ++dim) {
    int64_t offset = getOffsets()[dim], size = dst.getShape()[dim];
    if (offset < 0 || offset + size > src.getShape()[dim])
      return emitOpError() << "expected a part of the source, which has size "
                           << src.getShape()[dim] << " in dimension " << dim
                           << ", found " << offset << " to " << offset + size;
    // Buffers of an array follow one another.
    if (isArray && dim == 0)
      continue;
    // Otherwise the view would not be linear in the bits of the coordinates.
    if (offset % size != 0)
      return emitOpError() << "expected an offset in dimension " << dim
                           << " that is a multiple of the size " << size
                           << ", found " << offset;
  }
  return success();
}

OpFoldResult MemDescSubsliceOp::fold(FoldAdaptor adaptor) {
  if (getSrc().getType() == getType())
    return getSrc();
  if (auto inner = getSrc().getDefiningOp<MemDescSubsliceOp>()) {
    SmallVector<int32_t> offsets;
    for (auto [a, b] : llvm::zip(inner.getOffsets(), getOffsets()))
      offsets.push_back(a + b);
    setOffsets(offsets);
    getSrcMutable().assign(inner.getSrc());
    return getResult();
  }
  return {};
}

//===----------------------------------------------------------------------===//
// MemDescTransOp
//===----------------------------------------------------------------------===//

Value MemDescTransOp::getViewSource() { return getSrc(); }

LogicalResult MemDescTransOp::inferReturnTypes(MLIRContext *context,
                                               std::optional<Location> loc,
                                               Adaptor adaptor,
                                               SmallVectorImpl<Type> &results) {
  auto src = cast<MemDescType>(adaptor.getSrc().getType());
  ArrayRef<int32_t> order = adaptor.getOrder();
  unsigned rank = src.getShape().size();
  auto fail = [&](const Twine &message) -> LogicalResult {
    return emitOptionalError(loc, message);
  };
  SmallVector<bool> seen(rank, false);
  for (int32_t dim : order) {
    if (dim < 0 || dim >= int32_t(rank) || seen[dim])
      return fail("expected 'order' to have each dimension once, found " +
                  Twine(dim) +
                  (dim < 0 || dim >= int32_t(rank) ? "" : " twice"));
    seen[dim] = true;
  }
  if (order.size() != rank)
    return fail("expected 'order' to have " + Twine(rank) +
                " entries, the rank of the source, found " +
                Twine(order.size()));

  // The leading dimension of an array of buffers stays in front.
  auto layout = dyn_cast<LayoutEncodingTrait>(src.getEncoding());
  unsigned leading = layout ? rank - layout.getRank() : 0;
  SmallVector<int32_t> layoutOrder;
  for (int32_t dim : order.drop_front(leading))
    layoutOrder.push_back(dim - leading);
  if (leading == 1 && order.front() != 0)
    return fail("expected the dimension that counts buffers to stay in front, "
                "found dimension " +
                Twine(order.front()) + " there");

  ArrayRef<int64_t> alloc = src.getAllocShape();
  SmallVector<int64_t> shape, allocShape(alloc.drop_back(rank));
  for (int32_t dim : order) {
    shape.push_back(src.getShape()[dim]);
    allocShape.push_back(alloc.take_back(rank)[dim]);
  }
  Attribute encoding = src.getEncoding();
  auto *interface =
      dyn_cast<DialectInferLayoutInterface>(&encoding.getDialect());
  if (!interface)
    return fail("the dialect of the encoding cannot transpose it");
  // A part lies as the whole buffer does.
  FailureOr<Attribute> transposed = interface->inferTransLayout(
      encoding, alloc.take_back(rank).drop_front(leading), layoutOrder, loc);
  if (failed(transposed))
    return failure();
  results.push_back(MemDescType::get(shape, src.getElementType(), *transposed,
                                     src.getMemorySpace(),
                                     src.getMutableMemory(), allocShape));
  return success();
}

bool MemDescTransOp::isCompatibleReturnTypes(TypeRange inferred,
                                             TypeRange actual) {
  if (inferred.size() != 1 || actual.size() != 1)
    return false;
  auto expected = dyn_cast<MemDescType>(inferred[0]);
  auto found = dyn_cast<MemDescType>(actual[0]);
  if (!expected || !found)
    return false;
  if (expected == found)
    return true;
  auto sameButEncoding =
      MemDescType::get(expected.getShape(), expected.getElementType(),
                       found.getEncoding(), expected.getMemorySpace(),
                       expected.getMutableMemory(), expected.getAllocShape());
  return sameButEncoding == found && haveEquivalentLayouts(expected, found);
}

LogicalResult MemDescTransOp::verify() {
  return verifyView(*this, getSrc().getType(), getType());
}

OpFoldResult MemDescTransOp::fold(FoldAdaptor adaptor) {
  if (getSrc().getType() == getType() &&
      llvm::equal(getOrder(), llvm::seq<int32_t>(getOrder().size())))
    return getSrc();
  if (auto inner = getSrc().getDefiningOp<MemDescTransOp>()) {
    SmallVector<int32_t> order;
    for (int32_t dim : getOrder())
      order.push_back(inner.getOrder()[dim]);
    setOrder(order);
    getSrcMutable().assign(inner.getSrc());
    return getResult();
  }
  return {};
}

//===----------------------------------------------------------------------===//
// MemDescReshapeOp
//===----------------------------------------------------------------------===//

Value MemDescReshapeOp::getViewSource() { return getSrc(); }

bool gpu::haveEquivalentLayouts(MemDescType lhs, MemDescType rhs) {
  if (lhs.getEncoding() == rhs.getEncoding())
    return true;
  // Padding is not part of the linear layout.
  auto leftPadded = dyn_cast<PaddedSharedEncodingAttr>(lhs.getEncoding());
  auto rightPadded = dyn_cast<PaddedSharedEncodingAttr>(rhs.getEncoding());
  if (!leftPadded != !rightPadded)
    return false;
  if (leftPadded && (leftPadded.getIntervals() != rightPadded.getIntervals() ||
                     leftPadded.getPaddings() != rightPadded.getPaddings()))
    return false;
  auto rank = [](MemDescType type) {
    auto layout = dyn_cast<LayoutEncodingTrait>(type.getEncoding());
    return layout ? layout.getRank() : type.getShape().size();
  };
  if (rank(lhs) != rank(rhs))
    return false;
  return areLayoutsEquivalent(lhs.getAllocShape().take_back(rank(lhs)),
                              lhs.getEncoding(), rhs.getEncoding());
}

FailureOr<MemDescType>
MemDescReshapeOp::inferResultType(MemDescType srcType, ArrayRef<int64_t> shape,
                                  std::optional<Location> loc) {
  MLIRContext *context = srcType.getContext();
  if (ShapedType::getNumElements(srcType.getShape()) !=
      ShapedType::getNumElements(shape)) {
    if (loc)
      mlir::emitError(*loc)
          << "expected as many elements as [" << srcType.getShape()
          << "] has, found [" << shape << "]";
    return failure();
  }
  if (srcType.getAllocShape() != srcType.getShape()) {
    if (loc)
      mlir::emitError(*loc)
          << "expected a whole buffer to reshape, found a part: " << srcType;
    return failure();
  }
  auto encoding = dyn_cast<SharedEncodingTrait>(srcType.getEncoding());
  if (!encoding || cast<LayoutEncodingTrait>(srcType.getEncoding()).getRank() !=
                       srcType.getShape().size()) {
    if (loc)
      mlir::emitError(*loc)
          << "expected a single buffer in shared memory to reshape, found "
          << srcType;
    return failure();
  }
  auto emit = [&] { return mlir::emitError(*loc); };
  FailureOr<LinearLayout> layout =
      loc ? tryToLinearLayout(srcType.getShape(), encoding, emit)
          : tryToLinearLayout(srcType.getShape(), encoding);
  if (failed(layout))
    return failure();
  LinearLayout reshaped = reshapeOuts(*layout, shape);

  Attribute result;
  if (auto padded = dyn_cast<PaddedSharedEncodingAttr>(srcType.getEncoding())) {
    result = PaddedSharedEncodingAttr::get(context, padded.getIntervals(),
                                           padded.getPaddings(), reshaped);
  } else {
    result = SharedLinearEncodingAttr::get(context, reshaped,
                                           encoding.getAlignment());
    // Prefer a name that the users of the memory know.
    unsigned rank = shape.size();
    SmallVector<Attribute> names = {
        SwizzledSharedEncodingAttr::get(context, rank)};
    // With one dimension there are no two to transpose.
    if (auto mma = dyn_cast<NVMMASharedEncodingAttr>(srcType.getEncoding());
        mma && (rank > 1 || !mma.getTransposed()))
      names.push_back(NVMMASharedEncodingAttr::get(
          context, mma.getSwizzlingByteWidth(), mma.getTransposed(),
          mma.getElementBitWidth(), mma.getFp4Padded(),
          CTALayoutAttr::getDefault(context, rank)));
    for (Attribute name : names)
      if (getNumCTAs(srcType.getEncoding()) == 1 &&
          areLayoutsEquivalent(shape, name, result))
        result = name;
  }
  return MemDescType::get(shape, srcType.getElementType(), result,
                          srcType.getMemorySpace(), srcType.getMutableMemory());
}

LogicalResult MemDescReshapeOp::verify() {
  MemDescType src = getSrc().getType(), dst = getType();
  if (failed(verifyView(*this, src, dst)) ||
      failed(verifySameElements(*this, src, dst)))
    return failure();
  FailureOr<MemDescType> expected =
      inferResultType(src, dst.getShape(), getLoc());
  if (failed(expected))
    return failure();
  if (!haveEquivalentLayouts(*expected, dst))
    return emitOpError() << "expected a result with an encoding equivalent to "
                         << expected->getEncoding() << ", found "
                         << dst.getEncoding();
  return success();
}

OpFoldResult MemDescReshapeOp::fold(FoldAdaptor adaptor) {
  if (getSrc().getType() == getType())
    return getSrc();
  if (auto inner = getSrc().getDefiningOp<MemDescReshapeOp>()) {
    getSrcMutable().assign(inner.getSrc());
    return getResult();
  }
  return {};
}

//===----------------------------------------------------------------------===//
// MemDescReinterpretOp
//===----------------------------------------------------------------------===//

Value MemDescReinterpretOp::getViewSource() { return getSrc(); }

/// Bytes of a view in the memory of one block: of a whole buffer with what its
/// encoding leaves unused, of a part those of its elements.
static int64_t getSizeInBytes(MemDescType type) {
  int64_t width = 64; // Pointers.
  if (type.getElementType().isIntOrFloat())
    width = std::max(8u, type.getElementType().getIntOrFloatBitWidth());
  int64_t elements = type.getShape() == type.getAllocShape()
                         ? getElementsInMemory(type)
                         : ShapedType::getNumElements(type.getShape());
  return elements * width / 8;
}

LogicalResult MemDescReinterpretOp::verify() {
  MemDescType src = getSrc().getType(), dst = getType();
  if (failed(verifyView(*this, src, dst, /*mayFreeze=*/true)))
    return failure();
  // Tensor memory has a geometry of its own, which its dialect checks.
  if (!isa<SharedMemorySpaceAttr>(src.getMemorySpace()))
    return success();
  if (getSizeInBytes(dst) > getSizeInBytes(src))
    return emitOpError() << "expected a result of at most the "
                         << getSizeInBytes(src)
                         << " bytes of the source, found "
                         << getSizeInBytes(dst);
  return success();
}

OpFoldResult MemDescReinterpretOp::fold(FoldAdaptor adaptor) {
  if (getSrc().getType() == getType())
    return getSrc();
  if (auto inner = getSrc().getDefiningOp<MemDescReinterpretOp>()) {
    getSrcMutable().assign(inner.getSrc());
    return getResult();
  }
  return {};
}
