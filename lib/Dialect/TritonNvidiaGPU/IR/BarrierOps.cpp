//===-- BarrierOps.cpp - mbarriers, fences, clusters ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OpUtils.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

LogicalResult InitBarrierOp::verify() {
  return verifyBarrierType(*this, getAlloc().getType());
}

LogicalResult InvalBarrierOp::verify() {
  return verifyBarrierType(*this, getAlloc().getType());
}

/// Whether the cluster has the block that arrives alone.
static LogicalResult verifyBlock(Operation *op, std::optional<uint32_t> block) {
  int blocks = gpu::lookupNumCTAs(op);
  if (block && *block >= uint32_t(blocks))
    return op->emitOpError() << "expected 'fromCTA' to be one of " << blocks
                             << " blocks, found " << *block;
  return success();
}

LogicalResult BarrierExpectOp::verify() {
  if (failed(verifyBlock(*this, getFromCTA())))
    return failure();
  // PTX counts the pending bytes of a phase in 20 bits.
  constexpr uint32_t kMaxTransactionBytes = (1u << 20) - 1;
  if (getSize() > kMaxTransactionBytes)
    return emitOpError() << "expected at most " << kMaxTransactionBytes
                         << " bytes in a phase, found " << getSize();
  return verifyBarrierType(*this, getAlloc().getType());
}

LogicalResult WaitBarrierOp::verify() {
  return verifyBarrierType(*this, getAlloc().getType());
}

LogicalResult ArriveBarrierOp::verify() {
  if (failed(verifyBlock(*this, getFromCTA())))
    return failure();
  return verifyBarrierType(*this, getAlloc().getType());
}

LogicalResult AsyncCopyMbarrierArriveOp::verify() {
  return verifyBarrierType(*this, getBarrier().getType());
}

//===----------------------------------------------------------------------===//
// What they do to their barriers
//===----------------------------------------------------------------------===//

gpu::BarrierUse InitBarrierOp::getBarrierUse() {
  return gpu::BarrierUse::Begin;
}

gpu::BarrierUse InvalBarrierOp::getBarrierUse() { return gpu::BarrierUse::End; }

gpu::BarrierUse BarrierExpectOp::getBarrierUse() {
  return gpu::BarrierUse::Announce;
}

gpu::BarrierUse WaitBarrierOp::getBarrierUse() { return gpu::BarrierUse::Wait; }

//===----------------------------------------------------------------------===//
// Canonicalization
//===----------------------------------------------------------------------===//

LogicalResult BarrierExpectOp::canonicalize(BarrierExpectOp op,
                                            PatternRewriter &rewriter) {
  return eraseIfNeverRuns(op, rewriter);
}

LogicalResult WaitBarrierOp::canonicalize(WaitBarrierOp op,
                                          PatternRewriter &rewriter) {
  return simplifyOptionalPredicate(op, rewriter);
}

LogicalResult ArriveBarrierOp::canonicalize(ArriveBarrierOp op,
                                            PatternRewriter &rewriter) {
  return simplifyOptionalPredicate(op, rewriter);
}

LogicalResult FenceAsyncSharedOp::canonicalize(FenceAsyncSharedOp op,
                                               PatternRewriter &rewriter) {
  // A fence right after one that is at least as wide has nothing to order.
  auto previous = dyn_cast_or_null<FenceAsyncSharedOp>(op->getPrevNode());
  if (!previous)
    return failure();
  if (op.getBCluster() && !previous.getBCluster())
    rewriter.modifyOpInPlace(previous, [&] { previous.setBCluster(true); });
  rewriter.eraseOp(op);
  return success();
}
