//===-- AllocateSharedMemory.cpp - Places in shared memory ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Analysis/AllocateSharedMemory.h"

#include "tile/Analysis/Allocation.h"
#include "tile/Analysis/CollectivePlan.h"
#include "tile/Analysis/ConvertLayoutPlan.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/LayoutChecks.h"
#include "tile/Dialect/TritonGPU/IR/TargetModel.h"
#include "tile/Dialect/TritonGPU/IR/TurnAttributes.h"

#include "mlir/Analysis/CFGLoopInfo.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace mlir::triton;

/// Emits the error where the largest buffer is made, with notes on the next.
static void reportTooMuch(ModuleOp module, const ModuleAllocation &allocation,
                          int64_t limit) {
  SmallVector<const Allocation::Buffer *> buffers;
  for (auto &[function, frame] : allocation.getFunctions())
    for (const Allocation::Buffer &buffer : frame->getBuffers())
      if (buffer.kind != Allocation::Kind::Call)
        buffers.push_back(&buffer);
  llvm::sort(buffers, [](auto *lhs, auto *rhs) {
    return std::tuple(-lhs->size, lhs->begin, lhs->offset) <
           std::tuple(-rhs->size, rhs->begin, rhs->offset);
  });
  Operation *where = buffers.empty() ? module : buffers.front()->owner;
  auto target = module->getAttrOfType<StringAttr>(gpu::kTargetAttrName);
  InFlightDiagnostic error =
      mlir::emitError(where->getLoc(),
                      "out of shared memory: the kernel needs ")
      << allocation.getSharedMemorySize() << " bytes, a block on "
      << (target ? target.getValue() : "this target") << " has at most "
      << limit << "; smaller tiles or fewer pipeline stages need less";
  constexpr size_t kMostNotes = 4;
  for (const Allocation::Buffer *buffer :
       ArrayRef(buffers).take_front(kMostNotes))
    error.attachNote(buffer->owner->getLoc())
        << buffer->size << " bytes for "
        << (buffer->kind == Allocation::Kind::Scratch ? "the exchange of " : "")
        << "'" << buffer->owner->getName() << "'";
}

//===----------------------------------------------------------------------===//
// Turns of conversions
//===----------------------------------------------------------------------===//

namespace {
/// With fewer bytes, a conversion would consist of barriers.
constexpr int64_t kLeastTurnBytes = 8 * 1024;
/// But where half as many blocks again reside for it, conversions in loops take
/// four turns for one. Even then, each of these has so many bytes.
constexpr int64_t kMoreTurns = 4, kLeastTurnBytesInLoops = 2 * 1024;

/// Chooses in how many turns conversions go through shared memory: as few as
/// fit into what the kernel needs anyway. Epilogues are the usual case: the
/// rings of their loops are free by then. Each round has barriers, and values
/// that wait for theirs take registers. So more of them are worth it only where
/// they let more blocks reside: where shared memory limits these.
class TurnChooser {
public:
  TurnChooser(ModuleOp module, ModuleAllocation allocation,
              ResidentBlocks countResidentBlocks)
      : module(module), dominance(module), allocation(std::move(allocation)),
        countResidentBlocks(countResidentBlocks) {}

  FailureOr<ModuleAllocation> run() {
    collect();
    if (failed(cut()))
      return failure();
    for (gpu::ConvertLayoutOp op : conversions)
      if (failed(choose(op)))
        return failure();
    if (failed(cutInLoops()))
      return failure();
    return std::move(allocation);
  }

private:
  /// Behind a loop, what a conversion takes is little beside the loop. In a
  /// loop barriers are dear, and so are they where there is none.
  bool mayBeCut(gpu::ConvertLayoutOp op) {
    return ConvertLayoutPlan::of(op).scratchSize > kLeastTurnBytes &&
           isBehindLoop(op);
  }

  /// Whether all ways to `op` come through a loop that is done by then. Loops
  /// are structured, or blocks that branch back.
  bool isBehindLoop(Operation *op) {
    bool result = false;
    for (Operation *at = op; !isa<FunctionOpInterface>(at);
         at = at->getParentOp()) {
      if (isa<LoopLikeOpInterface>(at))
        return false;
      for (Operation *before = at->getPrevNode(); before;
           before = before->getPrevNode())
        result |= isa<LoopLikeOpInterface>(before);
      Region *region = at->getParentRegion();
      if (region->hasOneBlock())
        continue;
      auto &tree = dominance.getDomTree(region);
      CFGLoopInfo loops(tree);
      if (loops.getLoopFor(at->getBlock()))
        return false;
      for (CFGLoop *loop : loops)
        result |= tree.dominates(loop->getHeader(), at->getBlock());
    }
    return result;
  }

  bool isInLoop(Operation *op) {
    Region *region = op->getParentRegion();
    return op->getParentOfType<LoopLikeOpInterface>() ||
           (!region->hasOneBlock() && CFGLoopInfo(dominance.getDomTree(region))
                                          .getLoopFor(op->getBlock()));
  }

  void collect() {
    module.walk([&](gpu::ConvertLayoutOp op) {
      ConvertLayoutPlan plan = ConvertLayoutPlan::of(op);
      if (plan.route == ConvertLayoutPlan::Route::SharedMemory &&
          (plan.takesTurns() || mayBeCut(op)))
        conversions.push_back(op);
    });
  }

  /// Where conversions meet no buffers, nothing needs memory anyway.
  bool hasBuffers() const {
    return llvm::any_of(allocation.getFunctions(), [](const auto &frame) {
      return llvm::any_of(frame.second->getBuffers(),
                          [](const Allocation::Buffer &buffer) {
                            return buffer.kind == Allocation::Kind::Explicit;
                          });
    });
  }

  /// Has all conversions behind loops take as little as they can. That tells
  /// what the rest of the kernel needs.
  LogicalResult cut() {
    if (!hasBuffers())
      return success();
    SmallVector<gpu::ConvertLayoutOp> isCut;
    for (gpu::ConvertLayoutOp op : conversions)
      if (mayBeCut(op)) {
        setTurnBytes(op, kLeastTurnBytes);
        isCut.push_back(op);
      }
    if (isCut.empty())
      return success();
    auto least = ModuleAllocation::compute(module);
    if (failed(least))
      return failure();
    if (least->getSharedMemorySize() < allocation.getSharedMemorySize()) {
      allocation = std::move(*least);
      if (countResidentBlocks)
        mostBlocks = countResidentBlocks(allocation.getSharedMemorySize());
      return success();
    }
    for (gpu::ConvertLayoutOp op : isCut)
      op->removeAttr(kTurnBytesAttrName);
    return success();
  }

  /// The fewest turns for which nothing else is needed. Turns of the usual
  /// size, or of less, may need more where as many blocks are resident.
  LogicalResult choose(gpu::ConvertLayoutOp op) {
    if (!ConvertLayoutPlan::of(op).takesTurns())
      return success();
    auto isCut = op->getAttrOfType<IntegerAttr>(kTurnBytesAttrName);
    op->removeAttr(kTurnBytesAttrName);
    op->setAttr(kOneTurnAttrName, UnitAttr::get(op.getContext()));
    FailureOr<bool> fits = tryTurns();
    if (failed(fits))
      return failure();
    if (*fits)
      return success();
    op->removeAttr(kOneTurnAttrName);
    if (!isCut)
      return success();
    for (int64_t size = kDefaultTurnBytes; size > kLeastTurnBytes; size /= 2) {
      if (size < kDefaultTurnBytes)
        setTurnBytes(op, size);
      fits = tryTurns(/*mayTakeMore=*/true);
      if (failed(fits))
        return failure();
      if (*fits)
        return success();
    }
    op->setAttr(kTurnBytesAttrName, isCut);
    return success();
  }

  /// Has conversions take small turns, be it in loops, where half as many
  /// blocks again reside for it: these hide what more barriers cost.
  LogicalResult cutInLoops() {
    if (!countResidentBlocks || !hasBuffers())
      return success();
    SmallVector<gpu::ConvertLayoutOp> isCut;
    SmallVector<int64_t> turnBytes;
    bool anyInLoop = false;
    module.walk([&](gpu::ConvertLayoutOp op) {
      ConvertLayoutPlan plan = ConvertLayoutPlan::of(op);
      if (plan.route != ConvertLayoutPlan::Route::SharedMemory ||
          plan.scratchSize <= kLeastTurnBytesInLoops ||
          op->hasAttr(kTurnBytesAttrName) || op->hasAttr(kOneTurnAttrName))
        return;
      isCut.push_back(op);
      turnBytes.push_back(
          std::max(plan.scratchSize / kMoreTurns, kLeastTurnBytesInLoops));
      anyInLoop |= isInLoop(op);
    });
    if (!anyInLoop)
      return success();
    for (auto [op, bytes] : llvm::zip_equal(isCut, turnBytes))
      setTurnBytes(op, bytes);
    auto least = ModuleAllocation::compute(module);
    if (failed(least))
      return failure();
    int64_t before = countResidentBlocks(allocation.getSharedMemorySize());
    mostBlocks = countResidentBlocks(least->getSharedMemorySize());
    bool isWorthIt = 2 * mostBlocks >= 3 * before;
    if (isWorthIt)
      allocation = std::move(*least);
    // Those that are not in the way take as few turns as before.
    for (gpu::ConvertLayoutOp op : isCut) {
      Attribute turn = op->removeAttr(kTurnBytesAttrName);
      if (!isWorthIt)
        continue;
      FailureOr<bool> fits = tryTurns(/*mayTakeMore=*/true);
      if (failed(fits))
        return failure();
      if (!*fits)
        op->setAttr(kTurnBytesAttrName, turn);
    }
    return success();
  }

  /// Whether the turns that conversions take now need nothing else, or, where
  /// they may take more, cost no resident block.
  FailureOr<bool> tryTurns(bool mayTakeMore = false) {
    auto other = ModuleAllocation::compute(module);
    if (failed(other))
      return failure();
    int64_t size = other->getSharedMemorySize();
    if (size > allocation.getSharedMemorySize() &&
        !(mayTakeMore && countResidentBlocks &&
          countResidentBlocks(size) >= mostBlocks))
      return false;
    allocation = std::move(*other);
    return true;
  }

  void setTurnBytes(gpu::ConvertLayoutOp op, int64_t bytes) {
    op->setAttr(kTurnBytesAttrName,
                Builder(op.getContext()).getI32IntegerAttr(bytes));
  }

  ModuleOp module;
  DominanceInfo dominance;
  ModuleAllocation allocation;
  ResidentBlocks countResidentBlocks;
  /// How many are resident where conversions take as little as they can.
  int64_t mostBlocks = 0;
  SmallVector<gpu::ConvertLayoutOp> conversions;
};
} // namespace

FailureOr<int64_t>
triton::allocateSharedMemory(ModuleOp module,
                             ResidentBlocks countResidentBlocks) {
  if (failed(gpu::checkTensorsHaveLayouts(module)))
    return failure();
  auto allocation = ModuleAllocation::compute(module);
  if (succeeded(allocation))
    allocation =
        TurnChooser(module, std::move(*allocation), countResidentBlocks).run();
  if (failed(allocation))
    return failure();
  attachAllocation(module, *allocation);
  int64_t size = allocation->getSharedMemorySize();
  int64_t limit = gpu::getTargetModel(module).getMaxSharedMemory();
  if (size > limit) {
    reportTooMuch(module, *allocation, limit);
    return failure();
  }
  return size;
}
