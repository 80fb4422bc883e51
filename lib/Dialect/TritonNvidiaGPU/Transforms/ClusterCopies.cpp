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

/// A barrier of the blocks of a cluster between reads of buffers and copies
/// that write to them in all blocks.
struct SplitBarrier {
  /// The first copy behind the reads. A block arrives before it.
  Operation *first;
  /// The first copy that writes in all blocks. A block waits before it.
  Operation *shared;
};

SmallVector<SplitBarrier> findBarriers(scf::ForOp loop) {
  SmallVector<SplitBarrier> barriersOfLoop;
  Operation *first = nullptr;
  bool isGuarded = false;
  for (Operation &op : *loop.getBody()) {
    auto copy = dyn_cast<nvidia_gpu::AsyncTMACopyGlobalToLocalOp>(op);
    if (!copy) {
      bool mayRead =
          op.getNumRegions() > 0 || isa<LocalLoadOp, MatrixProductOpInterface,
                                        MatrixProductWaitOpInterface>(op);
      if (mayRead) {
        first = nullptr;
        isGuarded = false;
      }
      continue;
    }
    if (!first)
      first = copy;
    if (isGuarded || !nvidia_gpu::isMulticast(copy.getResult().getType()))
      continue;
    barriersOfLoop.push_back({first, copy});
    isGuarded = true;
  }
  return barriersOfLoop;
}

} // namespace

void mlir::triton::nvidia_gpu::joinBlocksOfCluster(scf::ForOp &loop,
                                                   Value barriers) {
  SmallVector<SplitBarrier> barriersOfLoop = findBarriers(loop);
  if (barriersOfLoop.empty())
    return;
  // Phases take turns: an odd number of them in an iteration changes the parity
  // with which the next one starts.
  IRRewriter rewriter(loop);
  Location loc = loop.getLoc();
  Value zero = arith::ConstantIntOp::create(rewriter, loc, 0, 32);
  auto yieldParity = [&](OpBuilder &b, Location l,
                         ArrayRef<BlockArgument> args) {
    Value change =
        arith::ConstantIntOp::create(b, l, barriersOfLoop.size() % 2, 32);
    return SmallVector<Value>{
        arith::XOrIOp::create(b, l, args.front(), change)};
  };
  loop = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
      rewriter, zero, /*replaceInitOperandUsesInLoop=*/false, yieldParity));

  OpBuilder builder(loop);
  UnitAttr allBlocks = builder.getUnitAttr();
  Value barrier = getBuffer(builder, loc, barriers, zero);
  Value parity = loop.getRegionIterArgs().back();
  for (auto [i, split] : llvm::enumerate(barriersOfLoop)) {
    builder.setInsertionPoint(split.first);
    Value phase = parity;
    if (i % 2)
      phase = arith::XOrIOp::create(
          builder, loc, parity,
          arith::ConstantIntOp::create(builder, loc, 1, 32));
    BarrierOp::create(builder, loc, AddrSpace::Local);
    auto arrive = nvidia_gpu::ArriveBarrierOp::create(builder, loc, barrier, 1);
    arrive->setAttr(nvidia_gpu::kAllBlocksAttrName, allBlocks);
    builder.setInsertionPoint(split.shared);
    auto wait = nvidia_gpu::WaitBarrierOp::create(builder, loc, barrier, phase);
    wait->setAttr(nvidia_gpu::kAllBlocksAttrName, allBlocks);
  }
}
