//===-- TripCount.h - Which iterations a loop has ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// All arithmetic on the bounds of loops is here. A loop counts in exact numbers
// from its lower bound up, but its bounds are numbers of some bits: the sum of
// a counter and a step may not fit. Nothing here depends on whether it does.
// The numbers of a loop with `unsignedCmp` have no sign.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_ANALYSIS_TRIPCOUNT_H
#define TILE_ANALYSIS_TRIPCOUNT_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/APInt.h"
#include <optional>

namespace mlir::triton {

class ModuleAxisInfoAnalysis;

/// True if a loop that counts by a constant comes to its upper bound, as both
/// bounds are multiples of the step, a power of two.
bool meetsUpperBound(scf::ForOp loop, const ModuleAxisInfoAnalysis &axisInfo);

class TripCount {
public:
  /// `loc` is that of what is computed. Multiples are known to `axisInfo`.
  TripCount(scf::ForOp loop, Location loc,
            const ModuleAxisInfoAnalysis *axisInfo = nullptr)
      : loop(loop), loc(loc), axisInfo(axisInfo) {}
  explicit TripCount(scf::ForOp loop,
                     const ModuleAxisInfoAnalysis *axisInfo = nullptr)
      : TripCount(loop, loop.getLoc(), axisInfo) {}

  /// How many iterations the loop has, without a sign, if its bounds and its
  /// step are constants.
  std::optional<APInt> getKnown();

  /// How many iterations it has, as an i64 without a sign.
  Value getCount(OpBuilder &builder);

  /// The counter of iteration `number`, as the type has it: of an iteration
  /// that the loop does not have, it may have wrapped around.
  Value getCounter(OpBuilder &builder, unsigned number) {
    return getLater(builder, loop.getLowerBound(), number);
  }
  /// The same where `number` has the type of the counter.
  Value getCounter(OpBuilder &builder, Value number);
  /// The counter of the iteration before the first one, which there is not: it
  /// may have wrapped around. What comes after it is the lower bound.
  Value getCounterBeforeFirst(OpBuilder &builder);
  /// The counter `ahead` iterations after `counter`, in the same sense.
  Value getLater(OpBuilder &builder, Value counter, unsigned ahead);

  /// How far `counter` is past the lower bound, in the type of the counter.
  Value getProgress(OpBuilder &builder, Value counter);

  /// Whether an iteration comes before the one with `counter`.
  Value hasPrevious(OpBuilder &builder, Value counter);

  /// Whether the loop has iteration `number`, counted from zero.
  Value has(OpBuilder &builder, unsigned number);
  /// Whether it has the iteration `ahead` iterations after the one with
  /// `counter`, which it has.
  Value hasLater(OpBuilder &builder, Value counter, unsigned ahead);

  /// The same of the next iteration, in the form that the end of the loop has:
  /// one comparison can then do for both.
  Value hasNext(OpBuilder &builder, Value counter);
  /// The same in the form for a counter of which nothing is known: the one
  /// after the last might not fit into its type. For ends of loops
  /// (triton-bound-loop-counters).
  Value hasNextOfAny(OpBuilder &builder, Value counter);

  /// The upper bound of a loop that has the iterations of this one if
  /// `condition` holds, and none if not.
  Value getUpperBoundIf(OpBuilder &builder, Value condition);

  /// Where a loop begins that leaves out the first iteration of this one, which
  /// it has, and has its upper bound and step.
  Value getSecondCounter(OpBuilder &builder);

  /// Computes what `hasLater`, `hasNext` and `hasNextOfAny` compare counters
  /// with. That is in front of the loop; they do it themselves where that is
  /// still before them.
  void prepareLater(unsigned mostAhead);
  void prepareNext();
  void prepareNextOfAny() { getNextLimit(); }

  /// How far the loop comes by doing several iterations at a time, and by what
  /// its counter advances then.
  struct Groups {
    Value end, step;
  };
  /// Of `factor` iterations each; what is left over begins at their end. There
  /// are none where the counter cannot advance as far. Computed in front of the
  /// loop.
  std::optional<Groups> getGroups(uint64_t factor);

private:
  /// The loop has the iteration `ahead` iterations after one that it has if the
  /// counter of that is less than this.
  Value getLimit(unsigned ahead);
  /// The same for the next one, in the form of `hasNextOfAny`.
  Value getNextLimit();
  bool isNextExact();
  Value isLess(OpBuilder &builder, Value first, Value second);

  Type getType() { return loop.getInductionVar().getType(); }
  unsigned getWidth();
  bool isUnsigned() { return loop.getUnsignedCmp(); }
  APInt getLeast();
  APInt getGreatest();

  scf::ForOp loop;
  Location loc;
  const ModuleAxisInfoAnalysis *axisInfo;
  /// Of the numbers of iterations ahead, from one on. Made when asked for.
  SmallVector<Value> limits;
  Value nextLimit;
};

/// Whether `loop` has an iteration at all.
inline Value hasIterations(OpBuilder &builder, Location loc, scf::ForOp loop) {
  return TripCount(loop, loc).has(builder, 0);
}

} // namespace mlir::triton

#endif // TILE_ANALYSIS_TRIPCOUNT_H
