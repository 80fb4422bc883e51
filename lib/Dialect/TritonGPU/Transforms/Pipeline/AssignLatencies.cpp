//===-- AssignLatencies.cpp - How early the loads of a loop start ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "AsyncProducts.h"
#include "LoopMemory.h"
#include "tile/Analysis/LoopSchedule.h"
#include "tile/Dialect/TritonGPU/Transforms/CopyStrategy.h"

#include "tile/Analysis/AxisInfo.h"
#include "tile/Analysis/MemoryModel.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/TargetModel.h"
#include "tile/Dialect/TritonGPU/Transforms/Passes.h"

#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

#define DEBUG_TYPE "tritongpu-assign-latencies"

namespace mlir::triton::gpu {
#define GEN_PASS_DEF_TRITONGPUASSIGNLATENCIES
#include "tile/Dialect/TritonGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::gpu

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

namespace {

/// The operation of `block` that is `op` or contains it; null if there is none.
Operation *getAncestorIn(Block *block, Operation *op) {
  return block->findAncestorOpInBlock(*op);
}

class LoopLatencies {
public:
  LoopLatencies(scf::ForOp loop, int numStages,
                const ModuleAxisInfoAnalysis &axisInfo)
      : loop(loop), numStages(numStages),
        memory(loop, MemoryModel::Arguments::AssumedDisjoint),
        axisInfo(axisInfo) {}

  /// Returns the number of loads that were given a latency.
  unsigned assign() {
    for (Operation &op : loop.getBody()->without_terminator())
      if (const CopyStrategy *strategy = CopyStrategy::find(&op, loop))
        if (isCandidate(&op, *strategy))
          latencies[&op] = getLatency(&op);
    // Their addresses may come from loads, too. These hand on a few registers,
    // and so get an iteration of their own, before those that the stages are
    // for: nobody should wait for an index.
    for (Operation *load : llvm::to_vector(llvm::make_first_range(latencies)))
      latencies[load] = shareStages(load, latencies[load]);
    for (Operation *load : llvm::to_vector(llvm::make_first_range(latencies)))
      for (Operation *source : getSources(load))
        if (source != load && isa<LoadOp>(source) && isSmall(source))
          latencies[source] = 1;
    if (!LoopPlan(loop).isInWarpSpecialized()) {
      readOperandsEarly();
      loadBesideProductsEarly();
    }
    for (auto [load, latency] : latencies)
      PlannedOp(load).setLatency(latency);
    return latencies.size();
  }

private:
  /// Where threads copy through registers, what leads to a dot is loaded one
  /// iteration ahead: more would be handed on from register to register.
  int getLatency(Operation *load) {
    bool isCopied = !getTargetModel(loop).getAsyncCopySizes().empty();
    return isCopied || !leadsToProduct(loop, load) ? numStages - 1
                                                   : std::min(numStages - 1, 1);
  }

  /// The loads of a chain, each of which the next one takes its address from:
  /// the number of those that end with `load`.
  unsigned getChainLength(Operation *load) {
    unsigned before = 0;
    for (Operation *source : getSources(load))
      if (source != load &&
          isa<LoadOp, DescriptorLoadOp, DescriptorGatherOp>(source))
        before = std::max(before, getChainLength(source));
    return before + 1;
  }

  /// The stages of a loop are for all loads of a chain. With many stages, each
  /// of them gets its share: more buffers of the last one may not fit into the
  /// memory that the user has counted on. Two iterations ahead are left to it,
  /// which few stages are for.
  int shareStages(Operation *load, int latency) {
    constexpr int kLeast = 2;
    int share = llvm::divideCeil(latency, getChainLength(load));
    return std::min(latency, std::max(share, kLeast));
  }

  /// The load of the body that threads read an operand in registers from, by
  /// `read` and nothing else; null if there is none.
  Operation *findLoadOfRead(Operation *read) {
    Operation *load = nullptr;
    if (auto convert = dyn_cast<ConvertLayoutOp>(read))
      load = convert.getSrc().getDefiningOp();
    else if (auto local = dyn_cast<LocalLoadOp>(read))
      load = findLoadOfBuffer(local.getSrc());
    // Another use, in a later stage, would find the buffer overwritten.
    return load && load->hasOneUse() ? load : nullptr;
  }

  Operation *findLoadOfBuffer(Value memory) {
    while (auto view = memory.getDefiningOp<ViewLikeOpInterface>()) {
      if (!memory.hasOneUse())
        return nullptr;
      memory = view.getViewSource();
    }
    auto buffer = memory.getDefiningOp<LocalAllocOp>();
    return buffer && memory.hasOneUse() && isCopiedTo(buffer, loop)
               ? buffer.getSrc().getDefiningOp()
               : nullptr;
  }

  /// Operands in registers of dots that the tensor core does by itself are read
  /// a stage before. Then the dot of the iteration before is under way. Their
  /// loads start as early before that as others. Blocks that share a
  /// multiprocessor fill each other's gaps, and are only held up by that.
  void readOperandsEarly() {
    if (haveRegisters(loop, {}, RegisterPurpose::SharedMultiprocessor,
                      /*numBlocks=*/2))
      return;
    for (auto dot : loop.getBody()->getOps<MatrixProductOpInterface>()) {
      if (!dot.canWaitInOrder())
        continue;
      for (Value factor : dot.getFactors()) {
        Operation *read = factor.getDefiningOp();
        if (!isa<RankedTensorType>(factor.getType()) || !read ||
            read->getBlock() != loop.getBody() || !read->hasOneUse())
          continue;
        // With two stages its place would be that of the copies.
        if (latencies.lookup(findLoadOfRead(read)) > 1)
          latencies[read] = 1;
      }
    }
  }

  /// What results of dots are scaled by, or compared with, comes to registers
  /// an iteration ahead. It has no buffer, and those who need it would wait.
  void loadBesideProductsEarly() {
    if (latencies.empty())
      return;
    SmallVector<Value> kept;
    for (auto load : loop.getBody()->getOps<LoadOp>()) {
      if (!isBesideProducts(loop, load) || !isSmall(load) ||
          !findDependence(load).empty())
        continue;
      bool isChained = llvm::any_of(getSources(load), [&](Operation *source) {
        return source != load && !isMemoryEffectFree(source);
      });
      if (isChained)
        continue;
      kept.push_back(load);
      if (!haveRegisters(loop, kept, RegisterPurpose::LoadsAhead))
        return;
      latencies[load] = 1;
    }
  }

  bool isCandidate(Operation *load, const CopyStrategy &strategy) {
    if (auto pointers = dyn_cast<LoadOp>(load)) {
      auto type = dyn_cast<RankedTensorType>(pointers.getPtr().getType());
      if (!type || !type.getEncoding())
        return false;
    }
    if (!LoopPlan(loop).getNumStages() && !strategy.suitsAnyLoop() &&
        !leadsToProduct(loop, load))
      return false;
    std::string obstacle = findObstacle(load);
    if (obstacle.empty())
      return true;
    remark::missed(
        load->getLoc(),
        remark::RemarkOpts::name("load-not-pipelined").category(DEBUG_TYPE))
        << StringRef(obstacle);
    return false;
  }

  /// Why the load cannot start early; empty if it can.
  std::string findObstacle(Operation *load) {
    if (auto pointers = dyn_cast<LoadOp>(load))
      if (std::string narrowness = findNarrowness(pointers);
          !narrowness.empty())
        return narrowness;
    return findDependence(load);
  }

  /// Why what the loop does comes before the load; empty if it may not.
  std::string findDependence(Operation *load) {
    std::string obstacle;
    // What the address is computed from starts early, too.
    for (Operation *op : getSources(load))
      op->walk([&](Operation *nested) {
        if (!isa<LoadOp, DescriptorLoadOp, DescriptorGatherOp>(nested))
          return WalkResult::advance();
        obstacle = memory.findObstacleInLoop(nested, loop);
        if (obstacle.empty())
          return WalkResult::advance();
        if (nested != load)
          obstacle =
              "of the load that its address or mask comes from: " + obstacle;
        return WalkResult::interrupt();
      });
    return obstacle;
  }

  /// True if a thread can easily keep the result for an iteration.
  static bool isSmall(Operation *load) {
    constexpr unsigned kMostElements = 16;
    auto type = dyn_cast<RankedTensorType>(load->getResult(0).getType());
    return !type || getTotalElemsPerThread(type) <= kMostElements;
  }

  /// Why no asynchronous copy is narrow enough; empty if one is.
  std::string findNarrowness(LoadOp load) {
    unsigned contiguity = getCopyContiguity(axisInfo, load);
    unsigned bits =
        getElementTypeOrSelf(load.getType()).isIntOrFloat()
            ? getElementTypeOrSelf(load.getType()).getIntOrFloatBitWidth()
            : 64;
    ArrayRef<unsigned> sizes = getTargetModel(load).getAsyncCopySizes();
    if (sizes.empty() || contiguity * bits >= sizes.front() * 8)
      return "";
    return llvm::formatv("only {0} bits are known to lie together where the "
                         "mask is the same, and the smallest asynchronous "
                         "copy has {1}",
                         contiguity * bits, sizes.front() * 8);
  }

  /// `op` and all that it depends on within one iteration.
  llvm::SetVector<Operation *> getSources(Operation *op) {
    llvm::SetVector<Operation *> sources;
    sources.insert(op);
    for (size_t i = 0; i < sources.size(); ++i)
      sources[i]->walk([&](Operation *nested) {
        for (Value operand : nested->getOperands())
          if (Operation *def = operand.getDefiningOp())
            if (Operation *inBody = getAncestorIn(loop.getBody(), def))
              sources.insert(inBody);
      });
    return sources;
  }

  scf::ForOp loop;
  int numStages;
  MemoryModel memory;
  const ModuleAxisInfoAnalysis &axisInfo;
  llvm::MapVector<Operation *, int> latencies;
};

/// Whether `loop` has a loop in it that touches memory: that one's loads are
/// ahead then. A loop that only computes, such as the one over the groups of a
/// scaled dot, is like any other operation.
bool hasLoopWithLoads(scf::ForOp loop) {
  return loop.getBody()
      ->walk([](LoopLikeOpInterface inner) {
        return isMemoryEffectFree(inner) ? WalkResult::skip()
                                         : WalkResult::interrupt();
      })
      .wasInterrupted();
}

struct AssignLatencies
    : public gpu::impl::TritonGPUAssignLatenciesBase<AssignLatencies> {
  using Base::Base;

  void runOnOperation() override {
    if (numStages < 1) {
      emitError(getOperation().getLoc(),
                "expected option 'num-stages' to be positive, "
                "found ")
          << numStages.getValue();
      return signalPassFailure();
    }
    ModuleAxisInfoAnalysis axisInfo(getOperation());
    getOperation().walk([&](scf::ForOp loop) {
      bool marked = LoopPlan(loop).isInWarpSpecialized();
      // What the warps of partitions load is ahead already.
      if (hasLoopWithLoads(loop) || (onlyMarked && !marked) ||
          loop->getParentOfType<WarpSpecializeOp>())
        return;
      int stages = LoopPlan(loop).getNumStages().value_or(numStages);
      // Loads of warps of their own are ahead even with a single buffer.
      if (stages > 1 || marked)
        numLoads += LoopLatencies(loop, stages, axisInfo).assign();
    });
  }
};

} // namespace
