//===-- ClusterMbarriers.cpp - Barriers beside partitions -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A cluster barrier counts all threads that run. This includes the threads of
// warps that wait for work, or that work in a partition. The default warps wait
// for those of other blocks without them, and so do the warps of a partition.
// Each block has an mbarrier for each such group. The threads of the group
// arrive there, and then one thread of the group of each other block does. No
// thread may use the mbarrier of another block before that mbarrier is
// initialised. So the first barrier is a cluster barrier, at which the other
// warps arrive before they do anything else.
//
//===----------------------------------------------------------------------===//

#include "ClusterMbarriers.h"

#include "nvidia/TritonNVIDIAGPUToLLVM/PTXAsm.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::triton;
namespace ttg = mlir::triton::gpu;

namespace {

bool isArrival(Operation *op) {
  return isa_and_nonnull<NVVM::ClusterArriveOp, NVVM::ClusterArriveRelaxedOp>(
      op);
}

class ClusterBarrierLowering {
public:
  ClusterBarrierLowering(LLVM::LLVMFuncOp kernel,
                         const nvidia::MbarriersOfCluster &places)
      : kernel(kernel), places(places), builder(kernel.getContext()),
        b(kernel.getLoc(), builder) {}

  FailureOr<bool> run() {
    if (failed(findBarriers()))
      return failure();
    if (waits.empty())
      return false;
    // That of all warps.
    Operation *first = findFirst();
    waits.erase(first);
    makeMbarriers(/*meet=*/!first);
    for (auto [wait, group] : waits)
      waitAtMbarrier(wait, *group);
    return true;
  }

private:
  LogicalResult findBarriers() {
    WalkResult result = kernel.walk([&](Operation *op) {
      if (!isArrival(op) && !isa<NVVM::ClusterWaitOp>(op))
        return WalkResult::advance();
      bool isWait = !isArrival(op);
      Operation *other = isWait ? op->getPrevNode() : op->getNextNode();
      if (isWait ? !isArrival(other)
                 : !isa_and_nonnull<NVVM::ClusterWaitOp>(other)) {
        op->emitError("expected warps that arrive at the barrier of a cluster "
                      "with specialised warps to wait there at once");
        return WalkResult::interrupt();
      }
      if (isWait)
        waits[op] = &findGroup(op);
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  const nvidia::WaitingWarps &findGroup(Operation *op) {
    for (const nvidia::WaitingWarps &group :
         ArrayRef(places.groups).drop_front())
      if (group.partition->isAncestor(op->getParentRegion()))
        return group;
    return places.groups.front();
  }

  /// The barrier that is passed once, before the other warps do anything.
  Operation *findFirst() {
    for (Operation &op : kernel.getBody().front()) {
      if (isa<ttg::WarpSpecializeOp>(op))
        return nullptr;
      if (isa<NVVM::ClusterWaitOp>(op))
        return &op;
    }
    return nullptr;
  }

  /// Makes those that are waited at. With `meet`, no thread goes on before all
  /// blocks have made theirs.
  void makeMbarriers(bool meet) {
    builder.setInsertionPointToStart(&kernel.getBody().front());
    llvm::SmallSetVector<const nvidia::WaitingWarps *, 4> groups;
    for (auto [wait, group] : waits)
      groups.insert(group);
    if (groups.empty())
      return;
    Value isFirst = b.eq(b.create<NVVM::ThreadIdXOp>(b.intTy(32)), b.i32(0));
    for (const nvidia::WaitingWarps *group : groups) {
      nvidia::PTXAsm ptx(b);
      auto at = ptx.input(places.getAddress(b, *group), "r");
      ptx << "@" << ptx.input(isFirst, "b")
          << " mbarrier.init.shared::cta.b64 [" << at << "], "
          << std::to_string(getNumThreads(*group) + places.numBlocks - 1)
          << ";";
      ptx.emit({}, nvidia::PTXAsm::SideEffects);
    }
    b.create<NVVM::FenceMbarrierInitOp>();
    if (meet)
      nvidia::emitClusterBarrier(b);
  }

  /// What the warps of the group did before in all blocks is done, and unless
  /// the arrival is relaxed visible, when any of them goes on.
  void waitAtMbarrier(Operation *wait, const nvidia::WaitingWarps &group) {
    builder.setInsertionPoint(wait);
    Operation *arrival = wait->getPrevNode();
    bool isRelaxed = isa<NVVM::ClusterArriveRelaxedOp>(arrival);
    arrival->erase();
    Value address = places.getAddress(b, group);
    Value state = arriveHere(address);
    if (group.numWarps > 1)
      b.create<NVVM::BarrierOp>(
          TypeRange(), b.i32(group.barrier), b.i32(getNumThreads(group)),
          NVVM::BarrierReductionAttr(), /*reductionPredicate=*/Value());
    else
      b.create<NVVM::SyncWarpOp>(b.i32(-1));
    arriveElsewhere(address, group, isRelaxed);
    nvidia::PTXAsm ptx(b);
    auto at = ptx.input(address, "r"), phase = ptx.input(state, "l");
    ptx << "{ .reg .pred complete; WAIT: mbarrier.try_wait"
        << (isRelaxed ? "" : ".acquire.cluster")
        << ".shared::cta.b64 complete, [" << at << "], " << phase
        << "; @!complete bra WAIT; }";
    ptx.emit({}, nvidia::PTXAsm::SideEffects);
    wait->erase();
  }

  Value arriveHere(Value address) {
    nvidia::PTXAsm ptx(b);
    auto state = ptx.output("l"), at = ptx.input(address, "r");
    ptx << "mbarrier.arrive.shared::cta.b64 " << state << ", [" << at << "];";
    return ptx.emit({b.intTy(64)}, nvidia::PTXAsm::SideEffects)[0];
  }

  /// Each of the first threads of the group arrives at one block, for all.
  void arriveElsewhere(Value address, const nvidia::WaitingWarps &group,
                       bool isRelaxed) {
    Value thread = b.create<NVVM::ThreadIdXOp>(b.intTy(32));
    if (group.firstWarp)
      thread = b.sub(thread, b.i32(group.firstWarp * places.threadsPerWarp));
    Value block = b.create<NVVM::ClusterId>(b.intTy(32));
    Value isOther =
        b.create<LLVM::ICmpOp>(LLVM::ICmpPredicate::ne, thread, block);
    Value arrives = b.and_(b.slt(thread, b.i32(places.numBlocks)), isOther);
    nvidia::emitRemoteArrival(b, address, thread, arrives,
                              isRelaxed ? "" : ".release.cluster");
  }

  unsigned getNumThreads(const nvidia::WaitingWarps &group) const {
    return group.numWarps * places.threadsPerWarp;
  }

  LLVM::LLVMFuncOp kernel;
  const nvidia::MbarriersOfCluster &places;
  OpBuilder builder;
  LLVMBuilder b;
  llvm::MapVector<Operation *, const nvidia::WaitingWarps *> waits;
};

} // namespace

FailureOr<bool>
nvidia::useMbarriersOfClusters(LLVM::LLVMFuncOp kernel,
                               const MbarriersOfCluster &places) {
  return ClusterBarrierLowering(kernel, places).run();
}

LogicalResult nvidia::checkCalledFunction(LLVM::LLVMFuncOp function) {
  if (function->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()))
    return success();
  WalkResult result = function.walk([](Operation *op) {
    if (!isArrival(op))
      return WalkResult::advance();
    op->emitError("the blocks of a cluster with specialised warps cannot meet "
                  "in a function that is called");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

void nvidia::emitRemoteArrival(const LLVMBuilder &b, Value address, Value block,
                               Value pred, StringRef scope,
                               std::optional<int> count) {
  PTXAsm ptx(b);
  auto at = ptx.input(address, "r"), of = ptx.input(block, "r"),
       who = ptx.input(pred, "b");
  ptx << "{ .reg .b32 there; @" << who << " mapa.shared::cluster.u32 there, "
      << at << ", " << of << "; @" << who << " mbarrier.arrive" << scope
      << ".shared::cluster.b64 _, [there]"
      << (count ? ", " + std::to_string(*count) : "") << "; }";
  ptx.emit({}, PTXAsm::SideEffects);
}

void nvidia::emitClusterBarrier(const LLVMBuilder &b) {
  UnitAttr aligned = b.getBuilder().getUnitAttr();
  b.create<NVVM::ClusterArriveOp>(aligned);
  b.create<NVVM::ClusterWaitOp>(aligned);
}
