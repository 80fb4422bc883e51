//===-- AxisInfo.h - What is known of a value along each axis ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// For an integer or pointer tensor x, and for each axis d:
//
//  contiguity[d] = c: in every aligned group of c neighbours along d, the
//      values go up by one: x[k*c + j] == x[k*c] + j. Pointers go up by one
//      element. Where the integers that x is computed from wrap around, x jumps
//      back like them, but never inside a run (below).
//  constancy[d] = c: in every aligned group of c neighbours along d, the values
//      are equal.
//  divisibility[d] = n: n divides the first value of every such group of
//      contiguity[d] neighbours. Pointers count in bytes.
//
// A run along d is an aligned group of gcd(c, n) neighbours (n in elements):
// it starts at a multiple of its own length, so no integer wraps around in the
// middle of it. The values do go up by one, read with a sign or without. What
// is accessed may depend on runs; contiguity beyond them is good for
// preferences, such as which axis neighbouring threads should follow.
//
// A scalar is treated as a tensor with one axis of one element. Every figure is
// a lower bound, and only powers of two are kept except where a whole axis is
// contiguous or constant. `constantValue` is set when all elements are known to
// be that integer. All of it holds for negative numbers and for sums and
// multiplications that wrap around, too.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_ANALYSIS_AXISINFO_H
#define TILE_ANALYSIS_AXISINFO_H

#include "mlir/Analysis/DataFlowFramework.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Value.h"
#include "tile/Support/AttributeNames.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <memory>
#include <optional>

namespace mlir::triton {

class AxisInfo {
public:
  using DimVector = SmallVector<int64_t, 4>;

  /// Stands for the divisibility of zero: any power of two divides it.
  static constexpr int64_t kMaxDivisibility = int64_t(1) << 62;

  /// Nothing known yet: the neutral element of `join`.
  AxisInfo() = default;
  AxisInfo(DimVector contiguity, DimVector divisibility, DimVector constancy,
           std::optional<int64_t> constantValue = std::nullopt,
           int64_t unit = 1);

  /// What holds for every value of this type: the end of the lattice.
  static AxisInfo getPessimistic(Type type);
  /// All elements are `value`.
  static AxisInfo getConstant(ArrayRef<int64_t> shape, int64_t value);
  /// The greatest power of two that divides `value`.
  static int64_t getDivisor(int64_t value);
  /// The shape of a tensor; {1} for a scalar.
  static DimVector getShape(Type type);
  /// By how much contiguous neighbours of this type differ: one, or the bytes
  /// of an element for pointers.
  static int64_t getUnit(Type type);

  bool isInitialized() const { return !contiguity.empty(); }
  unsigned getRank() const { return contiguity.size(); }

  ArrayRef<int64_t> getContiguity() const { return contiguity; }
  ArrayRef<int64_t> getDivisibility() const { return divisibility; }
  ArrayRef<int64_t> getConstancy() const { return constancy; }
  int64_t getContiguity(unsigned dim) const { return contiguity[dim]; }
  int64_t getDivisibility(unsigned dim) const { return divisibility[dim]; }
  int64_t getConstancy(unsigned dim) const { return constancy[dim]; }
  std::optional<int64_t> getConstantValue() const { return constantValue; }
  int64_t getUnit() const { return unit; }

  /// What divides the first value of every aligned group of `group` neighbours
  /// along `dim`.
  int64_t getDivisibilityAt(unsigned dim, int64_t group) const;
  /// What divides every element.
  int64_t getDivisibilityOfAll() const;

  /// What holds for both.
  static AxisInfo join(const AxisInfo &lhs, const AxisInfo &rhs);

  bool operator==(const AxisInfo &rhs) const = default;
  void print(raw_ostream &os) const;

private:
  DimVector contiguity, divisibility, constancy;
  std::optional<int64_t> constantValue;
  int64_t unit = 1;
};

inline raw_ostream &operator<<(raw_ostream &os, const AxisInfo &info) {
  info.print(os);
  return os;
}

/// Whether the axis info of a result depends on the signs of the operands.
bool dependsOnSigns(Operation *op);

/// Deduces what holds for the results of `op` from what holds for its operands.
/// `results` comes in pessimistic; an operation that is not understood leaves
/// it so. `isNonNegative` is asked about an operand's number.
void inferAxisInfo(Operation *op, ArrayRef<AxisInfo> operands,
                   function_ref<bool(unsigned)> isNonNegative,
                   MutableArrayRef<AxisInfo> results);

/// Raises `info` to what the attributes tt.divisibility, tt.contiguity and
/// tt.constancy found through `lookup` state (an integer, or one per axis).
void applyAxisHints(AxisInfo &info,
                    function_ref<Attribute(StringRef name)> lookup);

/// Axis info of every value of a module, through loops, branches and calls of
/// private functions. Computed once: values made later are unknown to it.
class ModuleAxisInfoAnalysis {
public:
  explicit ModuleAxisInfoAnalysis(ModuleOp module);
  ~ModuleAxisInfoAnalysis();
  ModuleAxisInfoAnalysis(ModuleAxisInfoAnalysis &&) = default;

  /// Null for values that the analysis has not seen or could not reach.
  const AxisInfo *getAxisInfo(Value value) const;

  // In the following, the fastest axis is the one along which the first
  // registers of a thread run; a type without a layout counts as row-major.

  /// Of pointers: how many neighbours along the fastest axis a thread may
  /// access at once. Limited by contiguity, alignment and what the thread owns.
  unsigned getContiguity(Value ptr) const;
  /// Of pointers: the longest run of neighbours along the fastest axis that is
  /// contiguous and starts at a multiple of its own size.
  unsigned getAlignment(Value ptr) const;
  /// Of a mask: how many neighbours along the fastest axis share one value.
  unsigned getMaskAlignment(Value mask) const;

private:
  std::unique_ptr<DataFlowSolver> solver;
};

} // namespace mlir::triton

#endif // TILE_ANALYSIS_AXISINFO_H
