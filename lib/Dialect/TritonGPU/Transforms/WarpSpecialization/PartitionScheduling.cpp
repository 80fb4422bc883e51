//===-- PartitionScheduling.cpp - Which warps run what of a loop ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Producer.h"
#include "Rings.h"

#include "tile/Analysis/LoopSchedule.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/TargetModel.h"
#include "tile/Dialect/TritonGPU/Transforms/CopyStrategy.h"
#include "tile/Dialect/TritonGPU/Transforms/Passes.h"

#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/MathExtras.h"

#define DEBUG_TYPE "tritongpu-partition-scheduling"

namespace mlir::triton::gpu {
#define GEN_PASS_DEF_TRITONGPUPARTITIONSCHEDULING
#include "tile/Dialect/TritonGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::gpu

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

namespace {

bool isInnermost(scf::ForOp loop) {
  return !loop.getBody()
              ->walk(
                  [](LoopLikeOpInterface) { return WalkResult::interrupt(); })
              .wasInterrupted();
}

/// Whether what `load`, in the body of `loop`, reads is used in its iteration
/// only.
bool staysInside(Operation *load, scf::ForOp loop) {
  Block *body = loop.getBody();
  return llvm::all_of(load->getUsers(), [&](Operation *user) {
    return body->findAncestorOpInBlock(*user) != body->getTerminator();
  });
}

/// The loads that a copy to a buffer can replace: asynchronous ones whose
/// values do not go on to the next iteration. One warp would hold all row
/// numbers of a gather, which stays with the others.
SmallVector<Operation *> getLoads(scf::ForOp loop) {
  SmallVector<Operation *> loads;
  for (Operation &op : loop.getBody()->without_terminator())
    if (PlannedOp(op).getLatency() && !isa<DescriptorGatherOp>(op) &&
        CopyStrategy::find(&op, loop) && staysInside(&op, loop) &&
        !op.use_empty())
      loads.push_back(&op);
  return loads;
}

/// Why `getLoads` finds none in `loops`, and where. Passes before this one have
/// said of loads that are not asynchronous why they are not.
ProducerSlice::Obstacle explainNoLoads(scf::ForOp marked,
                                       ArrayRef<scf::ForOp> loops,
                                       MemoryModel &memory) {
  for (scf::ForOp loop : loops) {
    std::optional<ProducerSlice::Obstacle> obstacle;
    loop.walk([&](Operation *load) {
      if (isa<DescriptorGatherOp>(load) || !CopyStrategy::find(load, loop))
        return WalkResult::advance();
      if (load->getBlock() != loop.getBody())
        obstacle = {load->getLoc(), "this load of it runs under a condition"};
      else if (!staysInside(load, loop))
        obstacle = {load->getLoc(),
                    "what this load of it reads goes on to the next iteration"};
      else if (std::string why = memory.findObstacleInLoop(load, loop);
               !why.empty())
        obstacle = {load->getLoc(), why};
      return obstacle ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (obstacle)
      return *obstacle;
  }
  return {marked.getLoc(), "it has no load that other warps could do"};
}

/// The loads of a nest itself whose blocks dots in its loops read from
/// shared memory, and nobody else: a tile's operand for all of them.
SmallVector<Operation *> getTileLoads(scf::ForOp nest) {
  SmallVector<Operation *> loads;
  for (auto load : nest.getBody()->getOps<DescriptorLoadOp>()) {
    const CopyStrategy *strategy = CopyStrategy::find(load, nest);
    if (!strategy || load->use_empty())
      continue;
    Attribute encoding = strategy->chooseEncoding(load);
    bool onlyProductsRead =
        llvm::all_of(load->getUsers(), [&](Operation *user) {
          LocalAllocOp alloc = getProductBuffer(user);
          return alloc && alloc.getType().getEncoding() == encoding &&
                 llvm::all_of(alloc->getUsers(),
                              llvm::IsaPred<MatrixProductOpInterface>);
        });
    if (onlyProductsRead)
      loads.push_back(load);
  }
  return loads;
}

struct PartitionScheduling
    : public gpu::impl::TritonGPUPartitionSchedulingBase<PartitionScheduling> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
      if (!LoopPlan(loop).isWarpSpecialized())
        return WalkResult::advance();
      loops.push_back(loop);
      // One mark for a nest.
      loop.walk(
          [](scf::ForOp inner) { LoopPlan(inner).eraseWarpSpecialized(); });
      LoopPlan(loop).setWarpSpecialized();
      return WalkResult::skip();
    });
    for (scf::ForOp loop : loops)
      if (isInnermost(loop))
        scheduleLoop(loop);
      else
        scheduleNest(loop);
  }

private:
  using Obstacle = ProducerSlice::Obstacle;

  bool scheduleLoop(scf::ForOp loop) {
    if (auto obstacle = schedule(loop, {loop})) {
      giveUp(loop);
      missed("loop-not-specialized", *obstacle);
      return false;
    }
    return true;
  }

  /// Divides a nest as a whole or, where that is impossible, the loops in it,
  /// each for itself.
  void scheduleNest(scf::ForOp nest) {
    SmallVector<scf::ForOp> inners;
    std::optional<Obstacle> obstacle;
    nest.walk([&](LoopLikeOpInterface op) {
      auto inner = dyn_cast<scf::ForOp>(*op);
      if (!inner || !isInnermost(inner))
        return;
      inners.push_back(inner);
      for (Operation *op = inner->getParentOp(); op != nest;
           op = op->getParentOp())
        if (!isa<scf::ForOp>(op))
          obstacle = {inner.getLoc(), "this loop runs under a condition"};
    });
    // A loop without a count is none that can be divided.
    if (inners.empty()) {
      giveUp(nest);
      return missed("loop-not-specialized",
                    {nest.getLoc(), "no loop in it has a count of iterations"});
    }
    if (!obstacle) {
      SmallVector<Operation *> tileLoads = getTileLoads(nest);
      if (!tileLoads.empty() && !schedule(nest, inners, tileLoads))
        return;
      obstacle = schedule(nest, inners);
    }
    if (!obstacle)
      return;
    LoopPlan(nest).eraseWarpSpecialized();
    bool anyInner = false;
    for (scf::ForOp inner : inners) {
      LoopPlan(inner).setWarpSpecialized();
      anyInner |= scheduleLoop(inner);
    }
    if (anyInner)
      missed("nest-not-specialized", *obstacle);
  }

  /// Gives the loads of `inners` and, of the nest itself, `tileLoads` to the
  /// partition of `loop`; returns what is in the way of that.
  std::optional<Obstacle> schedule(scf::ForOp loop, ArrayRef<scf::ForOp> inners,
                                   ArrayRef<Operation *> tileLoads = {}) {
    auto refuse = [&](StringRef reason) {
      return Obstacle{loop.getLoc(), reason.str()};
    };
    if (!supported || !getTargetModel(loop).getRingBarriers())
      return refuse("no loops are divided among warps for this target");
    auto function = loop->getParentOfType<FunctionOpInterface>();
    if (!function || function.isPrivate())
      return refuse("it is in a device function");
    if (loop->getParentOfType<WarpSpecializeOp>())
      return refuse("its warps are specialised already");
    if (lookupNumWarps(loop) > 16)
      return refuse("there is no room for more warps in its block");
    MemoryModel memory(loop, MemoryModel::Arguments::AssumedDisjoint);
    SmallVector<Operation *> loads;
    for (scf::ForOp inner : inners)
      llvm::append_range(loads, getLoads(inner));
    if (loads.empty())
      return explainNoLoads(loop, inners, memory);
    if (lookupNumCTAs(loop) > 1)
      if (auto obstacle = findObstacleOfCluster(function, loads))
        return obstacle;
    llvm::append_range(loads, tileLoads);
    ProducerSlice slice(loop, loads);
    if (auto obstacle = slice.findObstacle(memory))
      return obstacle;

    int wanted = 0;
    for (Operation *load : llvm::drop_end(loads, tileLoads.size()))
      wanted = std::max(wanted, *PlannedOp(load).getLatency() + 1);
    int most = inners.front() == loop
                   ? INT_MAX
                   : countBuffers(loop, inners, tileLoads, wanted);
    if (most < std::min(wanted, 2))
      return refuse("the buffers of its loads and of its results do not fit "
                    "into shared memory together");
    for (scf::ForOp inner : inners) {
      int stages = 0;
      for (Operation *load : getLoads(inner)) {
        stages = std::max(stages, *PlannedOp(load).getLatency() + 1);
        PlannedOp(load).setPartition(0);
      }
      if (stages)
        LoopPlan(inner).setNumStages(std::min(stages, most));
    }
    // The next tile's is copied when the last product of this one is done.
    for (Operation *load : tileLoads) {
      PlannedOp(load).setPartition(0);
      LoopPlan(loop).setNumStages(1);
    }
    eraseSchedule(loop);
    // The partition is ahead of the end of a tile by itself.
    LoopPlan(loop).eraseFlattened();
    noteDisjointArguments(function, memory.getAssumptions());
    ++numLoops;
    return std::nullopt;
  }

  static std::optional<Obstacle>
  findObstacleOfCluster(FunctionOpInterface function,
                        ArrayRef<Operation *> loads) {
    // Blocks that share what is loaded by pointers exchange it.
    for (Operation *load : loads)
      if (!isa<DescriptorLoadOp>(load))
        return Obstacle{load->getLoc(), "other warps of a cluster load through "
                                        "descriptors alone"};
    // In functions blocks meet with all their warps.
    std::optional<Obstacle> obstacle;
    function.walk([&](CallOpInterface call) {
      obstacle = {call.getLoc(), "blocks of a cluster with specialised warps "
                                 "cannot meet in a function that is called"};
    });
    // Their ends would have to be heard of in all blocks.
    const RingBarriers &barriers = *getTargetModel(function).getRingBarriers();
    function.walk([&](MatrixProductOpInterface product) {
      if (barriers.arrivesByItself(product) && !barriers.isOfAllBlocks(product))
        obstacle = {product.getLoc(), "this dot runs beside the threads, and "
                                      "other blocks of a cluster copy for it"};
    });
    return obstacle;
  }

  /// How many buffers for each load, of `wanted`, there is room for. Beside
  /// them is one for each of `tileLoads` and those that the nest stores
  /// through, which live as long. These are all of them, so that no store waits
  /// for another. Or it is one at a time where no three buffers for loads are
  /// left otherwise.
  static int countBuffers(scf::ForOp nest, ArrayRef<scf::ForOp> inners,
                          ArrayRef<Operation *> tileLoads, int wanted) {
    auto countBytes = [](Value value) -> int64_t {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      if (!type)
        return 0;
      Type element = type.getElementType();
      int64_t bits =
          element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 64;
      constexpr int64_t kAlignment = 1024;
      return llvm::alignTo(llvm::product_of(getShapePerCTA(type)) * bits / 8,
                           kAlignment);
    };
    int64_t loaded = 0, stored = 0, largestStore = 0;
    // Loops that load the same share their buffers.
    SmallVector<SmallVector<std::pair<Type, Attribute>>> known;
    for (scf::ForOp inner : inners) {
      SmallVector<Operation *> loads = getLoads(inner);
      auto types = getBufferTypes(loads, inner);
      if (llvm::is_contained(known, types))
        continue;
      known.push_back(types);
      for (Operation *load : loads)
        loaded += countBytes(load->getResult(0));
    }
    nest.walk([&](Operation *op) {
      if (!isa<StoreOp, DescriptorStoreOp, DescriptorReduceOp>(op))
        return;
      Value source =
          isa<StoreOp>(op) ? cast<StoreOp>(op).getValue() : op->getOperand(1);
      int64_t bytes = countBytes(source);
      stored += bytes;
      largestStore = std::max(largestStore, bytes);
    });
    constexpr int64_t kBarriers = 1024;
    int64_t available = getTargetModel(nest).getMaxSharedMemory() - kBarriers;
    for (Operation *load : tileLoads)
      available -= countBytes(load->getResult(0));
    auto count = [&](int64_t others) {
      return int(std::max<int64_t>(available - others, 0) / loaded);
    };
    int most = count(stored);
    constexpr int kEnough = 3;
    if (most < std::min(wanted, kEnough))
      most = count(largestStore);
    LDBG() << "room for " << most << " buffers of " << loaded
           << " bytes beside those of stores: " << nest.getLoc();
    return most;
  }

  /// Forgets how the stages of loops were to overlap. What partitions get has
  /// no place in such a schedule.
  static void eraseSchedule(scf::ForOp loop) {
    loop.walk([](scf::ForOp inner) { LoopSchedule::erase(inner); });
    loop.walk([](Operation *op) { PlannedOp(op).eraseLatency(); });
  }

  /// The loop is compiled like others.
  static void giveUp(scf::ForOp loop) {
    LoopPlan(loop).eraseWarpSpecialized();
    eraseSchedule(loop);
  }

  static void missed(StringRef name, const Obstacle &obstacle) {
    remark::missed(obstacle.loc,
                   remark::RemarkOpts::name(name).category(DEBUG_TYPE))
        << StringRef(obstacle.reason);
  }
};

} // namespace
