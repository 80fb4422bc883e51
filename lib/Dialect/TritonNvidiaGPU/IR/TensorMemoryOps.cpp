//===-- TensorMemoryOps.cpp - Tensor memory -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OpUtils.h"

#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

/// Checks that a tensor and a buffer have the same elements.
static LogicalResult verifySameElements(Operation *op, RankedTensorType tensor,
                                        gpu::MemDescType buffer) {
  if (tensor.getElementType() != buffer.getElementType())
    return op->emitOpError()
           << "tensor has elements of " << tensor.getElementType()
           << " and buffer of " << buffer.getElementType();
  if (tensor.getShape() != buffer.getShape())
    return op->emitOpError()
           << "tensor has shape [" << tensor.getShape()
           << "] and buffer has shape [" << buffer.getShape() << "]";
  return success();
}

/// Checks that each warp holds only what its window of tensor memory holds:
/// warp `w` reaches the lanes from `32 * (w % 4)` on.
static LogicalResult verifyWindows(Operation *op, RankedTensorType tensor,
                                   gpu::MemDescType buffer) {
  auto encoding = dyn_cast<TensorMemoryEncodingAttr>(buffer.getEncoding());
  if (!encoding || !tensor.getEncoding())
    return success();
  // The rows of one window, and so the place of the window number in a row
  // number.
  int32_t rowsPerWindow = encoding.getBlockM() / 4;
  auto getWindow = [&](int32_t row) { return row / rowsPerWindow % 4; };

  LinearLayout layout = toLinearLayout(tensor);
  auto check = [&](StringRef inDim, unsigned bit, int32_t expected) {
    int32_t window = getWindow(layout.getBasis(inDim, bit)[0]);
    if (window == expected)
      return success();
    return LogicalResult(op->emitOpError()
                         << "cannot access tensor memory with this layout: bit "
                         << bit << " of the " << inDim << " index moves by "
                         << window << " 32-lane windows, expected " << expected
                         << " in " << tensor);
  };
  unsigned warpBits = layout.getInDimSizeLog2("warp");
  if (warpBits < 2)
    return op->emitOpError()
           << "needs at least four warps, one for each window "
              "of tensor memory, got "
           << (1 << warpBits);
  for (StringRef inDim : {"register", "lane"})
    for (unsigned bit = 0; bit < layout.getInDimSizeLog2(inDim); ++bit)
      if (failed(check(inDim, bit, 0)))
        return failure();
  for (unsigned bit = 0; bit < warpBits; ++bit)
    if (failed(check("warp", bit, bit < 2 ? 1 << bit : 0)))
      return failure();
  return success();
}

static LogicalResult verifyTransfer(Operation *op, RankedTensorType tensor,
                                    gpu::MemDescType buffer) {
  if (failed(verifyTensorMemory(op, buffer, "buffer")) ||
      failed(verifySameElements(op, tensor, buffer)))
    return failure();
  return verifyWindows(op, tensor, buffer);
}

//===----------------------------------------------------------------------===//
// TMEMAllocOp
//===----------------------------------------------------------------------===//

LogicalResult TMEMAllocOp::verify() {
  gpu::MemDescType type = getResult().getType();
  if (getSrc())
    return verifyTransfer(*this, cast<RankedTensorType>(getSrc().getType()),
                          type);
  if (!type.getMutableMemory())
    return emitOpError("allocates a buffer that is not mutable, and so must be "
                       "given its contents");
  return verifyTensorMemory(*this, type, "buffer");
}

void TMEMAllocOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  // An immutable buffer may be duplicated or merged with an equal one, so that
  // its allocation has no effect.
  if (!getResult().getType().getMutableMemory())
    return;
  effects.emplace_back(MemoryEffects::Allocate::get(),
                       cast<OpResult>(getResult()), TensorMemory::get());
  if (getSrc())
    effects.emplace_back(MemoryEffects::Write::get(),
                         cast<OpResult>(getResult()), TensorMemory::get());
}

//===----------------------------------------------------------------------===//
// TMEMLoadOp, TMEMStoreOp, TMEMCopyOp
//===----------------------------------------------------------------------===//

LogicalResult TMEMLoadOp::verify() {
  if (failed(verifyTokens(*this, getDep(), getToken())))
    return failure();
  RankedTensorType type = getResult().getType();
  if (failed(verifyTransfer(*this, type, getSrc().getType())))
    return failure();
  if (getRedOp().has_value() != bool(getRed()))
    return emitOpError("expected a result for the reduced rows if there is a "
                       "redOp, and only then");
  if (!getRedOp()) {
    if (getAbs() || getNaN())
      return emitOpError("expected 'abs' and 'NaN' with a redOp only");
    return success();
  }
  Type element = type.getElementType();
  if (!element.isF32() && !element.isInteger(32))
    return emitOpError("expected rows of f32 or i32 to reduce, found ")
           << element;
  if ((getAbs() || getNaN()) && !element.isF32())
    return emitOpError("expected 'abs' and 'NaN' with elements of f32 only, "
                       "found ")
           << element;
  FailureOr<Attribute> encoding =
      getInferLayoutInterface(type.getEncoding(), getLoc())
          ->inferReduceLayout(type.getEncoding(), type.getRank() - 1, getLoc());
  if (failed(encoding))
    return failure();
  auto expected = RankedTensorType::get(type.getShape().drop_back(),
                                        type.getElementType(), *encoding);
  if (!areEquivalentTypes(expected, getRed().getType()))
    return emitOpError("expected the reduced rows to be ")
           << expected << ", found " << getRed().getType();
  return success();
}

LogicalResult TMEMStoreOp::verify() {
  if (failed(verifyTokens(*this, getDep(), getToken())) ||
      failed(verifyMutable(*this, getDst().getType(), "buffer")))
    return failure();
  return verifyTransfer(*this, cast<RankedTensorType>(getSrc().getType()),
                        getDst().getType());
}

LogicalResult TMEMStoreOp::canonicalize(TMEMStoreOp op,
                                        PatternRewriter &rewriter) {
  return eraseIfNeverRuns(op, op.getDep(), rewriter);
}

LogicalResult TMEMCopyOp::verify() {
  gpu::MemDescType src = getSrc().getType(), dst = getDst().getType();
  if (failed(verifySharedMemory(*this, src, "source")) ||
      failed(verifyTensorMemory(*this, dst, "destination")) ||
      failed(verifyMutable(*this, dst, "destination")))
    return failure();
  if (Value barrier = getBarrier())
    if (failed(verifyBarrierType(*this,
                                 cast<gpu::MemDescType>(barrier.getType()))))
      return failure();
  // Bits are copied, whatever they mean; pointers have no known number of them.
  if (!src.getElementType().isIntOrFloat() ||
      src.getElementTypeBitWidth() != dst.getElementTypeBitWidth())
    return emitOpError() << "source must have elements of "
                         << dst.getElementTypeBitWidth()
                         << " bits like the destination, got "
                         << src.getElementType();
  // Scales may lie in shared memory tile by tile, in more dimensions.
  if (isa<TensorMemoryScalesEncodingAttr>(dst.getEncoding())) {
    if (src.getNumElements() != dst.getNumElements())
      return emitOpError() << "source has " << src.getNumElements()
                           << " scales and destination "
                           << dst.getNumElements();
    return success();
  }
  if (src.getShape() != dst.getShape())
    return emitOpError() << "source has shape [" << src.getShape()
                         << "] and destination [" << dst.getShape() << "]";
  if (auto encoding = dyn_cast<TensorMemoryEncodingAttr>(dst.getEncoding());
      encoding && encoding.getBlockM() != 128)
    return emitOpError()
           << "fills all 128 lanes, but the destination has blocks "
              "of "
           << encoding.getBlockM() << " rows";
  return success();
}

//===----------------------------------------------------------------------===//
// TMEMSubsliceOp
//===----------------------------------------------------------------------===//

LogicalResult TMEMSubsliceOp::verify() {
  gpu::MemDescType src = getSrc().getType(), dst = getResult().getType();
  if (failed(verifyTensorMemory(*this, src, "source")) ||
      failed(verifyTensorMemory(*this, dst, "result")))
    return failure();
  auto srcEncoding = dyn_cast<TensorMemoryEncodingAttr>(src.getEncoding());
  auto dstEncoding = dyn_cast<TensorMemoryEncodingAttr>(dst.getEncoding());
  if (!srcEncoding || !dstEncoding)
    return emitOpError("source and result must have a tensor_memory_encoding");
  if (src.getRank() != 2 || dst.getRank() != 2)
    return emitOpError("source and result must be matrices");
  if (src.getElementType() != dst.getElementType())
    return emitOpError() << "source has elements of " << src.getElementType()
                         << " and result of " << dst.getElementType();
  if (src.getMutableMemory() != dst.getMutableMemory())
    return emitOpError("source and result must both be mutable or both not");
  if (src.getShape()[0] != dst.getShape()[0])
    return emitOpError() << "keeps all " << src.getShape()[0]
                         << " rows, but the result has " << dst.getShape()[0];
  int64_t begin = getN(), end = begin + dst.getShape()[1];
  if (end > src.getShape()[1])
    return emitOpError() << "takes the columns from " << begin << " to " << end
                         << " of " << src.getShape()[1];
  if (dst.getAllocShape().take_back(2) != src.getAllocShape().take_back(2))
    return emitOpError() << "result must name the shape of the whole buffer, ["
                         << src.getAllocShape().take_back(2) << "], got ["
                         << dst.getAllocShape().take_back(2) << "]";
  if (srcEncoding.getBlockM() != dstEncoding.getBlockM() ||
      srcEncoding.getColStride() != dstEncoding.getColStride() ||
      srcEncoding.getCTASplitM() != dstEncoding.getCTASplitM() ||
      srcEncoding.getCTASplitN() != dstEncoding.getCTASplitN() ||
      srcEncoding.getTwoCTAs() != dstEncoding.getTwoCTAs() ||
      dstEncoding.getBlockN() > srcEncoding.getBlockN())
    return emitOpError() << "result may differ from the encoding of the source "
                            "in a smaller blockN only; got "
                         << srcEncoding << " and " << dstEncoding;
  // Columns must be adressable: a view starts at a 32-bit column.
  if (begin * src.getElementTypeBitWidth() * srcEncoding.getColStride() % 32)
    return emitOpError() << "starts at element " << begin
                         << ", in the middle of a 32-bit column";
  return success();
}

Value TMEMSubsliceOp::getViewSource() { return getSrc(); }

OpFoldResult TMEMSubsliceOp::fold(FoldAdaptor) {
  if (getN() == 0 && getSrc().getType() == getType())
    return getSrc();
  return {};
}

LogicalResult TMEMSubsliceOp::canonicalize(TMEMSubsliceOp op,
                                           PatternRewriter &rewriter) {
  // A view of a view is a view of the whole.
  auto outer = op.getSrc().getDefiningOp<TMEMSubsliceOp>();
  if (!outer)
    return failure();
  rewriter.replaceOpWithNewOp<TMEMSubsliceOp>(op, op.getType(), outer.getSrc(),
                                              outer.getN() + op.getN());
  return success();
}
