//===-- IndexedOps.cpp - Buffers by index ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Dialect/TritonGPU/IR/IndexedOps.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

static LogicalResult verifyIndexed(Operation *op, MemDescType memory,
                                   RankedTensorType indices,
                                   RankedTensorType values, int64_t axis,
                                   bool writes) {
  if (!isa<SharedMemorySpaceAttr>(memory.getMemorySpace()))
    return op->emitOpError() << "expected memory in "
                             << SharedMemorySpaceAttr::get(op->getContext())
                             << ", found " << memory.getMemorySpace();
  if (writes && !memory.getMutableMemory())
    return op->emitOpError()
           << "expected memory that is mutable, found " << memory;
  auto layout = dyn_cast<LayoutEncodingTrait>(memory.getEncoding());
  if (!layout || isa<PartitionedSharedEncodingAttr>(memory.getEncoding()) ||
      static_cast<int64_t>(layout.getRank()) != memory.getRank())
    return op->emitOpError()
           << "expected one buffer, in an encoding of its rank, found "
           << memory;
  if (indices.getRank() != memory.getRank())
    return op->emitOpError() << "expected indices of rank " << memory.getRank()
                             << ", like the memory, found " << indices;
  if (axis < 0 || axis >= memory.getRank())
    return op->emitOpError() << "expected an axis from 0 to "
                             << memory.getRank() - 1 << ", found " << axis;
  for (int64_t d = 0; d < memory.getRank(); ++d)
    if (d != axis && indices.getDimSize(d) > memory.getDimSize(d))
      return op->emitOpError()
             << "expected at most " << memory.getDimSize(d)
             << " indices along dimension " << d << ", like the memory, found "
             << indices.getDimSize(d);
  if (values.getShape() != indices.getShape() ||
      values.getEncoding() != indices.getEncoding())
    return op->emitOpError()
           << "expected values of the shape and encoding of the indices, "
           << indices << ", found " << values;
  if (values.getElementType() != memory.getElementType())
    return op->emitOpError()
           << "expected values of type " << memory.getElementType()
           << ", like the memory, found " << values.getElementType();
  return success();
}

LogicalResult LocalGatherOp::verify() {
  return verifyIndexed(*this, getSrc().getType(), getIndices().getType(),
                       getType(), getAxis(), /*writes=*/false);
}

LogicalResult LocalScatterOp::verify() {
  return verifyIndexed(*this, getDst().getType(), getIndices().getType(),
                       getValues().getType(), getAxis(), /*writes=*/true);
}

LogicalResult LocalAtomicScatterRMWOp::verify() {
  RankedTensorType indices = getIndices().getType();
  if (failed(verifyIndexed(*this, getDst().getType(), indices,
                           getValues().getType(), getAxis(), /*writes=*/true)))
    return failure();
  if (getType() != getValues().getType())
    return emitOpError() << "expected a result of type "
                         << getValues().getType() << ", like the values, found "
                         << getType();
  if (getMask() && (getMask().getType().getShape() != indices.getShape() ||
                    getMask().getType().getEncoding() != indices.getEncoding()))
    return emitOpError()
           << "expected a mask of the shape and encoding of the indices, "
           << indices << ", found " << getMask().getType();
  return success();
}

#define GET_OP_CLASSES
#include "tile/Dialect/TritonGPU/IR/IndexedOps.cpp.inc"
