//===-- OverlapStores.cpp - Stores that run on into the next iteration ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a loop stores by TMA gets a buffer of its own, which the copy of one
// iteration may read while the next iteration works:
//
//   wait for the copy of the iteration before; write the buffer; start the copy
//
// in place of a wait behind each copy, whose buffer others use then. Copies to
// different places, as those of the parts of a tile, do not wait for each
// other. Each has a buffer of its own. Where there is no room for that, they
// take a few buffers one after the other.
//
//===----------------------------------------------------------------------===//

#include "tile/Analysis/Allocation.h"
#include "tile/Analysis/AsyncWork.h"
#include "tile/Analysis/TokenOrigins.h"
#include "tile/Dialect/TritonGPU/IR/TargetModel.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
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

/// What `after` waits for by its token. Programs that count their stores are
/// left as they are.
std::optional<Store> match(AsyncTMAStoreWaitOp after) {
  Store store;
  store.after = after;
  if (after.getTokens().size() != 1 || after.getComplete())
    return std::nullopt;
  store.copy = after.getTokens().front().getDefiningOp();
  if (!store.copy || store.copy->getBlock() != after->getBlock())
    return std::nullopt;
  if (!isa<AsyncTMACopyLocalToGlobalOp, AsyncTMAReduceOp>(store.copy))
    return std::nullopt;
  Value source = getBuffersOfAsyncWork(store.copy).front();
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

/// Whether two blocks of a descriptor surely have no element in common: in one
/// dimension, a constant at least as large as the block lies between them. (The
/// rows of what a tensor map describes do not overlap.)
bool areDisjoint(AsyncTMACopyLocalToGlobalOp lhs,
                 AsyncTMACopyLocalToGlobalOp rhs) {
  if (lhs.getDesc() != rhs.getDesc())
    return false;
  auto split = [](Value index) {
    std::pair<Value, int64_t> parts{index, 0};
    APInt constant;
    if (auto sum = index.getDefiningOp<arith::AddIOp>();
        sum && matchPattern(sum.getRhs(), m_ConstantInt(&constant)))
      return std::pair<Value, int64_t>{sum.getLhs(), constant.getSExtValue()};
    if (matchPattern(index, m_ConstantInt(&constant)))
      return std::pair<Value, int64_t>{Value(), constant.getSExtValue()};
    return parts;
  };
  ArrayRef<int64_t> shape = lhs.getDesc().getType().getBlockType().getShape();
  for (auto [size, left, right] :
       llvm::zip(shape, lhs.getCoord(), rhs.getCoord())) {
    auto [leftBase, leftOffset] = split(left);
    auto [rightBase, rightOffset] = split(right);
    if (leftBase == rightBase && std::abs(leftOffset - rightOffset) >= size)
      return true;
  }
  return false;
}

/// Whether `op` may start a copy to global memory.
bool mayStartCopy(Operation *op) {
  return op->getNumRegions() || getAsyncWork(op) == AsyncWork::Store ||
         isa<CallOpInterface>(op);
}

/// Whether `op` may start a copy to where `store` writes, which must have
/// written before that one starts its own.
bool mayMeet(Operation *op, const Store &store) {
  auto copy = dyn_cast<AsyncTMACopyLocalToGlobalOp>(store.copy);
  if (auto other = dyn_cast<AsyncTMACopyLocalToGlobalOp>(op))
    return !copy || !areDisjoint(copy, other);
  return mayStartCopy(op);
}

/// Whether copies of before may write where `store` does, or read its buffer.
bool mustWait(const Store &store) {
  if (!isa<AsyncTMACopyLocalToGlobalOp>(store.copy))
    return true;
  for (Operation *op = store.buffer->getPrevNode(); op;
       op = op->getPrevNode()) {
    auto wait = dyn_cast<AsyncTMAStoreWaitOp>(op);
    if (wait && wait.getComplete() && wait.getPendings() == 0)
      return false;
    if (mayMeet(op, store))
      return true;
  }
  return true;
}

/// Moves the buffer of `store` behind the copies that start before its own: it
/// may be theirs, and what waits for them is in front of it.
void sinkBehindCopies(const Store &store) {
  Operation *place = store.before;
  if (isa_and_nonnull<FenceAsyncSharedOp>(place->getPrevNode()))
    place = place->getPrevNode();
  for (Operation *op = place->getPrevNode(); op != store.buffer;
       op = op->getPrevNode())
    if (mayStartCopy(op)) {
      store.buffer->moveBefore(place);
      return;
    }
}

/// Whether dots read what `write` leaves in shared memory.
bool isForProducts(gpu::LocalAllocOp write) {
  SmallVector<Operation *> users(write->getUsers());
  while (!users.empty()) {
    Operation *user = users.pop_back_val();
    if (isa<MatrixProductOpInterface>(user))
      return true;
    if (isa<ViewLikeOpInterface>(user))
      llvm::append_range(users, user->getUsers());
  }
  return false;
}

/// Waits for the copies of before, behind which a barrier comes. That is where
/// an operand of a dot was written, which has a barrier anyway, or else right
/// before the buffer is written.
void waitForCopies(Store store) {
  OpBuilder builder(store.buffer);
  for (Operation *op = store.buffer->getPrevNode(); op;
       op = op->getPrevNode()) {
    if (mayStartCopy(op) || isa<AsyncTMAStoreWaitOp>(op))
      break;
    auto write = dyn_cast<gpu::LocalAllocOp>(op);
    if (!write || !write.getSrc() || !isForProducts(write))
      continue;
    // Who writes has to fence before the barrier.
    builder.setInsertionPointAfter(op);
    FenceAsyncSharedOp::create(builder, op->getLoc(), /*bCluster=*/false);
    break;
  }
  AsyncTMAStoreWaitOp::create(builder, store.after.getLoc(), /*pendings=*/0,
                              /*complete=*/true);
}

/// Stores of one block that do not wait for each other, in their order.
using Group = SmallVector<Store>;

/// Has the stores of a group take `numBuffers` buffers in turns.
void rewrite(Group group, unsigned numBuffers) {
  scf::ForOp loop = group.front().loop;
  gpu::MemDescType type = group.front().buffer.getType();
  auto ownType =
      gpu::MemDescType::get(type.getShape(), type.getElementType(),
                            type.getEncoding(), type.getMemorySpace(),
                            /*mutableMemory=*/true);
  OpBuilder builder(loop);
  SmallVector<Value> own;
  for (Store store : ArrayRef(group).take_front(numBuffers))
    own.push_back(
        gpu::LocalAllocOp::create(builder, store.buffer.getLoc(), ownType));
  SmallVector<AsyncTMAStoreWaitOp> waits;
  for (auto [i, store] : llvm::enumerate(group)) {
    gpu::LocalAllocOp old = store.buffer;
    Location loc = old.getLoc();
    sinkBehindCopies(store);
    if (i == 0 && mustWait(store))
      waitForCopies(store);
    builder.setInsertionPoint(old);
    // Copies of the iteration before were waited for by the first store.
    if (i >= numBuffers)
      waits.push_back(AsyncTMAStoreWaitOp::create(
          builder, store.after.getLoc(),
          group[i - numBuffers].after.getTokens(), /*pendings=*/0,
          /*complete=*/false));
    gpu::LocalStoreOp::create(builder, loc, old.getSrc(), own[i % numBuffers]);
    old.getResult().replaceAllUsesWith(own[i % numBuffers]);
    old.erase();
    store.before.erase();
  }
  builder.setInsertionPointAfter(loop);
  AsyncTMAStoreWaitOp::create(builder, group.front().after.getLoc(),
                              /*pendings=*/0, /*complete=*/false);
  for (Value buffer : own)
    gpu::LocalDeallocOp::create(builder, buffer.getLoc(), buffer);
  for (Store store : group)
    store.after.erase();
  if (waits.empty())
    return;
  TokenOrigins origins(loop->getParentOfType<FunctionOpInterface>());
  for (AsyncTMAStoreWaitOp wait : waits)
    wait.setPendings(*origins.getMaxPendings(wait));
}

/// Whether `store` need not wait for any store of `group`, nor for what comes
/// between them. What they wait for now says nothing: those waits will go.
bool belongsTo(ArrayRef<Store> group, Store store) {
  Store first = group.front();
  if (first.loop != store.loop ||
      first.buffer->getBlock() != store.buffer->getBlock() ||
      first.buffer.getType() != store.buffer.getType())
    return false;
  for (Operation *op = store.copy->getPrevNode(); op; op = op->getPrevNode()) {
    if (mayMeet(op, store))
      return false;
    if (op == first.copy)
      return true;
  }
  return false;
}

SmallVector<Group> findGroups(Operation *module) {
  SmallVector<Group> groups;
  module->walk([&](AsyncTMAStoreWaitOp wait) {
    std::optional<Store> store = match(wait);
    if (!store)
      return;
    if (!groups.empty() && belongsTo(groups.back(), *store))
      groups.back().push_back(*store);
    else
      groups.push_back({*store});
  });
  return groups;
}

class OverlapStoresPass
    : public nvidia_gpu::impl::TritonNvidiaOverlapStoresBase<
          OverlapStoresPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    SmallVector<Group> groups = findGroups(getOperation());
    if (groups.empty())
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
    SmallVector<unsigned> numBuffers(groups.size(), 0);
    for (auto [group, count] : llvm::zip(groups, numBuffers)) {
      for (count = group.size(); count; --count) {
        int64_t more = countSharedMemory(numBuffers);
        if (countBlocks(more) && countBlocks(more) >= countBlocks(used)) {
          used = std::max(used, more);
          break;
        }
      }
      LDBG() << count << " buffers for " << group.size()
             << " stores like this: " << *group.front().copy;
    }
    for (auto [group, count] : llvm::zip(groups, numBuffers)) {
      if (!count)
        continue;
      rewrite(group, count);
      numOverlapped += group.size();
    }
  }

private:
  /// What the module takes if groups of stores have so many buffers, which
  /// share no place with others, but leave theirs. The largest number if that
  /// cannot be told.
  int64_t countSharedMemory(ArrayRef<unsigned> numBuffers) {
    OwningOpRef<ModuleOp> trial = getOperation().clone();
    SmallVector<Group> groups = findGroups(*trial);
    for (auto [group, count] : llvm::zip(groups, numBuffers))
      if (count)
        rewrite(group, count);
    auto allocation = ModuleAllocation::compute(*trial);
    return succeeded(allocation) ? allocation->getSharedMemorySize()
                                 : std::numeric_limits<int64_t>::max();
  }
};

} // namespace
