//===-- Mbarriers.cpp - mbarriers between copies and threads --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ClusterCopies.h"

#include "tile/Dialect/TritonGPU/Transforms/Buffers.h"
#include "tile/Dialect/TritonGPU/Transforms/RingBarriers.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/ClusterBarriers.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/TensorMap.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/TensorMemoryLayout.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/CopyEngines.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;
using namespace mlir::triton::nvidia_gpu;

namespace {

class Mbarriers : public RingBarriers {
public:
  Value allocate(OpBuilder &builder, Location loc, int count) const override {
    // Each block of a cluster has its own.
    unsigned numBlocks =
        lookupNumCTAs(builder.getInsertionBlock()->getParentOp());
    return LocalAllocOp::create(
        builder, loc, getBarrierType(builder.getContext(), numBlocks, count));
  }

  void initialize(OpBuilder &builder, Location loc, Value barriers,
                  int arrivals) const override {
    forEach(builder, loc, barriers, [&](Value barrier) {
      InitBarrierOp::create(builder, loc, barrier, arrivals);
    });
  }

  void free(OpBuilder &builder, Location loc, Value barriers) const override {
    forEach(builder, loc, barriers, [&](Value barrier) {
      InvalBarrierOp::create(builder, loc, barrier);
    });
    LocalDeallocOp::create(builder, loc, barriers);
  }

  Operation *announce(OpBuilder &builder, Location loc, Value barrier,
                      int64_t bytes, Value predicate) const override {
    return BarrierExpectOp::create(builder, loc, barrier, bytes, predicate);
  }

  Operation *wait(OpBuilder &builder, Location loc, Value barrier, Value parity,
                  ValueRange buffers) const override {
    return WaitBarrierOp::create(builder, loc, barrier, parity,
                                 /*pred=*/Value(), buffers);
  }

  Operation *arrive(OpBuilder &builder, Location loc, Value barrier, int count,
                    Value predicate, bool isShared) const override {
    auto arrival =
        ArriveBarrierOp::create(builder, loc, barrier, count, predicate);
    if (isShared)
      arrival->setAttr(kAllBlocksAttrName, builder.getUnitAttr());
    return arrival;
  }

  void setArrivals(Operation *arrival, int count) const override {
    cast<ArriveBarrierOp>(arrival).setCount(count);
  }

  Operation *arriveAfterCopies(OpBuilder &builder, Location loc,
                               Value barrier) const override {
    return AsyncCopyMbarrierArriveOp::create(builder, loc, barrier,
                                             /*noIncrement=*/true);
  }

  bool arrivesByItself(MatrixProductOpInterface product) const override {
    return isa<MMAv5OpInterface>(product.getOperation());
  }

  Operation *arriveAfterProducts(OpBuilder &builder, Location loc,
                                 Value barrier) const override {
    return TCGen5CommitOp::create(builder, loc, barrier);
  }

  int countSums(ArrayRef<Operation *> allocs, int wanted) const override {
    unsigned each = 0;
    for (Operation *alloc : allocs) {
      auto footprint = getTensorMemoryFootprint(
          cast<TMEMAllocOp>(alloc).getResult().getType());
      if (failed(footprint))
        return 1;
      each += footprint->columns;
    }
    unsigned others = countTensorMemoryColumns(allocs.front()) - each;
    return std::min<int>(wanted, (kTensorMemoryColumns - others) / each);
  }

  /// What threads wrote is there; dots read it through another proxy.
  Operation *fenceForProducts(OpBuilder &builder, Location loc,
                              ArrayRef<Value> buffers) const override {
    bool isNeeded = llvm::any_of(buffers, [](Value buffer) {
      return isa<NVMMASharedEncodingAttr>(
          cast<MemDescType>(buffer.getType()).getEncoding());
    });
    if (!isNeeded)
      return nullptr;
    return FenceAsyncSharedOp::create(builder, loc, /*bCluster=*/false);
  }

  bool isOfAllBlocks(MatrixProductOpInterface product) const override {
    auto mma = dyn_cast<MMAv5OpInterface>(product.getOperation());
    return mma && mma.usesTwoCTAs() && lookupNumCTAs(mma) == kBlocksOfPair;
  }

  void holdForAllBlocks(Value barriers) const override {
    auto type = cast<MemDescType>(barriers.getType());
    barriers.setType(holdByFirst(type));
    for (OpOperand &use : barriers.getUses()) {
      Operation *user = use.getOwner();
      if (isa<MemDescIndexOp>(user))
        holdForAllBlocks(user->getResult(0));
      else if (auto specialize = dyn_cast<WarpSpecializeOp>(user))
        for (Region &region : specialize.getPartitionRegions())
          holdForAllBlocks(region.getArgument(use.getOperandNumber()));
    }
  }

  bool isShared(MemDescType buffers) const override {
    return isMulticast(buffers);
  }

  void startSharing(OpBuilder &builder, Location loc) const override {
    FenceMbarrierInitReleaseClusterOp::create(builder, loc);
    ClusterBarrierOp::create(builder, loc);
  }

  void stopSharing(OpBuilder &builder, Location loc) const override {
    ClusterBarrierOp::create(builder, loc, /*relaxed=*/true);
  }

  Value startSharingInLoop(OpBuilder &builder, Location loc) const override {
    unsigned numBlocks =
        lookupNumCTAs(builder.getInsertionBlock()->getParentOp());
    if (numBlocks == 1)
      return {};
    Value barriers = allocate(builder, loc, /*count=*/1);
    initialize(builder, loc, barriers, numBlocks);
    startSharing(builder, loc);
    return barriers;
  }

  void joinBlocks(scf::ForOp &loop, Value barriers) const override {
    joinBlocksOfCluster(loop, barriers);
  }

private:
  static constexpr unsigned kBlocksOfPair = 2;

  /// The type of barriers that the first block of a pair holds for both.
  static MemDescType holdByFirst(MemDescType type) {
    auto blocks = CTALayoutAttr::get(type.getContext(),
                                     /*CTAsPerCGA=*/{kBlocksOfPair},
                                     /*CTASplitNum=*/{1}, /*CTAOrder=*/{0});
    auto encoding = SwizzledSharedEncodingAttr::get(
        type.getContext(), /*vec=*/1, /*perPhase=*/1, /*maxPhase=*/1,
        /*order=*/{0}, blocks);
    SmallVector<int64_t> shape(type.getShape());
    shape.back() = 1;
    return MemDescType::get(shape, type.getElementType(), encoding,
                            type.getMemorySpace(), /*mutableMemory=*/true);
  }

  static void forEach(OpBuilder &builder, Location loc, Value barriers,
                      function_ref<void(Value)> visit) {
    auto type = cast<MemDescType>(barriers.getType());
    for (int64_t i = 0; i < type.getShape().front(); ++i) {
      Value index = arith::ConstantIntOp::create(builder, loc, i, 32);
      visit(getBuffer(builder, loc, barriers, index));
    }
  }
};

} // namespace

const RingBarriers &mlir::triton::nvidia_gpu::getMbarriers() {
  static const Mbarriers barriers;
  return barriers;
}
