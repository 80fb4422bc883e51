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
//   scores; wait(taken, phase ^ 1); store the factors; arrive(sent);
//   weights; wait(added, phase ^ 1); store them;
//   wait(corrected, phase); add, and arrive(added) when it is done.
//
// The further warps:
//   wait(sent, phase); load the factors; arrive(taken);
//   wait(added, phase ^ 1); load the sum, multiply, store it;
//   arrive(corrected).
//
// The factors are known before the weights. So a sum is corrected while its
// group computes weights. And the registers for the sum are those of other
// threads.
//
// Each barrier is for one buffer. The phase of a new barrier whose parity is 1
// counts as complete, so the first iteration does not wait.
//
//===----------------------------------------------------------------------===//

#include "RowFactors.h"

#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/Transforms/Buffers.h"
#include "tile/Dialect/TritonGPU/Transforms/Partitions.h"
#include "tile/Dialect/TritonGPU/Transforms/RingBarriers.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/TensorMemoryLayout.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/CopyEngines.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/SmallPtrSet.h"
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

/// Columns of a sum that a thread has in registers at a time.
constexpr int64_t kPart = 32;
/// With so many, threads that correct spill nothing.
constexpr int32_t kRegisters = 88;

//===----------------------------------------------------------------------===//
// What a group corrects
//===----------------------------------------------------------------------===//

/// A sum that the body of a loop multiplies by factors, and then adds to.
struct Correction {
  Region *region;
  scf::ForOp loop;
  TMEMLoadOp load;
  TMEMStoreOp store;
  TCGen5MMAOp mma;
  /// A factor for each row.
  Value factors;
  /// The sum, and the bounds of the loop, as they are called around the
  /// operation.
  Value sum, lower, upper, step;

  /// What is handed over, and its barriers, around the operation.
  Value handed, sent, taken, corrected, added;

  gpu::MemDescType getType() const {
    return cast<gpu::MemDescType>(sum.getType());
  }
};

Value getRoot(Value buffer) {
  while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>())
    buffer = view->getOperand(0);
  return buffer;
}

/// Whether nobody writes to what a dot reads before the dot is done, if it is
/// waited for where `weights` are written. A ring from around the loop is
/// handed back by the dots themselves.
bool areFactorsKept(TCGen5MMAOp mma, scf::ForOp loop) {
  Operation *weights = mma.getA().getDefiningOp();
  bool isMade = weights && weights->getParentOp() == loop &&
                isa<TMEMAllocOp, gpu::LocalAllocOp>(weights) &&
                weights->getNumOperands() == 1 && mma.getA().hasOneUse();
  Value ring = getRoot(mma.getB());
  return isMade && !loop->isAncestor(ring.getParentBlock()->getParentOp());
}

/// What the body of a loop corrects, if it does nothing else with the sum than
/// that, and one dot.
std::optional<Correction> findCorrection(TMEMStoreOp store) {
  auto loop = dyn_cast<scf::ForOp>(store->getParentOp());
  RowScaling scaling = getRowScaling(store);
  if (!loop || !scaling || !matchPattern(store.getPred(), m_One()) ||
      scaling.load->getParentOp() != loop)
    return std::nullopt;
  Correction found{
      nullptr, loop, scaling.load, store, {}, scaling.factors, {}, {}, {}, {},
      {},      {},   {},           {},    {}};
  Operation *source = found.factors.getDefiningOp();
  if (!source || source->getParentOp() != loop)
    return std::nullopt;
  for (Operation *user : store.getDst().getUsers()) {
    if (user == store || user == found.load || !loop->isAncestor(user))
      continue;
    auto mma = dyn_cast<TCGen5MMAOp>(user);
    if (!mma || found.mma || mma.getD() != store.getDst() ||
        mma->getParentOp() != loop)
      return std::nullopt;
    found.mma = mma;
  }
  if (!found.mma || found.mma.isAsync() || found.mma.usesTwoCTAs() ||
      !matchPattern(found.mma.getPred(), m_One()) ||
      !store->isBeforeInBlock(found.mma) || !areFactorsKept(found.mma, loop))
    return std::nullopt;
  return found;
}

/// What the body of a partition calls so, as it is called around the operation.
/// Null if it is made there.
Value getOuter(Value value, gpu::WarpSpecializeOp specialize, Region *region) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    if (argument.getOwner() == &region->front() &&
        region != &specialize.getDefaultRegion())
      return specialize.getExplicitCaptures()[argument.getArgNumber()];
  bool isConstant = matchPattern(value, m_Constant());
  bool isInside = region->isAncestor(value.getParentRegion());
  return isConstant || !isInside ? value : Value();
}

bool isSame(Value a, Value b) {
  APInt x, y;
  return a == b || (matchPattern(a, m_ConstantInt(&x)) &&
                    matchPattern(b, m_ConstantInt(&y)) && x == y);
}

/// Has the body of a loop compute `value` as early as it can, if it takes no
/// effects for that, and no more than a number for each row.
void moveUp(Value value, Block *body) {
  Operation *op = value.getDefiningOp();
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!op || op->getBlock() != body || (type && type.getRank() > 1) ||
      op->getNumRegions() || !isMemoryEffectFree(op))
    return;
  Operation *last = nullptr;
  for (Value operand : op->getOperands()) {
    moveUp(operand, body);
    Operation *def = operand.getDefiningOp();
    if (def && def->getBlock() == body && (!last || last->isBeforeInBlock(def)))
      last = def;
  }
  if (last)
    op->moveAfter(last);
}

//===----------------------------------------------------------------------===//
// The partition
//===----------------------------------------------------------------------===//

class CorrectionPartition {
public:
  CorrectionPartition(gpu::WarpSpecializeOp specialize,
                      MutableArrayRef<Correction> corrections)
      : specialize(specialize), corrections(corrections),
        loc(specialize.getLoc()) {}

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
    specialize = gpu::addPartition(specialize, kGroupWarps, kRegisters);
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
      for (Value barrier : {correction.sent, correction.taken,
                            correction.corrected, correction.added})
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
    correction.taken = makeBarrier(kGroupWarps);
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

  /// Has a group send its factors, and wait for the corrected sum.
  void handOver(Correction &correction) {
    Region *region = correction.region;
    OpBuilder b(correction.loop);
    Value handed = bring(b, correction.handed, region),
          sent = bringBarrier(b, correction.sent, region),
          taken = bringBarrier(b, correction.taken, region),
          corrected = bringBarrier(b, correction.corrected, region),
          added = bringBarrier(b, correction.added, region),
          zero = arith::ConstantIntOp::create(b, loc, 0, 32);
    IRRewriter rewriter(correction.loop);
    auto flipParity = [&](OpBuilder &b, Location,
                          ArrayRef<BlockArgument> args) {
      return SmallVector<Value>{flip(b, args.front())};
    };
    scf::ForOp loop = correction.loop =
        cast<scf::ForOp>(*correction.loop.replaceWithAdditionalYields(
            rewriter, zero, /*replaceInitOperandUsesInLoop=*/false,
            flipParity));
    Value phase = loop.getRegionIterArgs().back();
    b.setInsertionPointToStart(loop.getBody());
    Value before = flip(b, phase);
    // The weights come behind it.
    moveUp(correction.factors, loop.getBody());
    b.setInsertionPointAfterValue(correction.factors);
    wait(b, taken, before);
    gpu::LocalStoreOp::create(b, loc, correction.factors, handed);
    arrive(b, sent);
    b.setInsertionPoint(correction.mma.getA().getDefiningOp());
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

  /// The partition: corrects the sums of all groups, in each iteration.
  void correct() {
    OpBuilder b = OpBuilder::atBlockEnd(&partition->front());
    auto end = gpu::WarpReturnOp::create(b, loc);
    b.setInsertionPoint(end);
    struct Names {
      Value sum, handed, sent, taken, corrected, added;
    };
    SmallVector<Names> names;
    for (Correction &correction : corrections)
      names.push_back({bring(b, correction.sum, partition),
                       bring(b, correction.handed, partition),
                       bringBarrier(b, correction.sent, partition),
                       bringBarrier(b, correction.taken, partition),
                       bringBarrier(b, correction.corrected, partition),
                       bringBarrier(b, correction.added, partition)});
    Correction &first = corrections.front();
    Value zero = arith::ConstantIntOp::create(b, loc, 0, 32),
          always = arith::ConstantIntOp::create(b, loc, 1, 1);
    auto loop = scf::ForOp::create(
        b, loc, bring(b, first.lower, partition),
        bring(b, first.upper, partition), bring(b, first.step, partition), zero,
        /*bodyBuilder=*/nullptr, bool(first.loop.getUnsignedCmp()));
    b.setInsertionPointToStart(loop.getBody());
    Value phase = loop.getRegionIterArg(0), before = flip(b, phase);
    for (const Names &group : names) {
      wait(b, group.sent, phase);
      auto getFactors = [&](RankedTensorType rows) {
        Value factors = gpu::LocalLoadOp::create(b, loc, rows, group.handed);
        arrive(b, group.taken);
        wait(b, group.added, before);
        return factors;
      };
      scaleRows(b, loc, group.sum, always, kPart, getFactors);
      arrive(b, group.corrected);
    }
    scf::YieldOp::create(b, loc, before);
  }

  gpu::WarpSpecializeOp specialize;
  MutableArrayRef<Correction> corrections;
  Location loc;
  const gpu::RingBarriers &mbarriers = getMbarriers();
  Region *partition = nullptr;
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
        scf::ForOp loop = correction->loop;
        correction->sum = getOuter(store.getDst(), op, region);
        correction->lower = getOuter(loop.getLowerBound(), op, region);
        correction->upper = getOuter(loop.getUpperBound(), op, region);
        correction->step = getOuter(loop.getStep(), op, region);
        corrections.push_back(*correction);
      });
    return corrections;
  }

  static std::string findObstacle(gpu::WarpSpecializeOp op,
                                  ArrayRef<Correction> corrections) {
    if (gpu::lookupNumCTAs(op) > 1)
      return "it is of a cluster";
    SmallPtrSet<Region *, 4> regions;
    const Correction &first = corrections.front();
    for (const Correction &correction : corrections) {
      if (!regions.insert(correction.region).second)
        return "a group corrects two sums";
      if (correction.loop->getParentRegion() != correction.region)
        return "its loop is in another one";
      if (!correction.sum || !correction.lower || !correction.upper ||
          !correction.step)
        return "a group makes its sum, or the bounds of its loop, itself";
      if (gpu::lookupNumWarps(correction.loop) != kGroupWarps ||
          !isPlainSum(correction.getType()))
        return "not all sums have 128 rows and four warps";
      if (!isSame(correction.lower, first.lower) ||
          !isSame(correction.upper, first.upper) ||
          !isSame(correction.step, first.step))
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
