//===-- BarrierOps.cpp - mbarriers, fences, clusters ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OpUtils.h"

#include "tile/Dialect/TritonGPU/IR/SharedPlaces.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/ClusterBarriers.h"

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

gpu::MemDescType nvidia_gpu::getBarrierType(MLIRContext *context,
                                            unsigned numBlocks,
                                            std::optional<int64_t> count) {
  auto blocks = gpu::CTALayoutAttr::get(
      context, /*CTAsPerCGA=*/ArrayRef<unsigned>{numBlocks},
      /*CTASplitNum=*/ArrayRef<unsigned>{numBlocks},
      /*CTAOrder=*/ArrayRef<unsigned>{0});
  auto encoding = gpu::SwizzledSharedEncodingAttr::get(
      context, /*vec=*/1, /*perPhase=*/1, /*maxPhase=*/1,
      /*order=*/ArrayRef<unsigned>{0}, blocks);
  SmallVector<int64_t> shape{numBlocks};
  if (count)
    shape.insert(shape.begin(), *count);
  return gpu::MemDescType::get(shape, IntegerType::get(context, 64), encoding,
                               gpu::SharedMemorySpaceAttr::get(context),
                               /*mutableMemory=*/true);
}

unsigned nvidia_gpu::getSharedBlockBits(gpu::MemDescType type) {
  return gpu::getCopyBits(type);
}

/// Whether each block has a barrier of its own, if some arrive for others.
static LogicalResult verifyBlocks(Operation *op, std::optional<uint32_t> bits,
                                  gpu::MemDescType barrier) {
  uint32_t blocks = gpu::lookupNumCTAs(op);
  if (!bits)
    return success();
  if (*bits >= blocks)
    return op->emitOpError() << "expected 'fromCTA' to be bits of a number of "
                             << blocks << " blocks, found " << *bits;
  if (*bits + 1 != blocks && getSharedBlockBits(barrier) != 0)
    return op->emitOpError() << "expected a barrier for each of " << blocks
                             << " blocks where 'fromCTA' says which arrive, "
                                "found "
                             << barrier;
  return success();
}

LogicalResult BarrierExpectOp::verify() {
  if (failed(verifyBarrierType(*this, getAlloc().getType())) ||
      failed(verifyBlocks(*this, getFromCTA(), getAlloc().getType())))
    return failure();
  // PTX counts the pending bytes of a phase in 20 bits.
  constexpr uint32_t kMaxTransactionBytes = (1u << 20) - 1;
  if (getSize() > kMaxTransactionBytes)
    return emitOpError() << "expected at most " << kMaxTransactionBytes
                         << " bytes in a phase, found " << getSize();
  return success();
}

LogicalResult WaitBarrierOp::verify() {
  return verifyBarrierType(*this, getAlloc().getType());
}

LogicalResult ArriveBarrierOp::verify() {
  gpu::MemDescType barrier = getAlloc().getType();
  if (failed(verifyBarrierType(*this, barrier)) ||
      failed(verifyBlocks(*this, getFromCTA(), barrier)))
    return failure();
  uint32_t bits = getMulticastCTA(), blocks = gpu::lookupNumCTAs(*this);
  if (!bits)
    return success();
  if (bits >= blocks)
    return emitOpError() << "expected 'multicastCTA' to be bits of a number of "
                         << blocks << " blocks, found " << bits;
  if (getFromCTA())
    return emitOpError(
        "expected each block to arrive for itself where "
        "'multicastCTA' says at whose barriers, found 'fromCTA'");
  if (getSharedBlockBits(barrier) != 0)
    return emitOpError() << "expected a barrier for each of " << blocks
                         << " blocks where 'multicastCTA' says at whose "
                            "barriers they arrive, found "
                         << barrier;
  return success();
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

/// Each block arrives for itself where all bits of its number count.
template <typename OpT>
static LogicalResult dropAllBlocks(OpT op, PatternRewriter &rewriter) {
  if (op.getFromCTA() != uint32_t(gpu::lookupNumCTAs(op) - 1))
    return failure();
  rewriter.modifyOpInPlace(op, [&] { op.removeFromCTAAttr(); });
  return success();
}

LogicalResult BarrierExpectOp::canonicalize(BarrierExpectOp op,
                                            PatternRewriter &rewriter) {
  return success(succeeded(eraseIfNeverRuns(op, rewriter)) ||
                 succeeded(dropAllBlocks(op, rewriter)));
}

LogicalResult WaitBarrierOp::canonicalize(WaitBarrierOp op,
                                          PatternRewriter &rewriter) {
  return simplifyOptionalPredicate(op, rewriter);
}

LogicalResult ArriveBarrierOp::canonicalize(ArriveBarrierOp op,
                                            PatternRewriter &rewriter) {
  return success(succeeded(simplifyOptionalPredicate(op, rewriter)) ||
                 succeeded(dropAllBlocks(op, rewriter)));
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
