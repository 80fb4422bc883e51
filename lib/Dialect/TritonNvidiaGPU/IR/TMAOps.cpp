//===-- TMAOps.cpp - Tensor memory accelerator ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OpUtils.h"

#include "tile/Dialect/TritonNvidiaGPU/IR/TensorMap.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

/// Limits of a tensor map.
static constexpr size_t kMaxTMARank = 5;
static constexpr int64_t kMaxBoxDim = 256;
static constexpr int64_t kMaxElementStride = 8;
/// The size of a tensor map, and what it is aligned to.
static constexpr int64_t kTensorMapBytes = 128;

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

Value AsyncTMACopyGlobalToLocalOp::getCopyTarget() { return getResult(); }

bool AsyncTMACopyGlobalToLocalOp::arrivesAtBarrier() { return true; }

Value AsyncTMAGatherOp::getCopyTarget() { return getResult(); }

bool AsyncTMAGatherOp::arrivesAtBarrier() { return true; }

/// Checks a descriptor against the buffer that its block is copied to or from.
static LogicalResult verifyBuffer(Operation *op, RankedTensorType block,
                                  gpu::MemDescType buffer, StringRef what) {
  if (failed(verifySharedMemory(op, buffer, what)))
    return failure();
  // Elsewhere than in descriptors, integers do not say whether they are signed.
  if (TensorDescType::get(block).getElementType() != buffer.getElementType())
    return op->emitOpError()
           << "expected " << what << " to have elements of "
           << block.getElementType() << " like the descriptor, found "
           << buffer.getElementType();
  return success();
}

/// Whether two encodings are the same but for what the blocks of a cluster
/// hold.
static bool isSameInBlock(Attribute left, Attribute right) {
  auto a = dyn_cast<gpu::NVMMASharedEncodingAttr>(left);
  auto b = dyn_cast<gpu::NVMMASharedEncodingAttr>(right);
  if (!a || !b)
    return left == right;
  return a == gpu::NVMMASharedEncodingAttr::get(
                  b.getContext(), b.getSwizzlingByteWidth(), b.getTransposed(),
                  b.getElementBitWidth(), b.getFp4Padded(), a.getCTALayout());
}

/// Checks that a buffer holds the block of a descriptor.
static LogicalResult verifyBlock(Operation *op, RankedTensorType block,
                                 gpu::MemDescType buffer, StringRef what) {
  // A buffer may leave out leading dimensions of size 1.
  ArrayRef<int64_t> blockShape = block.getShape();
  while (blockShape.size() > buffer.getShape().size() &&
         blockShape.front() == 1)
    blockShape = blockShape.drop_front();
  if (blockShape != buffer.getShape())
    return op->emitOpError()
           << "expected " << what << " of shape [" << block.getShape()
           << "] like the descriptor's blocks, found [" << buffer.getShape()
           << "]";

  // How rows are swizzled does not depend on the rank.
  bool canCompare =
      block.getRank() == buffer.getRank() ||
      (isa_and_nonnull<gpu::NVMMASharedEncodingAttr>(block.getEncoding()) &&
       isa<gpu::NVMMASharedEncodingAttr>(buffer.getEncoding()));
  if (block.getEncoding() && canCompare &&
      !isSameInBlock(block.getEncoding(), buffer.getEncoding()))
    return op->emitOpError()
           << "expected " << what << " to have the descriptor's encoding "
           << block.getEncoding() << ", found " << buffer.getEncoding();
  return success();
}

/// Checks a copy of the whole block of a descriptor.
static LogicalResult verifyTiledCopy(Operation *op, TensorDescType desc,
                                     OperandRange coord,
                                     gpu::MemDescType buffer, StringRef what) {
  RankedTensorType block = desc.getBlockType();
  if (failed(verifyBuffer(op, block, buffer, what)))
    return failure();
  if (coord.empty() || coord.size() > kMaxTMARank)
    return op->emitOpError() << "expected 1 to " << kMaxTMARank
                             << " coordinates, found " << coord.size();
  if (coord.size() != static_cast<size_t>(block.getRank()))
    return op->emitOpError()
           << "expected " << block.getRank()
           << " coordinates, one for each dimension of the descriptor, found "
           << coord.size();
  return verifyBlock(op, block, buffer, what);
}

/// Checks a copy of pixels: in the block, the first dimension counts them.
static LogicalResult verifyPixelCopy(Operation *op, RankedTensorType block,
                                     OperandRange coord, OperandRange offsets,
                                     gpu::MemDescType buffer, StringRef what) {
  constexpr size_t kMinPixelRank = 3;
  if (failed(verifyBuffer(op, block, buffer, what)))
    return failure();
  if (coord.size() < kMinPixelRank || coord.size() > kMaxTMARank)
    return op->emitOpError()
           << "expected " << kMinPixelRank << " to " << kMaxTMARank
           << " coordinates of a pixel, found " << coord.size();
  if (offsets.size() != coord.size() - 2)
    return op->emitOpError() << "expected " << coord.size() - 2
                             << " offsets, one for each dimension between the "
                                "first and the last, "
                                "found "
                             << offsets.size();
  if (block.getRank() != 2)
    return op->emitOpError()
           << "expected a descriptor of blocks of pixels and channels, found ["
           << block.getShape() << "]";
  return verifyBlock(op, block, buffer, what);
}

/// Checks a copy of rows, one for each element of `rows`.
static LogicalResult verifyRowCopy(Operation *op, TensorDescType desc,
                                   RankedTensorType rows,
                                   gpu::MemDescType buffer, StringRef what) {
  RankedTensorType block = desc.getBlockType();
  if (failed(verifyBuffer(op, block, buffer, what)))
    return failure();
  if (block.getRank() != 2 || block.getShape()[0] != 1)
    return op->emitOpError()
           << "expected a descriptor of blocks of one row, found ["
           << block.getShape() << "]";
  // The hardware takes four row numbers at a time.
  if (rows.getShape()[0] % 4)
    return op->emitOpError()
           << "expected a multiple of 4 rows, found " << rows.getShape()[0];
  if (block.getShape()[1] * block.getElementTypeBitWidth() < 32 * 8)
    return op->emitOpError() << "expected rows of at least 32 bytes, found "
                             << block.getShape()[1] << " elements of "
                             << block.getElementTypeBitWidth() << " bits";
  SmallVector<int64_t> expected{rows.getShape()[0], block.getShape()[1]};
  if (buffer.getShape() != ArrayRef<int64_t>(expected))
    return op->emitOpError() << "expected " << what << " of shape [" << expected
                             << "], found [" << buffer.getShape() << "]";
  return success();
}

LogicalResult AsyncTMACopyGlobalToLocalOp::verify() {
  gpu::MemDescType result = getResult().getType();
  auto desc = dyn_cast<TensorDescType>(getDesc().getType());
  bool takesPixels = !desc || !getOffsets().empty();
  RankedTensorType block =
      desc ? desc.getBlockType()
           : cast<TensorDescIm2ColType>(getDesc().getType()).getBlockType();
  if (failed(takesPixels ? verifyPixelCopy(*this, block, getCoord(),
                                           getOffsets(), result, "destination")
                         : verifyTiledCopy(*this, desc, getCoord(), result,
                                           "destination")) ||
      failed(verifyMutable(*this, result, "destination")))
    return failure();
  return verifyBarrierType(*this, getBarrier().getType());
}

LogicalResult
AsyncTMACopyGlobalToLocalOp::canonicalize(AsyncTMACopyGlobalToLocalOp op,
                                          PatternRewriter &rewriter) {
  return eraseIfNeverRuns(op, rewriter);
}

LogicalResult AsyncTMACopyLocalToGlobalOp::verify() {
  return verifyTiledCopy(*this, getDesc().getType(), getCoord(),
                         getSrc().getType(), "source");
}

LogicalResult AsyncTMAReduceOp::verify() {
  // The buffer's elements have no sign.
  Type type = getDesc().getType().getBlockType().getElementType();
  if (!isTMAReduction(getKind(), type))
    return emitOpError() << "expected elements that TMA reduces by "
                         << stringifyDescriptorReduceKind(getKind())
                         << ", found " << type;
  return verifyTiledCopy(*this, getDesc().getType(), getCoord(),
                         getSrc().getType(), "source");
}

LogicalResult AsyncTMAGatherOp::verify() {
  gpu::MemDescType result = getResult().getType();
  if (failed(verifyRowCopy(*this, getDesc().getType(),
                           cast<RankedTensorType>(getXOffsets().getType()),
                           result, "destination")) ||
      failed(verifyMutable(*this, result, "destination")))
    return failure();
  return verifyBarrierType(*this, getBarrier().getType());
}

LogicalResult AsyncTMAGatherOp::canonicalize(AsyncTMAGatherOp op,
                                             PatternRewriter &rewriter) {
  return eraseIfNeverRuns(op, rewriter);
}

LogicalResult AsyncTMAScatterOp::verify() {
  return verifyRowCopy(*this, getDesc().getType(),
                       cast<RankedTensorType>(getXOffsets().getType()),
                       getSrc().getType(), "source");
}

LogicalResult AsyncTMAStoreWaitOp::canonicalize(AsyncTMAStoreWaitOp op,
                                                PatternRewriter &rewriter) {
  // Of two waits with nothing between them, the stricter one is enough.
  auto previous = dyn_cast_or_null<AsyncTMAStoreWaitOp>(op->getPrevNode());
  if (!previous)
    return failure();
  rewriter.modifyOpInPlace(previous, [&] {
    previous.getTokensMutable().append(op.getTokens());
    previous.setPendings(std::min(op.getPendings(), previous.getPendings()));
    previous.setComplete(op.getComplete() || previous.getComplete());
  });
  rewriter.eraseOp(op);
  return success();
}

//===----------------------------------------------------------------------===//
// Tensor maps
//===----------------------------------------------------------------------===//

/// Checks those of `values` that are constants.
static LogicalResult verifyRange(Operation *op, OperandRange values,
                                 int64_t min, int64_t max, StringRef what) {
  for (Value value : values) {
    APInt constant;
    if (!matchPattern(value, m_ConstantInt(&constant)))
      continue;
    if (constant.getSExtValue() < min || constant.getSExtValue() > max)
      return op->emitOpError()
             << "expected " << what << " from " << min << " to " << max
             << ", found " << constant.getSExtValue();
  }
  return success();
}

// A tensor map is put together in shared memory.
int64_t TensormapCreateOp::getScratchBytes() { return kTensorMapBytes; }

int64_t TensormapCreateOp::getScratchAlignment() { return kTensorMapBytes; }

Value ReinterpretTensorDescriptorOp::getPointerSource() {
  return getTensorMapBase(getRawDesc());
}

LogicalResult TensormapCreateOp::verify() {
  size_t rank = getBoxDim().size();
  if (rank == 0 || rank > kMaxTMARank)
    return emitOpError() << "expected 1 to " << kMaxTMARank
                         << " dimensions of a tensor map, found " << rank;
  if (getGlobalDim().size() != rank)
    return emitOpError() << "expected " << rank
                         << " global dimensions, as many as the box has, found "
                         << getGlobalDim().size();
  if (getElementStride().size() != rank)
    return emitOpError()
           << "expected " << rank
           << " element strides, as many as the box has dimensions, found "
           << getElementStride().size();
  if (getGlobalStride().size() != rank - 1)
    return emitOpError()
           << "expected " << rank - 1
           << " global strides, one less than the box has dimensions, found "
           << getGlobalStride().size();
  if (failed(verifyRange(*this, getBoxDim(), 1, kMaxBoxDim, "box dimension")))
    return failure();
  return verifyRange(*this, getElementStride(), 1, kMaxElementStride,
                     "element stride");
}

LogicalResult ReinterpretTensorDescriptorOp::verify() {
  if (isa<RankedTensorType>(getRawDesc().getType().getPointeeType()))
    return emitOpError(
        "expected the address of a tensor map, found a block pointer");
  return success();
}
