//===-- OverlapStores.cpp - Stores that run on into the next iteration ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a loop stores by TMA gets a buffer of its own, which the copy of one
// iteration may read while the next iteration works:
//
//   wait for the copy of the iteration before; write the buffer; start the copy
//
// in place of a wait behind each copy, whose buffer others use then.
//
//===----------------------------------------------------------------------===//

#include "tile/Analysis/Allocation.h"
#include "tile/Dialect/TritonGPU/IR/TargetModel.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/MathExtras.h"

#define DEBUG_TYPE "triton-nvidia-overlap-stores"

namespace mlir::triton::nvidia_gpu {
#define GEN_PASS_DEF_TRITONNVIDIAOVERLAPSTORES
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::nvidia_gpu

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

namespace {

/// A store as triton-nvidia-tma-lowering makes it, in a loop.
struct Store {
  scf::ForOp loop;
  gpu::LocalAllocOp buffer;
  Operation *copy;
  /// Before the copy, until those before have written; behind it, until it has
  /// read the buffer.
  AsyncTMAStoreWaitOp before, after;
};

std::optional<Store> match(AsyncTMAStoreWaitOp after) {
  Store store;
  store.after = after;
  if (after.getPendings() != 0 || after.getComplete())
    return std::nullopt;
  store.copy = after->getPrevNode();
  Value source;
  if (auto copy = dyn_cast_or_null<AsyncTMACopyLocalToGlobalOp>(store.copy))
    source = copy.getSrc();
  else if (auto reduce = dyn_cast_or_null<AsyncTMAReduceOp>(store.copy))
    source = reduce.getSrc();
  if (!source)
    return std::nullopt;
  store.before =
      dyn_cast_or_null<AsyncTMAStoreWaitOp>(store.copy->getPrevNode());
  store.buffer = source.getDefiningOp<gpu::LocalAllocOp>();
  if (!store.before || store.before.getPendings() != 0 ||
      !store.before.getComplete() || !store.buffer || !store.buffer.getSrc() ||
      !source.hasOneUse() || store.buffer->getBlock() != after->getBlock())
    return std::nullopt;
  store.loop = dyn_cast_or_null<scf::ForOp>(
      after->getParentOfType<LoopLikeOpInterface>().getOperation());
  if (!store.loop)
    return std::nullopt;
  return store;
}

void rewrite(Store store) {
  gpu::LocalAllocOp old = store.buffer;
  Location loc = old.getLoc();
  gpu::MemDescType type = old.getType();
  auto ownType =
      gpu::MemDescType::get(type.getShape(), type.getElementType(),
                            type.getEncoding(), type.getMemorySpace(),
                            /*mutableMemory=*/true);
  OpBuilder builder(store.loop);
  Value own = gpu::LocalAllocOp::create(builder, loc, ownType);
  builder.setInsertionPoint(old);
  AsyncTMAStoreWaitOp::create(builder, store.after.getLoc(), /*pendings=*/0,
                              /*complete=*/true);
  gpu::LocalStoreOp::create(builder, loc, old.getSrc(), own);
  old.getResult().replaceAllUsesWith(own);
  old.erase();
  store.before.erase();
  builder.setInsertionPointAfter(store.loop);
  AsyncTMAStoreWaitOp::create(builder, store.after.getLoc(), /*pendings=*/0,
                              /*complete=*/false);
  gpu::LocalDeallocOp::create(builder, loc, own);
  store.after.erase();
}

/// Whether the buffer has a place that no other has at any time, so that it
/// costs nothing to keep it: in a loop over tiles whose rings of copies are in
/// use all the time.
bool isAlone(Store store, const ModuleAllocation &allocation) {
  const Allocation &frame =
      allocation.get(store.loop->getParentOfType<FunctionOpInterface>());
  int own = frame.getBufferOf(store.buffer);
  return llvm::all_of(llvm::enumerate(frame.getBuffers()),
                      [&](const auto &other) {
                        return int(other.index()) == own ||
                               !other.value().overlaps(frame.getBuffers()[own]);
                      });
}

class OverlapStoresPass
    : public nvidia_gpu::impl::TritonNvidiaOverlapStoresBase<
          OverlapStoresPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    SmallVector<Store> stores;
    getOperation()->walk([&](AsyncTMAStoreWaitOp wait) {
      if (auto store = match(wait))
        stores.push_back(*store);
    });
    if (stores.empty())
      return;
    auto allocation = ModuleAllocation::compute(getOperation());
    if (failed(allocation))
      return signalPassFailure();
    // What the buffers cost must not keep other blocks off the multiprocessor,
    // as far as more of them would help.
    ModuleOp module = getOperation();
    int64_t available = gpu::getTargetModel(module).getMaxSharedMemory();
    constexpr int64_t kThreadsEnough = 1024;
    int64_t threads =
        gpu::lookupNumWarps(module) * gpu::lookupThreadsPerWarp(module);
    auto countBlocks = [&](int64_t bytes) {
      return std::min(available / std::max<int64_t>(bytes, 1),
                      std::max<int64_t>(kThreadsEnough / threads, 1));
    };
    int64_t used = allocation->getSharedMemorySize();
    constexpr int64_t kAlignment = 1024;
    for (Store store : stores) {
      int64_t more = used;
      if (!isAlone(store, *allocation))
        more +=
            llvm::alignTo(getBufferSize(store.buffer.getResult()), kAlignment);
      if (countBlocks(more) == 0 || countBlocks(more) < countBlocks(used)) {
        LDBG() << "no room for a buffer of its own: " << *store.copy;
        continue;
      }
      used = more;
      rewrite(store);
      ++numOverlapped;
    }
  }
};

} // namespace
