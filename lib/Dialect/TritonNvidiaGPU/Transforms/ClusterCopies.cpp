//===-- ClusterCopies.cpp - Copies for all blocks of a cluster ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A copy for all blocks writes buffers that the other blocks have read. In each
// block the thread that starts copies says when all of its threads have read,
// to every block, and waits until every block has said so. The others go on.
//
//===----------------------------------------------------------------------===//

#include "ClusterCopies.h"

#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/Transforms/Buffers.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/ClusterBarriers.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/TensorMap.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

namespace {

/// Before `first`, a copy, everything was read that is written from `shared`
/// on, the first copy for all blocks after that.
struct Meeting {
  Operation *first, *shared;
};

SmallVector<Meeting> findMeetings(scf::ForOp loop) {
  SmallVector<Meeting> meetings;
  Operation *first = nullptr;
  bool haveMet = false;
  for (Operation &op : *loop.getBody()) {
    auto copy = dyn_cast<nvidia_gpu::AsyncTMACopyGlobalToLocalOp>(op);
    if (!copy) {
      bool mayRead =
          op.getNumRegions() > 0 || isa<LocalLoadOp, MatrixProductOpInterface,
                                        MatrixProductWaitOpInterface>(op);
      if (mayRead) {
        first = nullptr;
        haveMet = false;
      }
      continue;
    }
    if (!first)
      first = copy;
    if (haveMet || !nvidia_gpu::isMulticast(copy.getResult().getType()))
      continue;
    meetings.push_back({first, copy});
    haveMet = true;
  }
  return meetings;
}

} // namespace

void mlir::triton::nvidia_gpu::joinBlocksOfCluster(scf::ForOp &loop,
                                                   Value barriers) {
  SmallVector<Meeting> meetings = findMeetings(loop);
  if (meetings.empty())
    return;
  // Phases take turns: an odd number of them in an iteration changes the parity
  // with which the next one starts.
  IRRewriter rewriter(loop);
  Location loc = loop.getLoc();
  Value zero = arith::ConstantIntOp::create(rewriter, loc, 0, 32);
  auto yieldParity = [&](OpBuilder &b, Location l,
                         ArrayRef<BlockArgument> args) {
    Value change = arith::ConstantIntOp::create(b, l, meetings.size() % 2, 32);
    return SmallVector<Value>{
        arith::XOrIOp::create(b, l, args.front(), change)};
  };
  loop = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
      rewriter, zero, /*replaceInitOperandUsesInLoop=*/false, yieldParity));

  OpBuilder builder(loop);
  UnitAttr allBlocks = builder.getUnitAttr();
  Value barrier = getBuffer(builder, loc, barriers, zero);
  Value parity = loop.getRegionIterArgs().back();
  for (auto [i, meeting] : llvm::enumerate(meetings)) {
    builder.setInsertionPoint(meeting.first);
    Value phase = parity;
    if (i % 2)
      phase = arith::XOrIOp::create(
          builder, loc, parity,
          arith::ConstantIntOp::create(builder, loc, 1, 32));
    BarrierOp::create(builder, loc, AddrSpace::Local);
    auto arrive = nvidia_gpu::ArriveBarrierOp::create(builder, loc, barrier, 1);
    arrive->setAttr(nvidia_gpu::kAllBlocksAttrName, allBlocks);
    builder.setInsertionPoint(meeting.shared);
    auto wait = nvidia_gpu::WaitBarrierOp::create(builder, loc, barrier, phase);
    wait->setAttr(nvidia_gpu::kAllBlocksAttrName, allBlocks);
  }
}
