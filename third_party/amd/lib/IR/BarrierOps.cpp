//===-- BarrierOps.cpp - Barriers in LDS, and tensor data movement --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "amd/IR/Dialect.h"

#include "tile/Dialect/TritonGPU/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::amdgpu;

static LogicalResult verifyBarrier(Operation *op, Value barrier) {
  auto type = cast<gpu::MemDescType>(barrier.getType());
  if (type.getElementType().isInteger(64) &&
      type.getShape() == ArrayRef<int64_t>{1} &&
      isa<gpu::SharedMemorySpaceAttr>(type.getMemorySpace()) &&
      type.getMutableMemory())
    return success();
  return op->emitOpError("expected a mutable barrier of 1 x i64 in shared "
                         "memory, found ")
         << type;
}

LogicalResult InitBarrierOp::verify() {
  return verifyBarrier(*this, getAlloc());
}
LogicalResult ArriveBarrierOp::verify() {
  return verifyBarrier(*this, getAlloc());
}
LogicalResult WaitBarrierOp::verify() {
  return verifyBarrier(*this, getAlloc());
}
LogicalResult AsyncCopyMbarrierArriveOp::verify() {
  return verifyBarrier(*this, getBarrier());
}

static LogicalResult verifyCluster(Operation *op) {
  if (gpu::lookupNumCTAs(op) > 1)
    return success();
  return op->emitOpError("expected a program of several blocks, found "
                         "\"ttg.num-ctas\" = 1");
}

LogicalResult ClusterBarrierArriveOp::verify() { return verifyCluster(*this); }
LogicalResult ClusterBarrierWaitOp::verify() { return verifyCluster(*this); }

static LogicalResult verifyIndices(Operation *op, TensorDescType desc,
                                   ValueRange indices) {
  int64_t rank = desc.getBlockType().getRank();
  if (static_cast<int64_t>(indices.size()) == rank)
    return success();
  return op->emitOpError("expected ")
         << rank << " indices, found " << indices.size();
}

LogicalResult UpdateTensorDescriptorOp::verify() {
  if (getAddOffsets().empty())
    return success();
  return verifyIndices(*this, getDesc().getType(), getAddOffsets());
}

/// Of a copy between a tensor's block and a buffer.
static LogicalResult verifyCopy(Operation *op, TensorDescType desc,
                                ValueRange indices, gpu::MemDescType buffer) {
  RankedTensorType block = desc.getBlockType();
  if (!indices.empty() && failed(verifyIndices(op, desc, indices)))
    return failure();
  if (block.getShape() == buffer.getShape() &&
      desc.getElementType() == buffer.getElementType())
    return success();
  return op->emitOpError(
             "expected a buffer like the descriptor's block, found ")
         << buffer << " and " << desc;
}

Value AsyncTDMCopyGlobalToLocalOp::getCopyTarget() { return getResult(); }

Value AsyncTDMGatherOp::getCopyTarget() { return getDst(); }

LogicalResult AsyncTDMCopyGlobalToLocalOp::verify() {
  if (!getResult().getType().getMutableMemory())
    return emitOpError("expected a mutable destination, found ")
           << getResult().getType();
  if (getBarrier() && failed(verifyBarrier(*this, getBarrier())))
    return failure();
  return verifyCopy(*this, getDesc().getType(), getIndices(),
                    getResult().getType());
}

LogicalResult AsyncTDMCopyLocalToGlobalOp::verify() {
  return verifyCopy(*this, getDesc().getType(), getIndices(),
                    getSrc().getType());
}

/// Of a copy between rows of a tensor and a buffer.
static LogicalResult verifyRows(Operation *op, TensorDescType desc,
                                RankedTensorType rows,
                                gpu::MemDescType buffer) {
  RankedTensorType block = desc.getBlockType();
  if (rows.getRank() != 1 || buffer.getRank() != 2 ||
      rows.getDimSize(0) != buffer.getShape()[0])
    return op->emitOpError("expected a number for each row of the buffer, "
                           "found ")
           << rows << " and " << buffer;
  if (block.getRank() == 2 && block.getShape()[1] == buffer.getShape()[1] &&
      desc.getElementType() == buffer.getElementType())
    return success();
  return op->emitOpError(
             "expected rows like those of the descriptor's block, found ")
         << buffer << " and " << desc;
}

LogicalResult AsyncTDMGatherOp::verify() {
  if (!getDst().getType().getMutableMemory())
    return emitOpError("expected a mutable destination, found ")
           << getDst().getType();
  return verifyRows(*this, getDesc().getType(), getRows().getType(),
                    getDst().getType());
}

LogicalResult AsyncTDMScatterOp::verify() {
  return verifyRows(*this, getDesc().getType(), getRows().getType(),
                    getSrc().getType());
}

LogicalResult TDMPrefetchOp::verify() {
  return verifyIndices(*this, getDesc().getType(), getIndices());
}

LogicalResult AsyncCopyLocalToGlobalOp::verify() {
  auto pointers = cast<RankedTensorType>(getDst().getType());
  gpu::MemDescType src = getSrc().getType();
  Type element = cast<PointerType>(pointers.getElementType()).getPointeeType();
  if (pointers.getShape() != src.getShape() || element != src.getElementType())
    return emitOpError(
               "expected pointers to elements like the source's, found ")
           << pointers << " and " << src;
  return success();
}
