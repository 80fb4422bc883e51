//===-- TensorMemoryOps.cpp - Tensor memory -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OpUtils.h"

#include "tile/Dialect/TritonNvidiaGPU/IR/TensorMemoryLayout.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

/// Checks that a tensor and a buffer have the same elements.
static LogicalResult verifySameElements(Operation *op, RankedTensorType tensor,
                                        gpu::MemDescType buffer) {
  if (tensor.getElementType() != buffer.getElementType())
    return op->emitOpError()
           << "expected a buffer of " << tensor.getElementType()
           << " like the tensor, found " << buffer.getElementType();
  if (tensor.getShape() != buffer.getShape())
    return op->emitOpError()
           << "expected a buffer of shape [" << tensor.getShape()
           << "] like the tensor, found [" << buffer.getShape() << "]";
  return success();
}

static LogicalResult verifyTransfer(Operation *op, RankedTensorType tensor,
                                    gpu::MemDescType buffer) {
  if (failed(verifyTensorMemory(op, buffer, "buffer")) ||
      failed(verifySameElements(op, tensor, buffer)))
    return failure();
  if (auto encoding = dyn_cast<TensorMemoryEncodingAttr>(buffer.getEncoding());
      encoding && encoding.getFp4Padded())
    return op->emitOpError()
           << "expected a buffer of bytes with a number each, found one of two "
              "4-bit numbers to an element: "
           << buffer;
  // Layouts that are open yet come from the front end.
  if (!isa_and_nonnull<gpu::DistributedEncodingTrait>(tensor.getEncoding()))
    return success();
  return getTensorMemoryAccess(tensor, buffer,
                               [&] { return op->emitOpError(); });
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
    return emitOpError("expected the contents of a buffer that is not mutable, "
                       "found none");
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
    return emitOpError() << "expected a source with elements of "
                         << dst.getElementTypeBitWidth()
                         << " bits like the destination, found "
                         << src.getElementType();
  // Scales may lie in shared memory tile by tile, in more dimensions.
  if (isa<TensorMemoryScalesEncodingAttr>(dst.getEncoding())) {
    if (src.getNumElements() != dst.getNumElements())
      return emitOpError()
             << "expected " << dst.getNumElements()
             << " scales in the source, as in the destination, found "
             << src.getNumElements();
    return success();
  }
  if (src.getShape() != dst.getShape())
    return emitOpError() << "expected a source of shape [" << dst.getShape()
                         << "] like the destination, found [" << src.getShape()
                         << "]";
  if (auto encoding = dyn_cast<TensorMemoryEncodingAttr>(dst.getEncoding());
      encoding && encoding.getBlockM() != 128)
    return emitOpError()
           << "expected a destination with blocks of 128 rows, found "
           << encoding.getBlockM();
  return success();
}

//===----------------------------------------------------------------------===//
// TMEMSubsliceOp
//===----------------------------------------------------------------------===//

/// Checks a part of the buffers of an array.
static LogicalResult verifyPartOfBuffers(TMEMSubsliceOp op) {
  gpu::MemDescType src = op.getSrc().getType(), dst = op.getType();
  if (src.getRank() != 3)
    return op.emitOpError()
           << "expected matrices, or arrays of matrices, as source and result, "
              "found "
           << src << " and " << dst;
  if (op.getDim() != 0 ||
      src.getShape().drop_front() != dst.getShape().drop_front() ||
      src.getEncoding() != dst.getEncoding())
    return op.emitOpError() << "expected a part of the buffers of an array, "
                               "dim = 0, found "
                            << dst << " of " << src;
  int64_t begin = op.getOffset(), end = begin + dst.getShape()[0];
  if (end > src.getShape()[0])
    return op.emitOpError()
           << "expected buffers from 0 to " << src.getShape()[0]
           << ", found those from " << begin << " to " << end;
  return success();
}

/// Checks a part of the rows: whole blocks that follow one another.
static LogicalResult verifyPartOfRows(TMEMSubsliceOp op,
                                      TensorMemoryEncodingAttr encoding) {
  gpu::MemDescType src = op.getSrc().getType(), dst = op.getType();
  int64_t rows = dst.getShape()[0], begin = op.getOffset(), end = begin + rows;
  if (src.getShape()[1] != dst.getShape()[1])
    return op.emitOpError() << "expected a result of all " << src.getShape()[1]
                            << " columns, found " << dst.getShape()[1];
  if (end > src.getShape()[0])
    return op.emitOpError() << "expected rows from 0 to " << src.getShape()[0]
                            << ", found those from " << begin << " to " << end;
  if (src == dst)
    return success();
  if (encoding.getCTASplitM() != 1)
    return op.emitOpError()
           << "expected a buffer whose rows are all in one block of the "
              "cluster, found "
           << encoding;
  // Two blocks of 64 rows lie side by side, in the halves of each window.
  int64_t step = encoding.getBlockM();
  if (step == 64 && rows > step)
    step = 128;
  if (begin % step || rows % encoding.getBlockM())
    return op.emitOpError()
           << "expected whole blocks of rows that start at a "
              "multiple of "
           << step << ", found rows from " << begin << " to " << end;
  return success();
}

/// Checks a part of the columns.
static LogicalResult verifyPartOfColumns(TMEMSubsliceOp op,
                                         TensorMemoryEncodingAttr encoding) {
  gpu::MemDescType src = op.getSrc().getType(), dst = op.getType();
  if (src.getShape()[0] != dst.getShape()[0])
    return op.emitOpError() << "expected a result of all " << src.getShape()[0]
                            << " rows, found " << dst.getShape()[0];
  int64_t begin = op.getOffset(), end = begin + dst.getShape()[1];
  if (end > src.getShape()[1])
    return op.emitOpError()
           << "expected columns from 0 to " << src.getShape()[1]
           << ", found those from " << begin << " to " << end;
  // Elsewhere the columns of a part are not side by side.
  if (src != dst &&
      (dividesColumnsByLanes(encoding) || encoding.getCTASplitN() != 1))
    return op.emitOpError() << "expected a buffer whose columns are all in the "
                               "same lanes of one block, found "
                            << encoding;
  // Columns must be addressable: a view starts at a 32-bit column.
  // One that ends within a column could not be written without its neighbours.
  int64_t bits = src.getElementTypeBitWidth() * getElementStride(encoding);
  if (begin * bits % 32)
    return op.emitOpError()
           << "expected the part to start at a 32-bit column, found element "
           << begin;
  if (src != dst && end * bits % 32)
    return op.emitOpError()
           << "expected the part to end with a 32-bit column, found element "
           << end - 1;
  return success();
}

/// Checks a part of scales: four of a row are in a column, and 32 rows in the
/// lanes of a window.
static LogicalResult verifyPartOfScales(TMEMSubsliceOp op) {
  gpu::MemDescType src = op.getSrc().getType(), dst = op.getType();
  auto encoding = cast<TensorMemoryScalesEncodingAttr>(src.getEncoding());
  if (src.getEncoding() != dst.getEncoding())
    return op.emitOpError()
           << "expected a result with the encoding of the "
              "source, found "
           << src.getEncoding() << " and " << dst.getEncoding();
  unsigned dim = op.getDim(), other = 1 - dim;
  StringRef what = dim ? "scales of a row" : "rows of scales";
  if (src.getShape()[other] != dst.getShape()[other])
    return op.emitOpError()
           << "expected a result with " << src.getShape()[other]
           << " in dimension " << other << ", like the source, found "
           << dst.getShape()[other];
  int64_t begin = op.getOffset(), end = begin + dst.getShape()[dim];
  if (end > src.getShape()[dim])
    return op.emitOpError()
           << "expected " << what << " from 0 to " << src.getShape()[dim]
           << ", found those from " << begin << " to " << end;
  if (src == dst)
    return success();
  if ((dim ? encoding.getCTASplitN() : encoding.getCTASplitM()) != 1)
    return op.emitOpError() << "expected " << what
                            << " that are all in one block of the cluster, "
                               "found "
                            << encoding;
  int64_t step = dim ? 4 : 32;
  if (begin % step || end % step)
    return op.emitOpError() << "expected multiples of " << step << " " << what
                            << ", found those from " << begin << " to " << end;
  return success();
}

LogicalResult TMEMSubsliceOp::verify() {
  gpu::MemDescType src = getSrc().getType(), dst = getResult().getType();
  if (failed(verifyTensorMemory(*this, src, "source")) ||
      failed(verifyTensorMemory(*this, dst, "result")))
    return failure();
  auto srcEncoding = dyn_cast<TensorMemoryEncodingAttr>(src.getEncoding());
  auto dstEncoding = dyn_cast<TensorMemoryEncodingAttr>(dst.getEncoding());
  bool isOfBuffers = src.getRank() != 2 || dst.getRank() != 2;
  bool isOfScales = !srcEncoding && !dstEncoding;
  if (!isOfBuffers && !isOfScales && (!srcEncoding || !dstEncoding))
    return emitOpError()
           << "expected source and result to be both scales or both not, found "
           << src.getEncoding() << " and " << dst.getEncoding();
  if (src.getRank() != dst.getRank() || getDim() > 1)
    return emitOpError()
           << "expected a part of dimension 0 or 1 with the rank of the "
              "source, found dimension "
           << getDim() << " of " << src << ", and " << dst;
  if (src.getElementType() != dst.getElementType())
    return emitOpError() << "expected a result of " << src.getElementType()
                         << " like the source, found " << dst.getElementType();
  if (src.getMutableMemory() != dst.getMutableMemory())
    return emitOpError() << "expected source and result to be both mutable or "
                            "both not, found "
                         << src << " and " << dst;
  if (dst.getAllocShape().take_back(2) != src.getAllocShape().take_back(2) ||
      dst.getAllocShape().size() > src.getAllocShape().size())
    return emitOpError()
           << "expected a result that names the shape of the whole buffer, ["
           << src.getAllocShape().take_back(2) << "], found ["
           << dst.getAllocShape().take_back(2) << "]";
  if (isOfBuffers)
    return verifyPartOfBuffers(*this);
  if (isOfScales)
    return verifyPartOfScales(*this);
  if (srcEncoding.getBlockM() != dstEncoding.getBlockM() ||
      srcEncoding.getColStride() != dstEncoding.getColStride() ||
      srcEncoding.getCTALayout() != dstEncoding.getCTALayout() ||
      srcEncoding.getTwoCTAs() != dstEncoding.getTwoCTAs() ||
      srcEncoding.getFp4Padded() != dstEncoding.getFp4Padded() ||
      dstEncoding.getBlockN() > srcEncoding.getBlockN())
    return emitOpError()
           << "expected a result with the encoding of the source, or a "
              "smaller blockN, found "
           << srcEncoding << " and " << dstEncoding;
  return getDim() == 0 ? verifyPartOfRows(*this, srcEncoding)
                       : verifyPartOfColumns(*this, srcEncoding);
}

Value TMEMSubsliceOp::getViewSource() { return getSrc(); }

OpFoldResult TMEMSubsliceOp::fold(FoldAdaptor) {
  if (getOffset() == 0 && getSrc().getType() == getType())
    return getSrc();
  return {};
}

LogicalResult TMEMSubsliceOp::canonicalize(TMEMSubsliceOp op,
                                           PatternRewriter &rewriter) {
  // A view of a view is a view of the whole.
  auto outer = op.getSrc().getDefiningOp<TMEMSubsliceOp>();
  if (!outer || outer.getDim() != op.getDim())
    return failure();
  rewriter.replaceOpWithNewOp<TMEMSubsliceOp>(
      op, op.getType(), outer.getSrc(), outer.getOffset() + op.getOffset(),
      op.getDim());
  return success();
}
