//===-- Evaluate.h - Index arithmetic, element by element -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Executes functions of integer and pointer arithmetic on concrete numbers. The
// truth that analyses are held against, so it shares nothing with them: no
// folders, no interfaces, only the meaning of each operation.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TEST_UNIT_ANALYSIS_EVALUATE_H
#define TILE_TEST_UNIT_ANALYSIS_EVALUATE_H

#include "mlir/IR/Block.h"
#include "mlir/IR/ValueRange.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <cstdint>
#include <vector>

namespace mlir::triton::test {

/// The elements of a value in row-major order; one for a scalar. Integers are
/// sign-extended, those of one bit are 0 or 1.
struct Elements {
  SmallVector<int64_t> shape;
  unsigned width = 64;
  std::vector<int64_t> values;
  /// False for what may be anything: quotients by zero and the like.
  std::vector<bool> known;

  /// `count` elements of a type, all known and zero.
  static Elements of(Type type);
  size_t size() const { return values.size(); }
};

/// `value` as a number of that width has it.
int64_t wrap(uint64_t value, unsigned width);

class Evaluator {
public:
  using Visitor = llvm::function_ref<void(Value, const Elements &)>;

  /// Calls `visit` with each value each time that it is computed. Sums,
  /// subtractions, multiplications and shifts that do not fit, as numbers with
  /// a sign, wrap around, or they may be anything.
  explicit Evaluator(Visitor visit, bool wraps = true)
      : visit(visit), wraps(wraps) {}

  /// Arguments and positions in the grid must be set before what uses them.
  void set(Value value, Elements elements);
  /// Runs the operations of a block; false if that led where nothing is known.
  bool run(Block &block);

private:
  bool execute(Operation *op);
  bool executeFor(Operation *op);
  bool executeIf(Operation *op);
  bool executeWhile(Operation *op);
  bool executeShape(Operation *op);
  bool executeMemory(Operation *op);
  bool executeElementwise(Operation *op);
  const Elements &get(Value value) const;
  std::vector<Elements> getAll(ValueRange values) const;
  void setAll(ValueRange values, std::vector<Elements> elements);

  Visitor visit;
  bool wraps;
  llvm::DenseMap<Value, Elements> env;
};

} // namespace mlir::triton::test

#endif // TILE_TEST_UNIT_ANALYSIS_EVALUATE_H
