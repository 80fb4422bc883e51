//===-- ScheduleLoops.cpp - Stages from latencies -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PredicateOp.h"
#include "tile/Analysis/LoopSchedule.h"
#include "tile/Dialect/TritonGPU/Transforms/CopyStrategy.h"
#include "tile/Dialect/TritonGPU/Transforms/Expand.h"

#include "tile/Analysis/MemoryModel.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/Transforms/Passes.h"

#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define DEBUG_TYPE "tritongpu-schedule-loops"

namespace mlir::triton::gpu {
#define GEN_PASS_DEF_TRITONGPUSCHEDULELOOPS
#include "tile/Dialect/TritonGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::gpu

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

namespace {

/// No sensible loop is longer; a schedule that wants more depends on itself.
constexpr int kMaxStages = 16;

/// Computes for every operation of a loop how many stages before the last one
/// it has to run ("lead"), as the least fixed point of:
///   lead(op) >= latency(op) + lead(user)   for users in the same iteration,
///   lead(op) >= lead(user)                 for users in the next iteration.
class Leads {
public:
  explicit Leads(scf::ForOp loop) : loop(loop) {}

  /// Fails if there is no fixed point within `kMaxStages`.
  LogicalResult compute() {
    bool changed = true;
    while (changed) {
      changed = false;
      for (Operation &op :
           llvm::reverse(loop.getBody()->without_terminator())) {
        int lead = getLeastLead(&op);
        if (lead > kMaxStages)
          return failure();
        int &known = leads[&op];
        changed |= lead > known;
        known = std::max(known, lead);
      }
    }
    return success();
  }

  int get(Operation *op) const { return leads.lookup(op); }

private:
  int getLeastLead(Operation *op) {
    int latency = PlannedOp(op).getLatency().value_or(0);
    int lead = 0;
    for (OpResult result : op->getResults())
      for (OpOperand &use : result.getUses())
        lead = std::max(lead, getLeadOfUse(use, latency));
    return lead;
  }

  int getLeadOfUse(OpOperand &use, int latency) {
    Operation *user = loop.getBody()->findAncestorOpInBlock(*use.getOwner());
    if (!user)
      return 0;
    if (user != loop.getBody()->getTerminator())
      return latency + get(user);
    return getLeadInLaterIterations(
        loop.getRegionIterArg(use.getOperandNumber()));
  }

  /// `arg` is what a value is called in the next iteration, which may hand it
  /// on to later ones. For each iteration more it may be computed a stage
  /// later.
  int getLeadInLaterIterations(BlockArgument arg) {
    int lead = 0;
    llvm::SmallDenseSet<BlockArgument> known;
    SmallVector<BlockArgument> args{arg};
    for (int later = 0; !args.empty(); ++later) {
      SmallVector<BlockArgument> handedOn;
      for (BlockArgument current : args) {
        if (!known.insert(current).second)
          continue;
        for (OpOperand &use : current.getUses()) {
          Operation *user =
              loop.getBody()->findAncestorOpInBlock(*use.getOwner());
          if (user == loop.getBody()->getTerminator())
            handedOn.push_back(loop.getRegionIterArg(use.getOperandNumber()));
          else if (user)
            lead = std::max(lead, get(user) - later);
        }
      }
      args = std::move(handedOn);
    }
    return lead;
  }

  scf::ForOp loop;
  llvm::DenseMap<Operation *, int> leads;
};

/// True if `op` does something with a dot in some iterations that is of no
/// concern to the rest of the loop: the store of a tile.
bool isOccasionalEnd(Operation *op, scf::ForOp loop) {
  auto ifOp = dyn_cast<scf::IfOp>(op);
  if (!ifOp || isMemoryEffectFree(ifOp))
    return false;
  Operation *yield = loop.getBody()->getTerminator();
  bool usesProduct = false;
  ifOp.walk([&](Operation *nested) {
    for (Value operand : nested->getOperands())
      usesProduct |=
          isa_and_nonnull<MatrixProductOpInterface>(operand.getDefiningOp()) &&
          operand.getParentBlock() == loop.getBody();
  });
  return usesProduct && llvm::all_of(ifOp->getUsers(), [&](Operation *user) {
           return user == yield;
         });
}

struct ScheduleLoops
    : public gpu::impl::TritonGPUScheduleLoopsBase<ScheduleLoops> {
  using Base::Base;

  void runOnOperation() override {
    getOperation().walk([&](scf::ForOp loop) {
      if (hasLatencies(loop) && succeeded(schedule(loop)))
        ++numLoops;
    });
  }

private:
  static bool hasLatencies(scf::ForOp loop) {
    return llvm::any_of(
        loop.getBody()->without_terminator(),
        [](Operation &op) { return PlannedOp(op).getLatency().has_value(); });
  }

  /// True if `op` may run for an iteration before the one before is done, and
  /// for iterations that do not exist.
  static bool canRunEarly(Operation *op, scf::ForOp loop, MemoryModel &memory) {
    if (isa<LoadOp, DescriptorLoadOp, DescriptorGatherOp>(op))
      return memory.mayReadInEarlierIteration(op, loop);
    // It has one place for its tensor map, which later operations of the
    // iteration before may still use.
    if (isa<MakeTensorDescOp>(op))
      return false;
    if (auto load = dyn_cast<LocalLoadOp>(op))
      return !load.getSrc().getType().getMutableMemory();
    if (auto buffer = dyn_cast<LocalAllocOp>(op))
      return isCopiedTo(buffer, loop);
    return canRunOutOfRange(op);
  }

  static LogicalResult giveUp(Location place, const std::string &reason) {
    remark::missed(
        place,
        remark::RemarkOpts::name("loop-not-pipelined").category(DEBUG_TYPE))
        << StringRef(reason);
    return failure();
  }

  LogicalResult schedule(scf::ForOp loop) {
    Leads leads(loop);
    if (failed(leads.compute()))
      return giveUp(loop.getLoc(),
                    "addresses of its loads depend on what they loaded before");
    MemoryModel memory(loop, MemoryModel::Arguments::AssumedDisjoint);
    int maxLead = 0;
    for (Operation &op : loop.getBody()->without_terminator()) {
      maxLead = std::max(maxLead, leads.get(&op));
      if (leads.get(&op) > 0 && !canRunEarly(&op, loop, memory))
        return giveUp(op.getLoc(),
                      "a load of it depends on this, which has to stay in its "
                      "iteration: '" +
                          op.getName().getStringRef().str() + "'");
    }
    if (maxLead == 0)
      return failure();
    LoopSchedule schedule(maxLead);
    for (Operation &op : loop.getBody()->without_terminator()) {
      int lead = leads.get(&op);
      // Loads go on while a tile is stored.
      int cluster =
          lead == 0 && isOccasionalEnd(&op, loop) ? maxLead + 1 : lead;
      schedule.set(&op, {/*stage=*/maxLead - lead, cluster});
    }
    if (std::string reason = whyNot(loop, schedule); !reason.empty())
      return giveUp(loop.getLoc(), reason);
    schedule.write(loop);
    noteDisjointArguments(loop->getParentOfType<FunctionOpInterface>(),
                          memory.getAssumptions());
    return success();
  }
};

} // namespace
