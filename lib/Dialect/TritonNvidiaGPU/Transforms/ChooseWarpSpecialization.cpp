//===-- ChooseWarpSpecialization.cpp - Which loops are divided ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A loop over tiles may give its copies and its dots to warps of their own. One
// tile is multiplied then while another one is stored. The choice compares the
// cycles of a tile (DotCost.h):
//
// - In one group of warps: all dots, then the end of the tile. The first copies
//   of the next tile come when this one is stored.
// - In several groups: the dots or the end of a tile, whatever takes longer.
//   The groups hand over each sum. Buffers for stores are there beside those
//   for copies, so that fewer copies may be under way.
//
// The blocks of a pair meet before each dot in one group of warps. In several
// groups, mbarriers tell the warp that starts the dots, and nobody else waits.
//
// A loop that only multiplies gains nothing: its dots run beside the threads
// already.
//
//===----------------------------------------------------------------------===//

#include "tile/Analysis/LoopSchedule.h"
#include "tile/Analysis/MemoryModel.h"
#include "tile/Analysis/TripCount.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/TargetModel.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/TensorMemoryLayout.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/DotCost.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h"
#include "tile/Rules/Rates.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/MathExtras.h"

#define DEBUG_TYPE "triton-nvidia-choose-warp-specialization"

namespace mlir::triton::nvidia_gpu {
#define GEN_PASS_DEF_TRITONNVIDIACHOOSEWARPSPECIALIZATION
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::nvidia_gpu

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

namespace {

/// The steps of a tile where nothing is known of them. Assumed.
constexpr int64_t kUnknownSteps = 16;

int64_t countBytes(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.getElementType().isIntOrFloat())
    return 0;
  return llvm::product_of(gpu::getShapePerCTA(tensor)) *
         tensor.getElementTypeBitWidth() / 8;
}

/// The loop over tiles around a loop with dots: its parent.
scf::ForOp getTiles(scf::ForOp loop) {
  return dyn_cast<scf::ForOp>(loop->getParentOp());
}

bool isInnermost(scf::ForOp loop) {
  return loop.walk([&](LoopLikeOpInterface inner) {
               return inner == loop ? WalkResult::advance()
                                    : WalkResult::interrupt();
             })
             .wasInterrupted() == false;
}

/// Whether a value that a loop multiplies is copied as a descriptor says,
/// without threads.
bool isCopied(Value factor, scf::ForOp loop) {
  while (Operation *def = factor.getDefiningOp()) {
    if (!loop->isAncestor(def))
      return true;
    if (isa<gpu::MemDescTransOp, gpu::MemDescReshapeOp>(def)) {
      factor = def->getOperand(0);
      continue;
    }
    auto alloc = dyn_cast<gpu::LocalAllocOp>(def);
    if (!alloc || !alloc.getSrc())
      return false;
    Value source = alloc.getSrc();
    while (auto convert = source.getDefiningOp<gpu::ConvertLayoutOp>())
      source = convert.getSrc();
    return bool(source.getDefiningOp<DescriptorLoadOp>());
  }
  return true;
}

/// Whether a tile has nothing to do with what its sum was before.
bool startsAnew(MMAv5OpInterface mma, scf::ForOp loop) {
  Value adds = mma.getUseAccumulator();
  auto argument = dyn_cast<BlockArgument>(adds);
  if (argument && argument.getOwner() == loop.getBody() &&
      argument != loop.getInductionVar())
    adds = loop.getTiedLoopInit(argument)->get();
  return matchPattern(adds, m_Zero());
}

/// What a loop over tiles takes for one of them.
struct TileCost {
  int64_t tensor = 0, shared = 0; ///< of a step
  int64_t meeting = 0; ///< of the blocks of a pair, before a step of one group
  int64_t steps = kUnknownSteps;
  int64_t end = 0;
  int64_t copied = 0, stored = 0; ///< bytes in shared memory, of a step and all
  int64_t stages = 0;
  unsigned columns = 0; ///< of tensor memory, all sums together

  /// Copies for `numStages` steps are under way, this one among them.
  int64_t countDots(int64_t numStages, int64_t others = 0) const {
    int64_t busy = std::max({tensor, shared, others});
    return steps * (numStages > 1 ? std::max(busy, tile::rates::copyLatency /
                                                       (numStages - 1))
                                  : busy + tile::rates::copyLatency);
  }
  int64_t countTogether() const {
    return countDots(stages, meeting) + end + tile::rates::copyLatency;
  }
  int64_t countDivided(int64_t sharedMemory) const {
    int64_t fit = copied ? (sharedMemory - stored) / copied : stages;
    int64_t dots = countDots(std::min(stages, fit));
    // With one sum, the next tile waits until this one is loaded.
    bool overlaps = 2 * columns <= kTensorMemoryColumns;
    return (overlaps ? std::max(dots, end) : dots + end) + kBarrierCycles;
  }
};

class ChooseWarpSpecializationPass
    : public nvidia_gpu::impl::TritonNvidiaChooseWarpSpecializationBase<
          ChooseWarpSpecializationPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    llvm::SetVector<scf::ForOp> loops;
    getOperation().walk([&](MMAv5OpInterface mma) {
      if (auto loop = mma->getParentOfType<scf::ForOp>())
        loops.insert(loop);
    });
    llvm::SetVector<scf::ForOp> nests;
    for (scf::ForOp loop : loops) {
      scf::ForOp tiles = getTiles(loop);
      if (isMarked(loop) || (tiles && !nests.insert(tiles)))
        continue;
      if (tiles)
        choose(tiles);
      else if (hasCopies(loop))
        missed(loop, "no loop over tiles is around it, whose ends other warps "
                     "could store meanwhile");
    }
  }

private:
  static bool isMarked(Operation *loop) {
    return gpu::LoopPlan(loop).isInWarpSpecialized() ||
           loop->getParentOfType<gpu::WarpSpecializeOp>();
  }

  static bool hasCopies(scf::ForOp loop) {
    return !loop.getBody()->getOps<DescriptorLoadOp>().empty();
  }

  void choose(scf::ForOp tiles) {
    if (std::string why = findObstacle(tiles); !why.empty())
      return missed(tiles, why);
    TileCost cost = count(tiles);
    int64_t together = cost.countTogether();
    int64_t divided =
        cost.countDivided(gpu::getTargetModel(tiles).getMaxSharedMemory());
    LDBG() << "a tile takes " << together << " cycles in one group, and "
           << divided << " in several: " << tiles.getLoc();
    if (divided >= together)
      return missed(tiles, ("a tile would take " + Twine(divided) +
                            " cycles, and takes " + Twine(together) +
                            " in one group of warps")
                               .str());
    gpu::LoopPlan(tiles).setWarpSpecialized();
    ++numLoops;
  }

  /// Why the dots of a loop over tiles cannot go to a warp of their own, as far
  /// as this is to be seen.
  static std::string findObstacle(scf::ForOp tiles) {
    if (tiles->getParentOfType<scf::ForOp>())
      return "it is in another loop";
    std::string why;
    tiles.walk([&](MMAv5OpInterface mma) {
      if (gpu::lookupNumCTAs(tiles) > 1 && !mma.usesTwoCTAs()) {
        why = "the blocks of a cluster copy for each other";
        return;
      }
      auto loop = dyn_cast<scf::ForOp>(mma->getParentOp());
      if (!loop || loop == tiles || loop->getParentOp() != tiles)
        why = "a dot of it is in no loop over the steps of a tile";
      else if (!isInnermost(loop) || !hasCopies(loop))
        why = "a loop of dots in it does not copy as descriptors say";
      else if (!onlyMultiplies(loop))
        why = "threads take part between the dots of a tile";
      else if (!startsAnew(mma, loop))
        why = "a sum of it begins with something else than zero";
    });
    if (!why.empty())
      return why;
    MemoryModel memory(tiles, MemoryModel::Arguments::AssumedDisjoint);
    tiles.walk([&](DescriptorLoadOp load) {
      if (load->getParentOp() != tiles && why.empty())
        why = memory.findObstacleInLoop(load, tiles);
    });
    return why;
  }

  static bool onlyMultiplies(scf::ForOp loop) {
    return llvm::all_of(loop.getBody()->getOperations(), [&](Operation &op) {
      if (auto mma = dyn_cast<MMAv5OpInterface>(op))
        return llvm::all_of(mma.getFactors(), [&](Value factor) {
          return isCopied(factor, loop);
        });
      return isa<DescriptorLoadOp, gpu::LocalAllocOp>(op) ||
             isMemoryEffectFree(&op);
    });
  }

  TileCost count(scf::ForOp tiles) const {
    TileCost cost;
    cost.stages = gpu::LoopPlan(tiles).getNumStages().value_or(numStages);
    tiles.walk([&](Operation *op) {
      auto loop = dyn_cast<scf::ForOp>(op->getParentOp());
      bool isStep = loop && loop != tiles;
      if (auto mma = dyn_cast<MMAv5OpInterface>(op))
        addDot(mma, loop, cost);
      else if (isa<DescriptorLoadOp>(op) && isStep)
        cost.copied += countBytes(op->getResult(0).getType());
      else if (isa<TMEMLoadOp>(op))
        cost.end += countLoadCycles(countBytes(op->getResult(0).getType()));
      else if (isa<StoreOp, DescriptorStoreOp, DescriptorReduceOp>(op))
        addStore(op->getOperand(1), cost);
    });
    return cost;
  }

  static void addDot(MMAv5OpInterface mma, scf::ForOp loop, TileCost &cost) {
    auto sum = cast<gpu::MemDescType>(mma.getAccumulator().getType()),
         a = cast<gpu::MemDescType>(mma.getLhs().getType());
    SmallVector<int64_t> shape = gpu::getShapePerCTA(sum);
    DotTile tile{shape[0], shape[1],
                 a.getShape().back() * a.getElementTypeBitWidth() / 8};
    bool isPair = mma.usesTwoCTAs();
    cost.tensor += tile.countTensorCycles();
    cost.shared += tile.countSharedCycles(tile.columns / (isPair ? 2 : 1));
    cost.meeting += isPair ? kBarrierCycles : 0;
    if (auto footprint = getTensorMemoryFootprint(sum); succeeded(footprint))
      cost.columns += footprint->columns;
    if (std::optional<APInt> steps = TripCount(loop).getKnown())
      cost.steps = steps->getLimitedValue(INT32_MAX);
    if (std::optional<int> stages = gpu::LoopPlan(loop).getNumStages())
      cost.stages = *stages;
  }

  static void addStore(Value value, TileCost &cost) {
    int64_t bytes = countBytes(value.getType());
    cost.end += countStoreCycles(bytes);
    cost.stored += bytes;
  }

  static void missed(scf::ForOp loop, StringRef why) {
    remark::missed(
        loop.getLoc(),
        remark::RemarkOpts::name("loop-not-specialized").category(DEBUG_TYPE))
        << StringRef(
               ("its copies and dots get no warps of their own: " + why).str());
  }
};

} // namespace
