//===-- ChooseRowGroups.cpp - choose-row-groups-nv ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A loop of attention multiplies, computes weights from the result, and
// multiplies these. No row needs another one. So 256 rows may be two halves of
// 128, each with warps of its own. While the weights of one half are computed,
// the tensor core multiplies for the other half.
//
// The cost counts cycles of an iteration:
//
// - In one group: the dots, then the weights.
// - In two groups: the dots or the weights, whatever takes longer. A group
//   waits for its own half of the dots before it computes weights. And groups
//   take some time to hear of each other.
//
// Whether the loop can be divided is known much later. So here are the
// conditions that are to be seen in the program. Where a later pass refuses,
// four warps compute one half after the other.
//
//===----------------------------------------------------------------------===//

#include "nvidia/TritonNVIDIAGPUToLLVM/Passes.h"

#include "tile/Analysis/LoopSchedule.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/Triton/IR/SplitAttributes.h"
#include "tile/Dialect/Triton/Transforms/SplitRows.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/DotCost.h"
#include "tile/Rules/Rates.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/MathExtras.h"

#define DEBUG_TYPE "choose-row-groups-nv"

namespace mlir::triton::nvidia {
#define GEN_PASS_DEF_CHOOSEROWGROUPSNV
#include "nvidia/TritonNVIDIAGPUToLLVM/Passes.h.inc"
} // namespace mlir::triton::nvidia

using namespace mlir;
using namespace mlir::triton;
namespace ttg = mlir::triton::gpu;

namespace {

constexpr int64_t kRows = 128, kGroups = 2;
/// The warps of a group: those that reach 128 lanes of tensor memory.
constexpr int kGroupWarps = 4;
/// Cycles of a warp for one score of its rows, from tensor memory to a weight,
/// if nothing else holds it up. Fitted to timelines of the simulator, as a test
/// sees to (test_row_groups_cost.py).
constexpr int64_t kScoreCycles = 11;
/// What a dot in tensor memory has at least: columns, and bits of a row.
constexpr int64_t kLeastColumns = 16, kLeastRowBits = 256;

struct Obstacle {
  Location loc;
  std::string reason;
};

/// Whether one dot multiplies what is computed from another one.
bool isChain(DotOp from, DotOp to) {
  llvm::SetVector<Operation *> work;
  work.insert(from);
  for (size_t i = 0; i < work.size(); ++i)
    for (Operation *user : work[i]->getUsers())
      if (Operation *op = from->getBlock()->findAncestorOpInBlock(*user);
          op && op != to)
        work.insert(op);
  return work.contains(to.getA().getDefiningOp());
}

/// What an iteration of a loop with two chained dots takes: of the tensor core,
/// of the units that all warps share, and of a warp from scores to weights.
struct StepCost {
  int64_t tensor = 0, units = 0, warp = 0;

  int64_t countTogether() const { return tensor + std::max(units, warp); }
  int64_t countDivided() const {
    return std::max({tensor, units, warp + tensor / kGroups}) +
           nvidia_gpu::kBarrierCycles;
  }
};

class ChooseRowGroups
    : public nvidia::impl::ChooseRowGroupsNVBase<ChooseRowGroups> {
public:
  using Base::Base;

  void runOnOperation() override {
    SmallVector<scf::ForOp> chains;
    getOperation().walk([&](scf::ForOp loop) {
      if (ttg::LoopPlan(loop).isInWarpSpecialized() && getChain(loop))
        chains.push_back(loop);
    });
    if (chains.empty())
      return;
    bool hasBlock = llvm::any_of(chains, [](scf::ForOp loop) {
      return getChain(loop)->first.getType().getDimSize(0) == kGroups * kRows;
    });
    // Of fewer rows there is nothing to say: each group needs 128.
    if (!hasBlock)
      return;
    for (scf::ForOp loop : chains)
      if (auto obstacle = findObstacle(loop))
        return missed(*obstacle);
    Builder builder(&getContext());
    ModuleOp module = getOperation();
    module->setAttr(kLongestExtentAttrName, builder.getI32IntegerAttr(kRows));
    module->setAttr(kGroupWarpsAttrName,
                    builder.getI32IntegerAttr(kGroupWarps));
    numLoops += chains.size();
  }

private:
  /// The two dots of a loop, if one multiplies what comes from the other one.
  static std::optional<std::pair<DotOp, DotOp>> getChain(scf::ForOp loop) {
    SmallVector<DotOp> dots(loop.getBody()->getOps<DotOp>());
    if (dots.size() != 2 || !isChain(dots[0], dots[1]))
      return std::nullopt;
    return std::pair(dots[0], dots[1]);
  }

  /// The loop that several groups of warps may run: this one, or that over
  /// tiles around it. Null if it is in a loop that one group runs.
  static scf::ForOp getNest(scf::ForOp loop) {
    scf::ForOp nest;
    for (Operation *op = loop; op; op = op->getParentOp()) {
      auto around = dyn_cast<scf::ForOp>(op);
      if (!around)
        return op->getParentOfType<LoopLikeOpInterface>() ? scf::ForOp() : nest;
      nest = ttg::LoopPlan(around).isWarpSpecialized() ? around : scf::ForOp();
    }
    return nest;
  }

  std::optional<Obstacle> findObstacle(scf::ForOp loop) {
    auto function = loop->getParentOfType<FunctionOpInterface>();
    auto refuse = [&](const Twine &why) {
      return Obstacle{loop.getLoc(), why.str()};
    };
    if (numCTAs > 1)
      return refuse("the blocks of a cluster divide the rows");
    if (numWarps != kGroupWarps && numWarps != kGroups * kGroupWarps)
      return refuse("it has other than 4 or 8 warps");
    if (!llvm::hasSingleElement(getOperation().getOps<FunctionOpInterface>()))
      return refuse("the kernel calls functions");
    scf::ForOp nest = getNest(loop);
    if (!nest)
      return refuse("a loop around it is without warp_specialize=True");
    if (auto obstacle = findLongTensor(function))
      return obstacle;
    if (Operation *op = findUnsplittable(function, kRows))
      return Obstacle{op->getLoc(), "rows of this operation of the kernel "
                                    "cannot be divided"};
    auto [scores, sums] = *getChain(loop);
    if (std::string why = findObstacleOfDots(scores, sums); !why.empty())
      return refuse(why);
    bool hasPointers =
        nest->walk([](LoadOp) { return WalkResult::interrupt(); })
            .wasInterrupted();
    if (wherePossible)
      return std::nullopt;
    if (hasPointers)
      return refuse("it loads by pointers, so that copies take further warps");
    StepCost cost = count(loop, scores, sums);
    LDBG() << "an iteration takes " << cost.countTogether()
           << " cycles in one group of warps, and " << cost.countDivided()
           << " in two: " << loop.getLoc();
    if (cost.countDivided() >= cost.countTogether())
      return refuse("an iteration would take " + Twine(cost.countDivided()) +
                    " cycles, and takes " + Twine(cost.countTogether()) +
                    " in one group");
    return std::nullopt;
  }

  /// All tensors with longer dimensions become several. That is meant for rows.
  static std::optional<Obstacle> findLongTensor(FunctionOpInterface function) {
    std::optional<Obstacle> obstacle;
    function.getFunctionBody().walk([&](Operation *op) {
      for (Type type : op->getResultTypes()) {
        auto tensor = dyn_cast<RankedTensorType>(type);
        if (!tensor)
          continue;
        int64_t numLong = llvm::count_if(
            tensor.getShape(), [](int64_t extent) { return extent > kRows; });
        bool isLonger = llvm::any_of(tensor.getShape(), [](int64_t extent) {
          return extent > kGroups * kRows;
        });
        if (numLong > 1 || isLonger)
          obstacle = {op->getLoc(),
                      "the kernel has tensors that are long in another "
                      "dimension than that of its rows"};
      }
    });
    return obstacle;
  }

  std::string findObstacleOfDots(DotOp scores, DotOp sums) {
    for (DotOp dot : {scores, sums}) {
      RankedTensorType type = dot.getType(), a = dot.getA().getType();
      if (type.getRank() != 2 || type.getDimSize(0) != kGroups * kRows)
        return "not all of its dots have 256 rows";
      if (a.getElementTypeBitWidth() > 16 || !type.getElementType().isF32())
        return "its dots multiply other than 8 or 16 bits, or add up in other "
               "than fp32";
      if (type.getDimSize(1) < kLeastColumns ||
          a.getDimSize(1) * a.getElementTypeBitWidth() < kLeastRowBits)
        return "its dots do not fill a tensor core";
    }
    return "";
  }

  static StepCost count(scf::ForOp loop, DotOp scores, DotOp sums) {
    StepCost cost;
    for (DotOp dot : {scores, sums}) {
      RankedTensorType type = dot.getType(), a = dot.getA().getType();
      nvidia_gpu::DotTile tile{type.getDimSize(0), type.getDimSize(1),
                               a.getDimSize(1) * a.getElementTypeBitWidth() /
                                   8};
      cost.tensor += tile.countTensorCycles();
    }
    int64_t special = 0, moved = 0;
    loop.walk([&](Operation *op) {
      if (isa<math::Exp2Op, math::ExpOp>(op))
        if (auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType()))
          special += type.getNumElements();
    });
    // Threads load scores, store weights, and correct the sums.
    auto countBytes = [](RankedTensorType type) {
      return type.getNumElements() * type.getElementTypeBitWidth() / 8;
    };
    moved = countBytes(scores.getType()) + countBytes(sums.getA().getType()) +
            2 * countBytes(sums.getType());
    cost.units = std::max(special / ::tile::rates::specialLanes,
                          nvidia_gpu::countLoadCycles(moved));
    cost.warp = scores.getType().getDimSize(1) * kScoreCycles;
    return cost;
  }

  static void missed(const Obstacle &obstacle) {
    remark::missed(
        obstacle.loc,
        remark::RemarkOpts::name("rows-in-one-group").category(DEBUG_TYPE))
        << StringRef("rows of its dots are not divided among two groups of "
                     "warps: " +
                     obstacle.reason);
  }
};

} // namespace
