//===-- PartitionCorrections.cpp - Warps that correct sums ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A loop of attention multiplies each row of its sum by a factor before it adds
// to it. The sum is in tensor memory. So a group of warps loads it, multiplies,
// and stores it again, in every iteration. Here four more warps do this for all
// groups of an operation.
//
// A group:
//   scores; store the factors; arrive(sent);
//   weights; wait(added, phase ^ 1); store them;
//   wait(corrected, phase); add, and arrive(added) when it is done.
//
// The further warps:
//   wait(sent, phase); load the factors;
//   wait(added, phase ^ 1); load the sum, multiply, store it;
//   arrive(corrected).
//
// A corrected sum says as well that the factors have been loaded. Each
// iteration of the group waits for one, so the next factors have the same
// place.
//
// The factors are known before the weights. So a sum is corrected while its
// group computes weights. And the registers for the sum are those of other
// threads.
//
// Loops of the groups may be in loops over tiles. The further warps go through
// the same ones, and compute their bounds. Phases go on from tile to tile.
//
// Each barrier is for one buffer. The phase of a new barrier whose parity is 1
// counts as complete, so the first iteration does not wait.
//
//===----------------------------------------------------------------------===//

#include "Corrections.h"
#include "RowFactors.h"

#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/Transforms/Buffers.h"
#include "tile/Dialect/TritonGPU/Transforms/Partitions.h"
#include "tile/Dialect/TritonGPU/Transforms/RingBarriers.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/ProgramLoop.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/TensorMemoryLayout.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/CopyEngines.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "triton-nvidia-partition-corrections"

namespace mlir::triton::nvidia_gpu {
#define GEN_PASS_DEF_TRITONNVIDIAPARTITIONCORRECTIONS
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::nvidia_gpu

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

namespace {

/// What the warps that correct take at a time: columns of a sum, and registers
/// of a thread with which these spill nothing.
struct Share {
  int64_t columns;
  int32_t registers;
};
constexpr Share kShare{32, 88};
/// Where groups have many weights in registers, they need what others can do
/// without. An iteration takes so long then that smaller parts are no longer
/// than it.
constexpr Share kSmallShare{16, 72};
constexpr int64_t kManyWeights = 128;

//===----------------------------------------------------------------------===//
// The partition
//===----------------------------------------------------------------------===//

class CorrectionPartition {
public:
  CorrectionPartition(gpu::WarpSpecializeOp specialize,
                      MutableArrayRef<Correction> corrections)
      : specialize(specialize), corrections(corrections),
        loc(specialize.getLoc()) {
    for (Correction &correction : corrections) {
      auto weights =
          cast<gpu::MemDescType>(correction.mma.getA().getType()).getShape();
      if (weights.back() >= kManyWeights)
        share = kSmallShare;
    }
  }

  void make() {
    OpBuilder before(specialize);
    for (Correction &correction : corrections)
      allocate(before, correction);
    SmallVector<unsigned> groups;
    for (auto [i, region] : llvm::enumerate(specialize.getPartitionRegions()))
      if (llvm::any_of(corrections, [&](const Correction &correction) {
            return correction.region == &region;
          }))
        groups.push_back(i);
    bool inDefault =
        llvm::any_of(corrections, [&](const Correction &correction) {
          return correction.region == &specialize.getDefaultRegion();
        });
    // Regions move to another operation.
    SmallVector<int> numbers;
    for (const Correction &correction : corrections)
      numbers.push_back(correction.region == &specialize.getDefaultRegion()
                            ? -1
                            : int(correction.region->getRegionNumber()));
    specialize = gpu::addPartition(specialize, kGroupWarps, share.registers);
    for (auto [correction, number] : llvm::zip(corrections, numbers))
      correction.region = number < 0
                              ? &specialize.getDefaultRegion()
                              : &specialize.getPartitionRegions()[number];
    if (inDefault && specialize.getRequestedRegisters())
      gpu::divideRegisters(specialize, groups);
    partition = &specialize.getPartitionRegions().back();
    Block *block = &partition->emplaceBlock();
    for (Value captured : specialize.getExplicitCaptures())
      block->addArgument(captured.getType(), captured.getLoc());
    for (Correction &correction : corrections)
      handOver(correction);
    correct();
    OpBuilder behind(specialize);
    behind.setInsertionPointAfter(specialize);
    for (Correction &correction : corrections) {
      gpu::LocalDeallocOp::create(behind, loc, correction.handed);
      for (Value barrier :
           {correction.sent, correction.corrected, correction.added})
        mbarriers.free(behind, loc, barrier);
    }
  }

private:
  void allocate(OpBuilder &b, Correction &correction) {
    MLIRContext *context = b.getContext();
    auto encoding = gpu::SwizzledSharedEncodingAttr::get(
        context, /*vec=*/1, /*perPhase=*/1, /*maxPhase=*/1, /*order=*/{0},
        gpu::CTALayoutAttr::getDefault(context, /*rank=*/1));
    auto type = gpu::MemDescType::get({kGroupRows}, b.getF32Type(), encoding,
                                      gpu::SharedMemorySpaceAttr::get(context),
                                      /*mutableMemory=*/true);
    correction.handed =
        gpu::LocalAllocOp::create(b, loc, type, /*src=*/Value());
    auto makeBarrier = [&](int arrivals) {
      Value barrier = mbarriers.allocate(b, loc, /*count=*/1);
      mbarriers.initialize(b, loc, barrier, arrivals);
      return barrier;
    };
    correction.sent = makeBarrier(kGroupWarps);
    correction.corrected = makeBarrier(kGroupWarps);
    correction.added = makeBarrier(1);
  }

  /// The name of a value from around the operation in one of its regions.
  Value bring(OpBuilder &b, Value value, Region *region) {
    if (region == &specialize.getDefaultRegion())
      return value;
    if (Operation *def = value.getDefiningOp();
        def && matchPattern(value, m_Constant()))
      return b.clone(*def)->getResult(0);
    for (auto [i, capture] : llvm::enumerate(specialize.getExplicitCaptures()))
      if (capture == value)
        return region->getArgument(i);
    return region->getArgument(gpu::addCapture(specialize, value));
  }

  Value bringBarrier(OpBuilder &b, Value barriers, Region *region) {
    Value zero = arith::ConstantIntOp::create(b, loc, 0, 32);
    return gpu::getBuffer(b, loc, bring(b, barriers, region), zero);
  }

  Value flip(OpBuilder &b, Value parity) {
    Value one = arith::ConstantIntOp::create(b, loc, 1, 32);
    return arith::XOrIOp::create(b, loc, parity, one);
  }

  void wait(OpBuilder &b, Value barrier, Value parity) {
    mbarriers.wait(b, loc, barrier, parity, /*buffers=*/{});
  }

  void arrive(OpBuilder &b, Value barrier) {
    mbarriers.arrive(b, loc, barrier, kGroupWarps, /*predicate=*/Value(),
                     /*isShared=*/false);
  }

  /// Has a loop count its iterations by a parity, and those around it hand this
  /// on.
  scf::ForOp carryPhase(scf::ForOp loop, Value zero) {
    auto carry = [&](scf::ForOp old, NewYieldValuesFn next) {
      IRRewriter rewriter(old);
      return cast<scf::ForOp>(*old.replaceWithAdditionalYields(
          rewriter, zero, /*replaceInitOperandUsesInLoop=*/false, next));
    };
    loop = carry(
        loop, [&](OpBuilder &b, Location, ArrayRef<BlockArgument> arguments) {
          return SmallVector<Value>{flip(b, arguments.front())};
        });
    scf::ForOp inner = loop;
    while (auto outer = dyn_cast<scf::ForOp>(inner->getParentOp())) {
      outer = carry(outer, [&](OpBuilder &, Location, ArrayRef<BlockArgument>) {
        return SmallVector<Value>{inner.getResults().back()};
      });
      inner->setOperand(inner->getNumOperands() - 1,
                        outer.getRegionIterArgs().back());
      inner = outer;
    }
    return loop;
  }

  /// Has a group send its factors, and wait for the corrected sum.
  void handOver(Correction &correction) {
    Region *region = correction.region;
    OpBuilder b(getNest(correction).back());
    Value handed = bring(b, correction.handed, region),
          sent = bringBarrier(b, correction.sent, region),
          corrected = bringBarrier(b, correction.corrected, region),
          added = bringBarrier(b, correction.added, region),
          zero = arith::ConstantIntOp::create(b, loc, 0, 32);
    scf::ForOp loop = correction.loop = carryPhase(correction.loop, zero);
    Value phase = loop.getRegionIterArgs().back();
    b.setInsertionPointToStart(loop.getBody());
    Value before = flip(b, phase);
    // The weights come behind it.
    computeEarly(correction.factors, loop.getBody());
    b.setInsertionPointAfterValue(correction.factors);
    gpu::LocalStoreOp::create(b, loc, correction.factors, handed);
    arrive(b, sent);
    // Weights in the columns of scores are overwritten by the next scores.
    b.setInsertionPoint(findFirstWrite(correction.mma, loop));
    wait(b, added, before);
    b.setInsertionPoint(correction.mma);
    wait(b, corrected, phase);
    correction.mma.setAsync(true);
    correction.mma.addCompletionBarrier(
        added, arith::ConstantIntOp::create(b, loc, 1, 1));
    Operation *product = correction.store.getSrc().getDefiningOp();
    for (Operation *op : {correction.store.getOperation(), product,
                          correction.load.getOperation()})
      op->erase();
    b.setInsertionPointAfter(loop);
    wait(b, added, flip(b, loop.getResults().back()));
  }

  /// What the partition calls the parts of a correction.
  struct Names {
    Value sum, handed, sent, corrected, added;
  };

  /// The partition: goes through the loops of the groups, and corrects the sums
  /// of all of them in each iteration.
  void correct() {
    OpBuilder b = OpBuilder::atBlockEnd(&partition->front());
    auto end = gpu::WarpReturnOp::create(b, loc);
    b.setInsertionPoint(end);
    for (Correction &correction : corrections)
      names.push_back({bring(b, correction.sum, partition),
                       bring(b, correction.handed, partition),
                       bringBarrier(b, correction.sent, partition),
                       bringBarrier(b, correction.corrected, partition),
                       bringBarrier(b, correction.added, partition)});
    Value zero = arith::ConstantIntOp::create(b, loc, 0, 32);
    always = arith::ConstantIntOp::create(b, loc, 1, 1);
    Region *region = corrections.front().region;
    // One for each loop of the first group that has a correction.
    SmallVector<Value> phases(llvm::count_if(corrections,
                                             [&](const Correction &correction) {
                                               return correction.region ==
                                                      region;
                                             }),
                              zero);
    IRMapping mapping;
    repeatLoops(b, region->front(), mapping, phases);
  }

  /// Repeats the loops of the first group with corrections.
  void repeatLoops(OpBuilder &b, Block &from, IRMapping &mapping,
                   SmallVectorImpl<Value> &phases) {
    for (auto loop : from.getOps<scf::ForOp>()) {
      auto isIn = [&](const Correction &correction) {
        return loop->isAncestor(correction.loop);
      };
      if (llvm::none_of(corrections, isIn))
        continue;
      auto getBound = [&](Value bound) { return repeat(b, bound, mapping); };
      Value lower = getBound(loop.getLowerBound()),
            upper = getBound(loop.getUpperBound()),
            step = getBound(loop.getStep());
      auto mine = scf::ForOp::create(b, loc, lower, upper, step, phases,
                                     /*bodyBuilder=*/nullptr,
                                     bool(loop.getUnsignedCmp()));
      // All warps learn of the next program in the same way.
      if (Attribute overPrograms = loop->getAttr(kOverProgramsAttrName))
        mine->setAttr(kOverProgramsAttrName, overPrograms);
      mapping.map(loop.getInductionVar(), mine.getInductionVar());
      OpBuilder body = OpBuilder::atBlockBegin(mine.getBody());
      SmallVector<Value> now(mine.getRegionIterArgs());
      auto here = llvm::find_if(corrections, [&](const Correction &correction) {
        return correction.loop == loop;
      });
      if (here == corrections.end())
        repeatLoops(body, *loop.getBody(), mapping, now);
      else
        now[here->number] = correctAll(body, here->number, now[here->number]);
      scf::YieldOp::create(body, loc, now);
      phases.assign(mine.getResults().begin(), mine.getResults().end());
    }
  }

  /// Computes a bound of a loop of the first group.
  Value repeat(OpBuilder &b, Value value, IRMapping &mapping) {
    if (Value known = mapping.lookupOrNull(value))
      return known;
    Region *region = corrections.front().region;
    if (Value outer = getOuter(value, specialize, region))
      return bring(b, outer, partition);
    Operation *op = value.getDefiningOp();
    for (Value operand : op->getOperands())
      mapping.map(operand, repeat(b, operand, mapping));
    unsigned result = cast<OpResult>(value).getResultNumber();
    return b.clone(*op, mapping)->getResult(result);
  }

  /// Corrects the sums of all groups in an iteration of their loops of a
  /// number; returns the phase of the next one.
  Value correctAll(OpBuilder &b, unsigned number, Value phase) {
    Value before = flip(b, phase);
    for (auto [correction, group] : llvm::zip(corrections, names)) {
      if (correction.number != number)
        continue;
      wait(b, group.sent, phase);
      auto getFactors = [&, group = group](RankedTensorType rows) {
        Value factors = gpu::LocalLoadOp::create(b, loc, rows, group.handed);
        wait(b, group.added, before);
        return factors;
      };
      scaleRows(b, loc, group.sum, always, share.columns, getFactors);
      arrive(b, group.corrected);
    }
    return before;
  }

  gpu::WarpSpecializeOp specialize;
  MutableArrayRef<Correction> corrections;
  Location loc;
  Share share = kShare;
  const gpu::RingBarriers &mbarriers = getMbarriers();
  Region *partition = nullptr;
  SmallVector<Names> names;
  Value always;
};

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

class PartitionCorrectionsPass
    : public nvidia_gpu::impl::TritonNvidiaPartitionCorrectionsBase<
          PartitionCorrectionsPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    SmallVector<gpu::WarpSpecializeOp> ops;
    getOperation().walk([&](gpu::WarpSpecializeOp op) { ops.push_back(op); });
    for (gpu::WarpSpecializeOp op : ops) {
      SmallVector<Correction> corrections = find(op);
      if (corrections.empty())
        continue;
      if (std::string why = findObstacle(op, corrections); !why.empty()) {
        missed(op, why);
        continue;
      }
      numSums += corrections.size();
      CorrectionPartition(op, corrections).make();
    }
  }

private:
  static SmallVector<Correction> find(gpu::WarpSpecializeOp op) {
    SmallVector<Correction> corrections;
    SmallVector<Region *> regions{&op.getDefaultRegion()};
    for (Region &region : op.getPartitionRegions())
      regions.push_back(&region);
    for (Region *region : regions)
      region->walk([&](TMEMStoreOp store) {
        std::optional<Correction> correction = findCorrection(store);
        if (!correction)
          return;
        correction->region = region;
        correction->sum = getOuter(store.getDst(), op, region);
        correction->number =
            llvm::count_if(corrections, [&](const Correction &other) {
              return other.region == region;
            });
        corrections.push_back(*correction);
      });
    return corrections;
  }

  static std::string findObstacle(gpu::WarpSpecializeOp op,
                                  ArrayRef<Correction> corrections) {
    if (gpu::lookupNumCTAs(op) > 1)
      return "it is of a cluster";
    for (const Correction &correction : corrections) {
      if (!correction.sum)
        return "a group makes its sum itself";
      if (gpu::lookupNumWarps(correction.loop) != kGroupWarps ||
          !isPlainSum(correction.getType()))
        return "not all sums have 128 rows and four warps";
      if (llvm::count_if(corrections, [&](const Correction &other) {
            return other.loop->isAncestor(correction.loop);
          }) > 1)
        return "a loop corrects two sums, or is in one that corrects";
      if (std::string why = findObstacleOfLoops(op, corrections, correction);
          !why.empty())
        return why;
    }
    return "";
  }

  /// Further warps go through the same loops as each group.
  static std::string findObstacleOfLoops(gpu::WarpSpecializeOp op,
                                         ArrayRef<Correction> corrections,
                                         const Correction &correction) {
    auto isOf = [](Region *region) {
      return
          [region](const Correction &other) { return other.region == region; };
    };
    Region *first = corrections.front().region;
    if (llvm::count_if(corrections, isOf(first)) !=
        llvm::count_if(corrections, isOf(correction.region)))
      return "its groups have other loops";
    const Correction &model = corrections[correction.number];
    SmallVector<scf::ForOp> loops = getNest(correction),
                            others = getNest(model);
    if (loops.empty())
      return "a loop of it runs under a condition";
    if (loops.size() != others.size())
      return "its groups have other loops";
    for (auto [loop, other] : llvm::zip(loops, others))
      for (auto [bound, otherBound] :
           llvm::zip(loop->getOperands().take_front(3),
                     other->getOperands().take_front(3))) {
        if (!canRepeat(bound, op, correction.region))
          return "a group computes the bounds of its loop from what it loads "
                 "or hands on";
        if (!isSameIn(bound, correction.region, otherBound, model.region, op))
          return "the loops of its groups have other bounds";
      }
    return "";
  }

  static void missed(gpu::WarpSpecializeOp op, StringRef why) {
    remark::missed(
        op.getLoc(),
        remark::RemarkOpts::name("no-correction-group").category(DEBUG_TYPE))
        << StringRef(
               ("its sums are corrected by the warps that compute weights: " +
                why)
                   .str());
  }
};

} // namespace
