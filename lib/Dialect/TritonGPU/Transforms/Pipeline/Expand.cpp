//===-- Expand.cpp - Overlap the iterations of a loop ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Names used below: a value is `ahead` by n where the new loop, in which the
// last stage is in iteration j, needs what it is in iteration j + n. An
// operation of stage s runs S - s ahead, and so do all values that it uses.
// What is not computed as far ahead in the same pass through the new body was
// computed in an earlier one, and is carried from there.
//
//===----------------------------------------------------------------------===//

#include "tile/Dialect/TritonGPU/Transforms/Expand.h"

#include "tile/Analysis/TripCount.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

namespace {

/// The values of the body of `loop` that `op`, and what is in it, use.
llvm::SetVector<Value> getUsedValues(Operation *op, scf::ForOp loop) {
  llvm::SetVector<Value> values;
  op->walk([&](Operation *nested) {
    for (Value operand : nested->getOperands())
      if (operand.getParentBlock() == loop.getBody())
        values.insert(operand);
  });
  return values;
}

/// What the body of `loop` yields for its argument `value`; null for what is
/// none, and for the counter.
Value getNext(Value value, scf::ForOp loop) {
  auto arg = dyn_cast<BlockArgument>(value);
  if (!arg || arg.getOwner() != loop.getBody() || arg == loop.getInductionVar())
    return {};
  return loop.getTiedLoopYieldedValue(arg)->get();
}

class Expansion {
public:
  Expansion(scf::ForOp loop, const LoopSchedule &schedule,
            Predicate makePredicated)
      : loop(loop), schedule(schedule), lastStage(schedule.getMaxStage()),
        order(schedule.getOrder(loop)), trips(loop), loc(loop.getLoc()),
        rewriter(loop), makePredicated(makePredicated) {
    for (BlockArgument arg : loop.getRegionIterArgs()) {
      Operation *source = getOwnOp(getNext(arg, loop));
      if (source && getLead(source) > 0 && !getResult(arg).use_empty())
        ending.try_emplace(arg);
    }
  }

  FailureOr<scf::ForOp> run() {
    if (failed(emitPrologue()))
      return failure();
    collect();
    emitLoop();
    if (failed(emitBody()))
      return failure();
    emitYield();
    for (BlockArgument arg : loop.getRegionIterArgs())
      if (!getResult(arg).use_empty())
        getResult(arg).replaceAllUsesWith(
            expanded.getResult(getPlaceOfResult(arg)));
    rewriter.eraseOp(loop);
    return expanded;
  }

private:
  /// A value that the new loop carries, as it is so many iterations ahead of
  /// the last stage.
  using Carried = std::pair<Value, unsigned>;

  OpResult getResult(BlockArgument arg) { return loop.getTiedLoopResult(arg); }

  /// The operation of the body that makes `value`; null if none does.
  Operation *getOwnOp(Value value) {
    Operation *def = value ? value.getDefiningOp() : nullptr;
    return def && def->getBlock() == loop.getBody() ? def : nullptr;
  }

  /// How far ahead of the last stage an operation runs.
  unsigned getLead(Operation *op) { return lastStage - schedule.get(op).stage; }

  //===--------------------------------------------------------------------===//
  // The prologue
  //===--------------------------------------------------------------------===//

  /// `value` as it is in iteration `number`.
  Value getFirst(Value value, unsigned number) {
    if (value.getParentBlock() != loop.getBody())
      return value;
    if (getOwnOp(value))
      return firsts.at({value, number});
    auto arg = cast<BlockArgument>(value);
    if (arg == loop.getInductionVar()) {
      Value &counter = firsts[{value, number}];
      if (!counter)
        counter = trips.getCounter(rewriter, number);
      return counter;
    }
    return number == 0 ? loop.getTiedLoopInit(arg)->get()
                       : getFirst(getNext(arg, loop), number - 1);
  }

  /// Whether iteration `number` exists; null if that is certain.
  Value exists(unsigned number) {
    if (std::optional<APInt> known = trips.getKnown();
        known && known->ugt(number))
      return {};
    if (number >= existing.size())
      existing.resize(number + 1);
    if (!existing[number])
      existing[number] = trips.has(rewriter, number);
    return existing[number];
  }

  LogicalResult emitPrologue() {
    for (unsigned part = 0; part < lastStage; ++part)
      for (auto [op, stage] : order) {
        if (stage > part)
          continue;
        unsigned number = part - stage;
        IRMapping mapping;
        for (Value used : getUsedValues(op, loop))
          mapping.map(used, getFirst(used, number));
        Value predicate = exists(number);
        Operation *clone = rewriter.clone(*op, mapping);
        if (predicate)
          clone = predicated(op, clone, predicate, /*inLoop=*/false);
        if (!clone)
          return failure();
        for (auto [old, made] :
             llvm::zip_equal(op->getResults(), clone->getResults()))
          firsts[{old, number}] = made;
      }
    return success();
  }

  /// Predicates a clone of `op`; null, with an error, if that is impossible.
  Operation *predicated(Operation *op, Operation *clone, Value predicate,
                        bool inLoop) {
    clone = makePredicated(rewriter, clone, predicate, inLoop);
    if (!clone) {
      op->emitError("'")
          << op->getName()
          << "' cannot be left out in iterations that do not exist";
      return nullptr;
    }
    rewriter.setInsertionPointAfter(clone);
    return clone;
  }

  //===--------------------------------------------------------------------===//
  // What the new loop carries
  //===--------------------------------------------------------------------===//

  /// An argument whose last value is used after the loop, but computed in an
  /// early stage: once the iterations have ended, it stays as it is. Before
  /// that it is what the body has computed last.
  std::optional<BlockArgument> getEndingArg(Value value, unsigned ahead) {
    for (auto &[arg, place] : ending) {
      Value next = getNext(arg, loop);
      unsigned lead = getLead(getOwnOp(next));
      if ((arg == value && ahead == lead) ||
          (next == value && ahead + 1 == lead))
        return arg;
    }
    return std::nullopt;
  }

  /// Has the new loop carry what it needs to know `value`.
  void carry(Value value, unsigned ahead) {
    if (value.getParentBlock() != loop.getBody() ||
        value == loop.getInductionVar() || getEndingArg(value, ahead))
      return;
    Operation *op = getOwnOp(value);
    if (op && ahead == getLead(op))
      return;
    if (!op && ahead > 0)
      return carry(getNext(value, loop), ahead - 1);
    if (carried.insert({Carried(value, ahead), 0}).second)
      carryNext({value, ahead});
  }

  /// The same for what stands for a carried value in the next iteration.
  void carryNext(Carried source) {
    auto [value, ahead] = source;
    if (getOwnOp(value))
      carry(value, ahead + 1);
    else
      carry(getNext(value, loop), ahead);
  }

  /// Arguments come first, as they were.
  void collect() {
    SmallVector<Carried> uses;
    for (auto [op, stage] : order)
      for (Value used : getUsedValues(op, loop))
        uses.push_back({used, lastStage - stage});
    for (BlockArgument arg : loop.getRegionIterArgs()) {
      if (!ending.contains(arg) && !getResult(arg).use_empty())
        carry(arg, 0);
      for (auto [used, ahead] : uses)
        if (used == arg)
          carry(used, ahead);
    }
    for (auto [used, ahead] : uses)
      carry(used, ahead);
  }

  unsigned getPlaceOfResult(BlockArgument arg) {
    return ending.contains(arg) ? ending.lookup(arg) : carried.lookup({arg, 0});
  }

  /// What `arg` is after the iterations of the prologue that exist.
  Value getFirstEnding(BlockArgument arg) {
    Value next = getNext(arg, loop);
    Value last = loop.getTiedLoopInit(arg)->get();
    for (unsigned number : llvm::seq(getLead(getOwnOp(next)))) {
      Value made = getFirst(next, number), predicate = exists(number);
      last = predicate
                 ? arith::SelectOp::create(rewriter, loc, predicate, made, last)
                 : made;
    }
    return last;
  }

  //===--------------------------------------------------------------------===//
  // The new loop
  //===--------------------------------------------------------------------===//

  void emitLoop() {
    SmallVector<Value> inits;
    for (auto &[arg, place] : ending) {
      place = inits.size();
      inits.push_back(getFirstEnding(arg));
    }
    for (auto &[source, place] : carried) {
      place = inits.size();
      inits.push_back(getFirst(source.first, source.second));
    }
    trips.prepareLater(lastStage);
    expanded = scf::ForOp::create(
        rewriter, loc, loop.getLowerBound(), loop.getUpperBound(),
        loop.getStep(), inits, /*bodyBuilder=*/nullptr, loop.getUnsignedCmp());
    if (!expanded.getBody()->empty())
      rewriter.eraseOp(expanded.getBody()->getTerminator());
    rewriter.setInsertionPointToStart(expanded.getBody());
    for (unsigned stage : llvm::seq(lastStage))
      predicates.push_back(trips.hasLater(rewriter, expanded.getInductionVar(),
                                          lastStage - stage));
  }

  /// `value` in the new body.
  Value get(Value value, unsigned ahead) {
    if (value.getParentBlock() != loop.getBody())
      return value;
    if (std::optional<BlockArgument> arg = getEndingArg(value, ahead))
      return expanded.getRegionIterArg(ending.lookup(*arg));
    if (Operation *op = getOwnOp(value))
      return ahead == getLead(op)
                 ? mades.lookup(value)
                 : expanded.getRegionIterArg(carried.lookup({value, ahead}));
    if (value == loop.getInductionVar()) {
      Value &counter = counters[ahead];
      if (!counter)
        counter = trips.getLater(rewriter, expanded.getInductionVar(), ahead);
      return counter;
    }
    return ahead == 0 ? expanded.getRegionIterArg(carried.lookup({value, 0}))
                      : get(getNext(value, loop), ahead - 1);
  }

  LogicalResult emitBody() {
    for (auto [op, stage] : order) {
      IRMapping mapping;
      for (Value used : getUsedValues(op, loop))
        mapping.map(used, get(used, lastStage - stage));
      Operation *clone = rewriter.clone(*op, mapping);
      if (stage < lastStage)
        clone = predicated(op, clone, predicates[stage], /*inLoop=*/true);
      if (!clone)
        return failure();
      for (auto [old, made] :
           llvm::zip_equal(op->getResults(), clone->getResults()))
        mades[old] = made;
    }
    return success();
  }

  void emitYield() {
    SmallVector<Value> yielded;
    for (auto [arg, place] : ending) {
      Value next = getNext(arg, loop);
      yielded.push_back(arith::SelectOp::create(
          rewriter, loc, predicates[schedule.get(getOwnOp(next)).stage],
          mades.lookup(next), expanded.getRegionIterArg(place)));
    }
    for (auto [source, place] : carried) {
      auto [value, ahead] = source;
      yielded.push_back(getOwnOp(value) ? get(value, ahead + 1)
                                        : get(getNext(value, loop), ahead));
    }
    scf::YieldOp::create(rewriter, loc, yielded);
  }

  scf::ForOp loop;
  const LoopSchedule &schedule;
  unsigned lastStage;
  std::vector<std::pair<Operation *, unsigned>> order;
  TripCount trips;
  Location loc;
  IRRewriter rewriter;
  Predicate makePredicated;

  /// Values as they are in the first iterations, and whether these exist.
  llvm::DenseMap<Carried, Value> firsts;
  SmallVector<Value> existing;
  /// What the new loop carries, each with its place among its arguments.
  llvm::MapVector<BlockArgument, unsigned> ending;
  llvm::MapVector<Carried, unsigned> carried;

  scf::ForOp expanded;
  /// Of each stage but the last, whether its iteration exists.
  SmallVector<Value> predicates;
  /// The counters of iterations ahead.
  llvm::DenseMap<unsigned, Value> counters;
  /// What stands for the results of the old body.
  llvm::DenseMap<Value, Value> mades;
};

} // namespace

std::string mlir::triton::gpu::whyNot(scf::ForOp loop,
                                      const LoopSchedule &schedule) {
  int lastStage = schedule.getMaxStage();
  llvm::DenseMap<Operation *, size_t> positions;
  for (auto [op, stage] : schedule.getOrder(loop))
    positions[op] = positions.size();
  for (auto [op, stage] : schedule.getOrder(loop))
    for (Value used : getUsedValues(op, loop)) {
      int ahead = lastStage - int(stage);
      while (Value next = ahead > 0 ? getNext(used, loop) : Value()) {
        used = next;
        --ahead;
      }
      Operation *source = used.getDefiningOp();
      if (!source || source->getBlock() != loop.getBody())
        continue;
      int lead = lastStage - schedule.get(source).stage;
      if (ahead > lead || (ahead == lead && positions[source] >= positions[op]))
        return llvm::formatv("'{0}' of stage {1} comes before '{2}' of stage "
                             "{3}, whose result it uses",
                             op->getName(), stage, source->getName(),
                             schedule.get(source).stage);
    }
  return "";
}

FailureOr<scf::ForOp> mlir::triton::gpu::expand(scf::ForOp loop,
                                                const LoopSchedule &schedule,
                                                Predicate predicate) {
  return Expansion(loop, schedule, predicate).run();
}
