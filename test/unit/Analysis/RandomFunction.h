//===-- RandomFunction.h - Random index arithmetic --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Functions of random operations on integers of one width (and what they are
// extended to or truncated from), pointers and masks. They work on scalars and
// tensors of one to three dimensions, inside of loops and branches.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TEST_UNIT_ANALYSIS_RANDOMFUNCTION_H
#define TILE_TEST_UNIT_ANALYSIS_RANDOMFUNCTION_H

#include "mlir/IR/Builders.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include <random>
#include <vector>

namespace mlir::triton::test {

using Random = std::mt19937_64;

/// A number from 0 to `count` - 1.
inline int64_t below(Random &random, int64_t count) {
  return static_cast<int64_t>(random() % static_cast<uint64_t>(count));
}

inline bool oneIn(Random &random, int64_t count) {
  return below(random, count) == 0;
}

/// A number of that width: small ones, powers of two, ends of the range, any.
int64_t randomNumber(Random &random, unsigned width);

class RandomFunction {
public:
  RandomFunction(ModuleOp module, Random &random);

  /// Adds a function of about so many operations to the module.
  FuncOp build(StringRef name, int numOps);

private:
  using Maker = void (RandomFunction::*)();

  void makeArguments(FuncOp func);
  void makeOperations(int count);
  void makeOperation();

  void makeRange();
  void makeConstant();
  void makeBinary();
  void makeCompare();
  void makeSelect();
  void makeCast();
  void makeUnary();
  void makeShape();
  void makePointer();
  void makeLoad();
  void makeFor();
  void makeWhile();
  void makeIf();

  /// Any value of the pool with that property; null if there is none.
  Value pick(llvm::function_ref<bool(Type)> wanted);
  /// Another value of this type: an old one or a constant.
  Value pickLike(Type type);
  Value constant(Type type, int64_t value);
  Value randomConstant(Type type);
  /// Remembers a value for later operations.
  void add(Value value) { pool.push_back(value); }

  ModuleOp module;
  Random &random;
  OpBuilder b;
  Location loc;
  unsigned width = 32;
  SmallVector<int64_t> shape;
  int depth = 0;
  std::vector<Value> pool;
};

} // namespace mlir::triton::test

#endif // TILE_TEST_UNIT_ANALYSIS_RANDOMFUNCTION_H
