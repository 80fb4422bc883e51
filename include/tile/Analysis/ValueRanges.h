//===-- ValueRanges.h - Ranges of integers ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Upstream's integer range analysis, and what it cannot know by itself. That is
// ranges and programs of a grid, operations that only move elements, and
// counters of loops that compare without a sign. Also arguments marked
// tt.non_negative or tt.max, and `tl.assume` of a value in its own block.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_ANALYSIS_VALUERANGES_H
#define TILE_ANALYSIS_VALUERANGES_H

#include "mlir/Analysis/DataFlow/IntegerRangeAnalysis.h"
#include "tile/Support/AttributeNames.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringRef.h"
#include <memory>
#include <optional>

namespace mlir::triton {

class ValueRangeAnalysis : public dataflow::IntegerRangeAnalysis {
public:
  /// Whether additions and multiplications wrap around, as they do, or are
  /// taken to fit. What is deduced under the second assumption holds of a
  /// program only where it says so (triton-unsigned-indices).
  enum class Overflow { Wraps, NeverHappens };

  explicit ValueRangeAnalysis(DataFlowSolver &solver,
                              Overflow overflow = Overflow::Wraps)
      : IntegerRangeAnalysis(solver), overflow(overflow) {}

  LogicalResult initialize(Operation *top) override;
  LogicalResult visitOperation(
      Operation *op, ArrayRef<const dataflow::IntegerValueRangeLattice *> args,
      ArrayRef<dataflow::IntegerValueRangeLattice *> results) override;
  void setToEntryState(dataflow::IntegerValueRangeLattice *lattice) override;
  void visitNonControlFlowArguments(
      Operation *op, const RegionSuccessor &successor,
      ArrayRef<dataflow::IntegerValueRangeLattice *> argLattices,
      unsigned firstIndex) override;

private:
  IntegerValueRange restrict(Value value, IntegerValueRange range) const;

  Overflow overflow;
  llvm::DenseMap<Value, ConstantIntRanges> assumed;
};

/// Whether a range is known and has no negative number.
bool isNonNegative(const IntegerValueRange &range);

/// The ranges of all integers in `top`, which are computed when one is asked
/// for the first time.
class ValueRanges {
public:
  ValueRanges(Operation *top, ValueRangeAnalysis::Overflow overflow)
      : top(top), overflow(overflow) {}

  bool isNonNegative(Value value);
  /// The greatest number that `value` may be, read with a sign; nothing where
  /// that is not known.
  std::optional<int64_t> getMost(Value value);

private:
  const IntegerValueRange *lookup(Value value);

  Operation *top;
  ValueRangeAnalysis::Overflow overflow;
  std::unique_ptr<DataFlowSolver> solver;
};

} // namespace mlir::triton

#endif // TILE_ANALYSIS_VALUERANGES_H
