//===-- ClusterLaunchOps.cpp - Taking over other blocks -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OpUtils.h"

#include "tile/Dialect/TritonNvidiaGPU/IR/ClusterBarriers.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

/// Checks that a buffer is made for the answer of the hardware.
static LogicalResult verifyAnswer(Operation *op, gpu::MemDescType type) {
  constexpr int64_t kAnswerBits = 128;
  if (failed(verifySharedMemory(op, type, "answer")))
    return failure();
  if (!type.getElementType().isInteger() ||
      type.getNumElements() * type.getElementTypeBitWidth() != kAnswerBits)
    return op->emitOpError("expected a buffer of integers of ")
           << kAnswerBits << " bits in all, found " << type;
  unsigned blocks = llvm::product_of(gpu::getCTAsPerCGA(type.getEncoding()));
  if (getSharedBlockBits(type) != blocks - 1)
    return op->emitOpError("expected each block of the cluster to have room "
                           "for the whole answer, found ")
           << type;
  return success();
}

LogicalResult CLCTryCancelOp::verify() {
  if (failed(verifyAnswer(*this, getResult().getType())))
    return failure();
  return verifyBarrierType(*this, getMbarrier().getType());
}

LogicalResult CLCTryCancelSyncOp::verify() {
  auto type = cast<RankedTensorType>(getResult().getType());
  if (type.getShape() == ArrayRef<int64_t>{2} &&
      type.getElementType().isInteger(64))
    return success();
  return emitOpError("expected the answer to be two i64, found ") << type;
}

LogicalResult CLCLoadResultOp::verify() {
  return verifyAnswer(*this, getSrc().getType());
}

void CLCProgramIdOp::inferResultRanges(ArrayRef<ConstantIntRanges>,
                                       SetIntRangeFn setResultRange) {
  constexpr int64_t kLast = INT32_MAX - 1;
  setResultRange(getResult(),
                 ConstantIntRanges::fromSigned(APInt(32, 0), APInt(32, kLast)));
}
