//===-- AsyncStoreOps.cpp - Stores that arrive at barriers ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OpUtils.h"

#include "tile/Dialect/TritonNvidiaGPU/IR/AsyncStoreOps.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

Value AsyncSharedStoreOp::getCopyTarget() { return getDst(); }

bool AsyncSharedStoreOp::arrivesAtBarrier() { return true; }

LogicalResult AsyncSharedStoreOp::verify() {
  gpu::MemDescType memory = getDst().getType();
  auto value = cast<RankedTensorType>(getValue().getType());
  if (failed(verifySharedMemory(*this, memory, "the destination")) ||
      failed(verifyMutable(*this, memory, "the destination")))
    return failure();
  if (value.getShape() != memory.getShape() ||
      value.getElementType() != memory.getElementType())
    return emitOpError() << "expected a value of the shape and the elements of "
                         << memory << ", found " << value;
  return verifyBarrierType(*this, getBarrier().getType());
}

#define GET_OP_CLASSES
#include "tile/Dialect/TritonNvidiaGPU/IR/AsyncStoreOps.cpp.inc"
