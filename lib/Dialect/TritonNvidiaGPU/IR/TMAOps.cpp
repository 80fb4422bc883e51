//===-- TMAOps.cpp - Tensor memory accelerator ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OpUtils.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

/// Limits of a tensor map.
static constexpr size_t kMaxTMARank = 5;
static constexpr int64_t kMaxBoxDim = 256;
static constexpr int64_t kMaxElementStride = 8;

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// Checks a descriptor against the buffer that its block is copied to or from.
static LogicalResult verifyBuffer(Operation *op, RankedTensorType block,
                                  gpu::MemDescType buffer, StringRef what) {
  if (failed(verifySharedMemory(op, buffer, what)))
    return failure();
  if (block.getElementType() != buffer.getElementType())
    return op->emitOpError()
           << "descriptor has elements of " << block.getElementType() << " and "
           << what << " of " << buffer.getElementType();
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
    return op->emitOpError() << "TMA copies have 1 to " << kMaxTMARank
                             << " coordinates, got " << coord.size();
  if (coord.size() != static_cast<size_t>(block.getRank()))
    return op->emitOpError()
           << "descriptor has " << block.getRank()
           << " dimensions, but there are " << coord.size() << " coordinates";

  // A buffer may leave out leading dimensions of size 1.
  ArrayRef<int64_t> blockShape = block.getShape();
  while (blockShape.size() > buffer.getShape().size() &&
         blockShape.front() == 1)
    blockShape = blockShape.drop_front();
  if (blockShape != buffer.getShape())
    return op->emitOpError()
           << "descriptor has blocks of shape [" << block.getShape()
           << "], but " << what << " has shape [" << buffer.getShape() << "]";

  if (block.getEncoding() && block.getRank() == buffer.getRank() &&
      block.getEncoding() != buffer.getEncoding())
    return op->emitOpError()
           << "descriptor has encoding " << block.getEncoding() << ", but "
           << what << " has " << buffer.getEncoding();
  return success();
}

/// Checks a copy of rows, one for each element of `rows`.
static LogicalResult verifyRowCopy(Operation *op, TensorDescType desc,
                                   RankedTensorType rows,
                                   gpu::MemDescType buffer, StringRef what) {
  RankedTensorType block = desc.getBlockType();
  if (failed(verifyBuffer(op, block, buffer, what)))
    return failure();
  if (block.getRank() != 2 || block.getShape()[0] != 1)
    return op->emitOpError() << "descriptor must have one row as block, got ["
                             << block.getShape() << "]";
  // The hardware takes four row numbers at a time.
  if (rows.getShape()[0] % 4)
    return op->emitOpError() << "number of rows must be a multiple of 4, got "
                             << rows.getShape()[0];
  if (block.getShape()[1] * block.getElementTypeBitWidth() < 32 * 8)
    return op->emitOpError()
           << "rows must have at least 32 bytes, got " << block.getShape()[1]
           << " elements of " << block.getElementTypeBitWidth() << " bits";
  SmallVector<int64_t> expected{rows.getShape()[0], block.getShape()[1]};
  if (buffer.getShape() != ArrayRef<int64_t>(expected))
    return op->emitOpError() << what << " must have shape [" << expected
                             << "], got [" << buffer.getShape() << "]";
  return success();
}

LogicalResult AsyncTMACopyGlobalToLocalOp::verify() {
  gpu::MemDescType result = getResult().getType();
  if (failed(verifyTiledCopy(*this, getDesc().getType(), getCoord(), result,
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
  Type type = getSrc().getType().getElementType();
  bool fits = false;
  switch (getKind()) {
  case DescriptorReduceKind::ADD:
    fits = type.isInteger(32) || type.isInteger(64) || type.isF16() ||
           type.isBF16() || type.isF32();
    break;
  case DescriptorReduceKind::MIN:
  case DescriptorReduceKind::MAX:
    fits = type.isInteger(32) || type.isInteger(64) || type.isF16() ||
           type.isBF16();
    break;
  case DescriptorReduceKind::INC:
  case DescriptorReduceKind::DEC:
    fits = type.isInteger(32);
    break;
  case DescriptorReduceKind::AND:
  case DescriptorReduceKind::OR:
  case DescriptorReduceKind::XOR:
    fits = type.isInteger(32) || type.isInteger(64);
    break;
  default:
    return emitOpError("has an unknown kind of reduction");
  }
  if (!fits)
    return emitOpError() << "TMA cannot reduce elements of " << type << " by "
                         << stringifyDescriptorReduceKind(getKind());
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
  if (op.getPendings() < previous.getPendings())
    rewriter.modifyOpInPlace(previous,
                             [&] { previous.setPendings(op.getPendings()); });
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
      return op->emitOpError() << what << " must be from " << min << " to "
                               << max << ", got " << constant.getSExtValue();
  }
  return success();
}

LogicalResult TensormapCreateOp::verify() {
  size_t rank = getBoxDim().size();
  if (rank == 0 || rank > kMaxTMARank)
    return emitOpError() << "a tensor map has 1 to " << kMaxTMARank
                         << " dimensions, got " << rank;
  if (getGlobalDim().size() != rank)
    return emitOpError() << "has " << rank << " box dimensions but "
                         << getGlobalDim().size() << " global dimensions";
  if (getElementStride().size() != rank)
    return emitOpError() << "has " << rank << " box dimensions but "
                         << getElementStride().size() << " element strides";
  if (getGlobalStride().size() != rank - 1)
    return emitOpError() << "has " << rank << " box dimensions and so needs "
                         << rank - 1 << " global strides, got "
                         << getGlobalStride().size();
  if (failed(verifyRange(*this, getBoxDim(), 1, kMaxBoxDim, "box dimension")))
    return failure();
  return verifyRange(*this, getElementStride(), 1, kMaxElementStride,
                     "element stride");
}

LogicalResult ReinterpretTensorDescriptorOp::verify() {
  if (isa<RankedTensorType>(getRawDesc().getType().getPointeeType()))
    return emitOpError(
        "cannot take a block pointer as address of a tensor map");
  return success();
}
