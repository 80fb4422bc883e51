//===-- ClusterMbarriers.cpp - Barriers beside partitions -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A cluster barrier counts all threads that run. This includes the threads of
// warps that wait for work, or that work in a partition. The default warps wait
// for each other without them. Each block has an mbarrier. The default threads
// of the block arrive there, and then one thread of each other block does. No
// thread may use the mbarrier of another block before that mbarrier is
// initialised. So the first barrier is a cluster barrier, at which the other
// warps arrive before they do anything else.
//
//===----------------------------------------------------------------------===//

#include "ClusterMbarriers.h"

#include "nvidia/TritonNVIDIAGPUToLLVM/PTXAsm.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

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
                         const nvidia::MbarrierOfCluster &place)
      : kernel(kernel), place(place), builder(kernel.getContext()),
        b(kernel.getLoc(), builder) {}

  FailureOr<bool> run() {
    if (failed(findBarriers()))
      return failure();
    if (waits.empty())
      return false;
    Operation *first = findFirst();
    // The only one is that of all warps.
    if (first && waits.size() == 1)
      return true;
    makeMbarrier(/*meet=*/!first);
    for (Operation *wait : waits)
      if (wait != first)
        waitAtMbarrier(wait);
    return true;
  }

private:
  LogicalResult findBarriers() {
    WalkResult result = kernel.walk([&](Operation *op) {
      if (!isArrival(op) && !isa<NVVM::ClusterWaitOp>(op))
        return WalkResult::advance();
      if (op->getParentOfType<ttg::WarpSpecializePartitionsOp>()) {
        op->emitError("the warps of a partition cannot wait for those of the "
                      "other blocks of a cluster");
        return WalkResult::interrupt();
      }
      bool isWait = !isArrival(op);
      Operation *other = isWait ? op->getPrevNode() : op->getNextNode();
      if (isWait ? !isArrival(other)
                 : !isa_and_nonnull<NVVM::ClusterWaitOp>(other)) {
        op->emitError("expected warps that arrive at the barrier of a cluster "
                      "with specialised warps to wait there at once");
        return WalkResult::interrupt();
      }
      if (isWait)
        waits.push_back(op);
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
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

  void makeMbarrier(bool meet) {
    builder.setInsertionPointToStart(&kernel.getBody().front());
    Value thread = b.create<NVVM::ThreadIdXOp>(b.intTy(32));
    nvidia::PTXAsm ptx(b);
    auto at = ptx.input(place.getAddress(b), "r");
    ptx << "@" << ptx.input(b.eq(thread, b.i32(0)), "b")
        << " mbarrier.init.shared::cta.b64 [" << at << "], "
        << std::to_string(getNumThreads() + place.numBlocks - 1) << ";";
    ptx.emit({}, nvidia::PTXAsm::SideEffects);
    b.create<NVVM::FenceMbarrierInitOp>();
    if (meet)
      nvidia::emitClusterBarrier(b);
  }

  /// What the default threads of all blocks did before is done, and unless the
  /// arrival is relaxed visible, when any of them goes on.
  void waitAtMbarrier(Operation *wait) {
    builder.setInsertionPoint(wait);
    Operation *arrival = wait->getPrevNode();
    bool isRelaxed = isa<NVVM::ClusterArriveRelaxedOp>(arrival);
    arrival->erase();
    Value address = place.getAddress(b);
    Value state = arriveHere(address);
    if (place.numDefaultWarps > 1)
      // Barrier 0 is that of the whole block, 1 that of the default warps.
      b.create<NVVM::BarrierOp>(TypeRange(), b.i32(1), b.i32(getNumThreads()),
                                NVVM::BarrierReductionAttr(),
                                /*reductionPredicate=*/Value());
    else
      b.create<NVVM::SyncWarpOp>(b.i32(-1));
    arriveElsewhere(address, isRelaxed);
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

  /// Each of the first threads arrives at one block, for all.
  void arriveElsewhere(Value address, bool isRelaxed) {
    Value thread = b.create<NVVM::ThreadIdXOp>(b.intTy(32));
    Value block = b.create<NVVM::ClusterId>(b.intTy(32));
    Value isOther =
        b.create<LLVM::ICmpOp>(LLVM::ICmpPredicate::ne, thread, block);
    Value arrives = b.and_(b.slt(thread, b.i32(place.numBlocks)), isOther);
    nvidia::emitRemoteArrival(b, address, thread, arrives,
                              isRelaxed ? "" : ".release.cluster");
  }

  unsigned getNumThreads() const {
    return place.numDefaultWarps * place.threadsPerWarp;
  }

  LLVM::LLVMFuncOp kernel;
  const nvidia::MbarrierOfCluster &place;
  OpBuilder builder;
  LLVMBuilder b;
  SmallVector<Operation *> waits;
};

} // namespace

FailureOr<bool> nvidia::useMbarriersOfClusters(LLVM::LLVMFuncOp kernel,
                                               const MbarrierOfCluster &place) {
  return ClusterBarrierLowering(kernel, place).run();
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
