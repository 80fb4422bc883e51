//===-- AssignLatencies.cpp - How early the loads of a loop start ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LoopSchedule.h"

#include "tile/Analysis/AxisInfo.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/Transforms/Passes.h"

#include "mlir/Dialect/UB/IR/UBOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tritongpu-assign-latencies"

namespace mlir::triton::gpu {
#define GEN_PASS_DEF_TRITONGPUASSIGNLATENCIES
#include "tile/Dialect/TritonGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::gpu

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

namespace {

/// cp.async moves 4, 8 or 16 bytes.
constexpr unsigned kMinCopyBytes = 4;

/// The pointer argument (or other origin) that an address is computed from, on
/// all paths; null if that cannot be told.
Value getPointerOrigin(Value ptr) {
  llvm::SetVector<Value> work;
  work.insert(ptr);
  Value origin;
  for (size_t i = 0; i < work.size(); ++i) {
    Value value = work[i];
    if (auto arg = dyn_cast<BlockArgument>(value)) {
      if (auto loop = dyn_cast<scf::ForOp>(arg.getOwner()->getParentOp())) {
        if (arg == loop.getInductionVar())
          return {};
        work.insert(loop.getTiedLoopInit(arg)->get());
        work.insert(loop.getTiedLoopYieldedValue(arg)->get());
        continue;
      }
    } else {
      Operation *def = value.getDefiningOp();
      unsigned number = cast<OpResult>(value).getResultNumber();
      if (isa<AddPtrOp, SplatOp, BroadcastOp, ExpandDimsOp, ConvertLayoutOp,
              ReshapeOp, TransOp, BitcastOp>(def)) {
        work.insert(def->getOperand(0));
        continue;
      }
      if (isa<ub::PoisonOp>(def))
        continue;
      if (auto ifOp = dyn_cast<scf::IfOp>(def)) {
        work.insert(ifOp.thenYield().getOperand(number));
        work.insert(ifOp.elseYield().getOperand(number));
        continue;
      }
      if (auto loop = dyn_cast<scf::ForOp>(def)) {
        work.insert(loop.getInitArgs()[number]);
        work.insert(loop.getYieldedValues()[number]);
        continue;
      }
      return {};
    }
    if (origin && origin != value)
      return {};
    origin = value;
  }
  return origin;
}

/// The operation of `block` that is `op` or contains it; null if there is none.
Operation *getAncestorIn(Block *block, Operation *op) {
  return block->findAncestorOpInBlock(*op);
}

class LoopLatencies {
public:
  LoopLatencies(scf::ForOp loop, int numStages,
                const ModuleAxisInfoAnalysis &axisInfo)
      : loop(loop), numStages(numStages), axisInfo(axisInfo) {}

  /// Returns the number of loads that were given a latency.
  unsigned assign() {
    for (Operation &op : loop.getBody()->without_terminator())
      if (auto load = dyn_cast<LoadOp>(op))
        if (isCandidate(load))
          candidates.insert(load);
    // Operands come before their users: one pass forward gives the depths.
    int longest = 0;
    llvm::MapVector<Operation *, int> depths;
    for (Operation *load : candidates) {
      int depth = 1;
      for (Operation *source : getSourceLoads(load))
        depth = std::max(depth, depths.lookup(source) + 1);
      depths[load] = depth;
      longest = std::max(longest, depth);
    }
    if (longest == 0)
      return 0;
    int latency = (numStages - 1) / longest;
    if (latency == 0) {
      LDBG() << "more dependent loads than stages: " << loop.getLoc();
      return 0;
    }
    for (Operation *load : candidates)
      setI32Attr(load, kLatencyAttr, latency);
    return candidates.size();
  }

private:
  bool isCandidate(LoadOp load) {
    if (load.getIsVolatile() || !isWideEnough(load))
      return false;
    if (!loop->hasAttr(kNumStagesAttr) && !leadsToDot(load))
      return false;
    return !isWrittenInLoop(load);
  }

  bool isWideEnough(LoadOp load) {
    auto type = dyn_cast<RankedTensorType>(load.getPtr().getType());
    if (!type || !type.getEncoding())
      return false;
    unsigned contiguity = axisInfo.getContiguity(load.getPtr());
    if (load.getMask())
      contiguity =
          std::min(contiguity, axisInfo.getMaskAlignment(load.getMask()));
    unsigned bits =
        getElementTypeOrSelf(load.getType()).isIntOrFloat()
            ? getElementTypeOrSelf(load.getType()).getIntOrFloatBitWidth()
            : 64;
    if (contiguity * bits >= kMinCopyBytes * 8)
      return true;
    LDBG() << "too narrow for an asynchronous copy: " << load.getLoc();
    return false;
  }

  /// True if a matrix product of this loop uses the loaded value, be it through
  /// the address of another load.
  bool leadsToDot(LoadOp load) {
    llvm::SetVector<Operation *> work;
    work.insert(load);
    for (size_t i = 0; i < work.size(); ++i) {
      for (Operation *user : work[i]->getUsers()) {
        Operation *inBody = getAncestorIn(loop.getBody(), user);
        if (!inBody || inBody == loop.getBody()->getTerminator())
          continue;
        if (isa<DotOp, DotScaledOp>(inBody))
          return true;
        work.insert(inBody);
      }
    }
    return false;
  }

  bool isWrittenInLoop(LoadOp load) {
    Value origin = getPointerOrigin(load.getPtr());
    WalkResult result = loop.getBody()->walk([&](Operation *op) {
      Value written;
      if (auto store = dyn_cast<StoreOp>(op))
        written = store.getPtr();
      else if (auto atomic = dyn_cast<AtomicRMWOp>(op))
        written = atomic.getPtr();
      else if (auto cas = dyn_cast<AtomicCASOp>(op))
        written = cas.getPtr();
      else if (isa<CallOpInterface>(op) ||
               (isa<ElementwiseInlineAsmOp>(op) && !isMemoryEffectFree(op)))
        return WalkResult::interrupt();
      else
        return WalkResult::advance();
      Value target = getPointerOrigin(written);
      bool mayAlias = !origin || !target || origin == target;
      return mayAlias ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (result.wasInterrupted())
      LDBG() << "the loop may write what is loaded: " << load.getLoc();
    return result.wasInterrupted();
  }

  /// The other candidates that the operands of `load` depend on within one
  /// iteration.
  SmallVector<Operation *> getSourceLoads(Operation *load) {
    SmallVector<Operation *> result;
    llvm::SetVector<Operation *> work;
    work.insert(load);
    for (size_t i = 0; i < work.size(); ++i) {
      Operation *op = work[i];
      if (op != load && candidates.contains(op)) {
        result.push_back(op);
        continue;
      }
      op->walk([&](Operation *nested) {
        for (Value operand : nested->getOperands())
          if (Operation *def = operand.getDefiningOp())
            if (Operation *inBody = getAncestorIn(loop.getBody(), def))
              work.insert(inBody);
      });
    }
    return result;
  }

  scf::ForOp loop;
  int numStages;
  const ModuleAxisInfoAnalysis &axisInfo;
  llvm::SetVector<Operation *> candidates;
};

struct AssignLatencies
    : public gpu::impl::TritonGPUAssignLatenciesBase<AssignLatencies> {
  using TritonGPUAssignLatenciesBase::TritonGPUAssignLatenciesBase;

  void runOnOperation() override {
    ModuleAxisInfoAnalysis axisInfo(getOperation());
    getOperation().walk([&](scf::ForOp loop) {
      bool innermost = !loop.getBody()
                            ->walk([](LoopLikeOpInterface) {
                              return WalkResult::interrupt();
                            })
                            .wasInterrupted();
      int stages = getI32Attr(loop, kNumStagesAttr).value_or(numStages);
      if (innermost && stages > 1)
        numLoads += LoopLatencies(loop, stages, axisInfo).assign();
    });
  }
};

} // namespace
