//===-- ValueRangesTest.cpp - Ranges against enumeration ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Every operation on all numbers of four bits in two random ranges.
//
//===----------------------------------------------------------------------===//

#include "Evaluate.h"
#include "RandomFunction.h"

#include "mlir/Analysis/DataFlow/ConstantPropagationAnalysis.h"
#include "mlir/Analysis/DataFlow/DeadCodeAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "tile/Analysis/ValueRanges.h"
#include <array>
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::test;
using dataflow::IntegerValueRangeLattice;
using Overflow = ValueRangeAnalysis::Overflow;

namespace {

constexpr unsigned kWidth = 4;
constexpr int kLeast = -8, kMost = 7;
constexpr StringLiteral kOperations[] = {
    "arith.addi",      "arith.subi",      "arith.muli",  "arith.divsi",
    "arith.divui",     "arith.remsi",     "arith.remui", "arith.floordivsi",
    "arith.ceildivsi", "arith.ceildivui", "arith.andi",  "arith.ori",
    "arith.xori",      "arith.shli",      "arith.shrsi", "arith.shrui",
    "arith.maxsi",     "arith.maxui",     "arith.minsi", "arith.minui"};

class ValueRangesTest : public ::testing::Test {
protected:
  ValueRangesTest() : builder(&context) {
    context.loadDialect<TritonDialect, arith::ArithDialect, scf::SCFDialect>();
    loc = builder.getUnknownLoc();
  }

  Value constant(int64_t value) {
    return arith::ConstantIntOp::create(builder, loc, value, kWidth);
  }

  /// A value that is any number from `low` to `high`.
  Value clamp(Value value, int64_t low, int64_t high) {
    value = arith::MinSIOp::create(builder, loc, value, constant(high));
    return arith::MaxSIOp::create(builder, loc, value, constant(low));
  }

  /// A function that does all operations on numbers in two ranges, and some of
  /// them on what they make.
  FuncOp build(std::pair<int, int> x, std::pair<int, int> y) {
    builder.setInsertionPointToEnd(module->getBody());
    Type type = builder.getIntegerType(kWidth);
    auto func = FuncOp::create(
        builder, loc, "f", builder.getFunctionType({type, type}, TypeRange()));
    builder.setInsertionPointToStart(func.addEntryBlock());
    Value left = clamp(func.getArgument(0), x.first, x.second);
    Value right = clamp(func.getArgument(1), y.first, y.second);
    SmallVector<Value> first;
    auto make = [&](StringRef name, Value l, Value r) {
      return builder
          .create(loc, builder.getStringAttr(name), ValueRange{l, r}, type)
          ->getResult(0);
    };
    for (StringRef name : kOperations)
      first.push_back(make(name, left, right));
    for (Value value : first)
      make(kOperations[below(random, std::size(kOperations))], value,
           oneIn(random, 2) ? right : first[below(random, first.size())]);
    countFromTheEnd(left, right);
    ReturnOp::create(builder, loc, ValueRange());
    return func;
  }

  /// Numbers counted from the last one, and what looks like that.
  void countFromTheEnd(Value number, Value count) {
    for (int64_t added : {-1, 0, 1})
      for (Value of : {count, number}) {
        Value last = arith::AddIOp::create(builder, loc, of, constant(added));
        Value rest = arith::RemSIOp::create(builder, loc, number, count);
        arith::SubIOp::create(builder, loc, last, rest);
        rest = arith::RemUIOp::create(builder, loc, number, count);
        arith::SubIOp::create(builder, loc, last, rest);
      }
    Value one = constant(1);
    Value last = arith::SubIOp::create(builder, loc, count, one);
    auto loop = scf::ForOp::create(builder, loc, number, count, one);
    OpBuilder inside = OpBuilder::atBlockBegin(loop.getBody());
    arith::SubIOp::create(inside, loc, last, loop.getInductionVar());
  }

  /// What is wrong with the ranges of a function, or nothing.
  std::string check(FuncOp func, Overflow overflow) {
    DataFlowSolver solver;
    solver.load<dataflow::DeadCodeAnalysis>();
    solver.load<dataflow::SparseConstantPropagation>();
    solver.load<ValueRangeAnalysis>(overflow);
    if (failed(solver.initializeAndRun(*module)))
      return "the analysis fails";
    std::string problem;
    auto visit = [&](Value value, const Elements &elements) {
      auto *lattice = solver.lookupState<IntegerValueRangeLattice>(value);
      if (!problem.empty() || !elements.known[0] || !lattice ||
          lattice->getValue().isUninitialized())
        return;
      const ConstantIntRanges &range = lattice->getValue().getValue();
      APInt number(kWidth, elements.values[0], /*isSigned=*/true,
                   /*implicitTrunc=*/true);
      if (number.slt(range.smin()) || number.sgt(range.smax()) ||
          number.ult(range.umin()) || number.ugt(range.umax()))
        llvm::raw_string_ostream(problem)
            << value << "\n  " << range << " has no " << elements.values[0];
    };
    for (int x = kLeast; x <= kMost; ++x)
      for (int y = kLeast; y <= kMost; ++y) {
        Evaluator evaluator(visit, overflow == Overflow::Wraps);
        for (auto [argument, value] :
             llvm::zip(func.getArguments(), std::array{x, y})) {
          Elements elements = Elements::of(argument.getType());
          elements.values[0] = value;
          evaluator.set(argument, elements);
        }
        evaluator.run(func.getBody().front());
      }
    return problem;
  }

  std::pair<int, int> chooseRange() {
    int one = below(random, kMost - kLeast + 1) + kLeast;
    int other = below(random, kMost - kLeast + 1) + kLeast;
    return std::minmax({one, other});
  }

  void start() { module = ModuleOp::create(UnknownLoc::get(&context)); }

  MLIRContext context;
  OpBuilder builder;
  Location loc = UnknownLoc::get(&context);
  OwningOpRef<ModuleOp> module;
  Random random;
};

TEST_F(ValueRangesTest, HoldForAllNumbersInTheRanges) {
  for (int i = 0; i < 200; ++i) {
    start();
    FuncOp func = build(chooseRange(), chooseRange());
    for (Overflow overflow : {Overflow::Wraps, Overflow::NeverHappens}) {
      std::string problem = check(func, overflow);
      std::string text;
      llvm::raw_string_ostream(text) << func;
      ASSERT_EQ(problem, "")
          << (overflow == Overflow::Wraps ? "wraps\n" : "") << text;
    }
  }
}

TEST_F(ValueRangesTest, WhatIsCountedFromTheEndIsNotNegative) {
  start();
  FuncOp func = build({0, kMost}, {0, kMost});
  ValueRanges ranges(func, Overflow::Wraps);
  unsigned found = 0;
  func.walk([&](arith::SubIOp sub) {
    APInt constant;
    auto last = sub.getLhs().getDefiningOp<arith::AddIOp>();
    auto remainder = sub.getRhs().getDefiningOp();
    if (last && isa_and_present<arith::RemSIOp, arith::RemUIOp>(remainder)) {
      bool isLast = matchPattern(last.getRhs(), m_ConstantInt(&constant)) &&
                    constant.isAllOnes();
      if (!isLast || last.getLhs() != remainder->getOperand(1))
        return;
      ++found;
      EXPECT_TRUE(ranges.isNonNegative(sub));
    } else if (isa<scf::ForOp>(sub->getParentOp())) {
      ++found;
      EXPECT_TRUE(ranges.isNonNegative(sub));
    }
  });
  EXPECT_EQ(found, 3u);
}

/// Where tiles begin: what is not negative is seen to be that.
TEST_F(ValueRangesTest, WhatNumbersTilesIsNotNegative) {
  start();
  FuncOp func = build({0, kMost}, {1, kMost});
  ValueRanges ranges(func, Overflow::NeverHappens);
  unsigned left = 0;
  for (Operation &op : func.getBody().front())
    if (StringRef name = op.getName().getStringRef();
        left < std::size(kOperations) && name == kOperations[left]) {
      ++left;
      EXPECT_EQ(ranges.isNonNegative(op.getResult(0)), name != "arith.subi")
          << name.str();
    }
  EXPECT_EQ(left, std::size(kOperations));
}

} // namespace
