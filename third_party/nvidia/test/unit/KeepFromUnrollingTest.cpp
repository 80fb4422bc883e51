//===-- KeepFromUnrollingTest.cpp - What ptxas may unroll -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every loop with a counter of 8 bits that is not marked is run as it is
// written, and as ptxas unrolls it. Both must make the same iterations.
//
//===----------------------------------------------------------------------===//

#include "nvidia/Target/KeepFromUnrolling.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "gtest/gtest.h"

#include <random>

using namespace llvm;

namespace {
/// Values that an argument of the loop may have.
struct Range {
  int low, high;

  /// As an operand of the function `loop`, with what LLVM knows of it.
  std::string declare(StringRef name) const {
    if (low == -128 && high == 127)
      return formatv("i8 %{0}", name);
    return formatv("i8 range(i8 {0}, {1}) %{2}", low, int(int8_t(high + 1)),
                   name);
  }
};

/// A loop that tests its counter after each iteration, as LLVM makes it.
struct TestedLoop {
  Range start, end;
  int step;
  bool isEquality;
  /// Whether it is entered only where the start is before the end.
  bool isGuarded = true;
};

/// Whether such a loop is left to ptxas.
bool mayUnroll(const TestedLoop &loop) {
  LLVMContext context;
  SMDiagnostic error;
  std::string text =
      formatv(R"(
    define void @loop({0}, {1}, ptr %p) {{
    entry:
      %some = icmp {2} i8 %start, %end
      br i1 {5}, label %body, label %exit
    body:
      %i = phi i8 [ %start, %entry ], [ %next, %body ]
      store volatile i8 %i, ptr %p
      %next = add i8 %i, {3}
      %again = icmp {4} i8 %next, %end
      br i1 %again, label %body, label %exit
    exit:
      ret void
    })",
              loop.start.declare("start"), loop.end.declare("end"),
              loop.step > 0 ? "slt" : "sgt", loop.step,
              loop.isEquality ? "ne"
              : loop.step > 0 ? "slt"
                              : "sgt",
              loop.isGuarded ? "%some" : "true");
  std::unique_ptr<Module> module = parseAssemblyString(text, error, context);
  EXPECT_TRUE(module) << error.getMessage().str() << text;
  if (!module)
    return false;
  mlir::triton::nvidia::keepFromUnrolling(*module);
  Function &function = *module->getFunction("loop");
  DominatorTree dominators(function);
  LoopInfo loops(dominators);
  return !findOptionMDForLoop(*loops.begin(), "llvm.loop.unroll.disable");
}

/// Above all numbers of iterations of a loop that ends.
constexpr int kMost = 300;

int8_t wrap(int value) { return int8_t(uint8_t(value)); }

/// How many iterations the loop makes that is written; nothing where its
/// counter leaves its type, which the lowering of `scf.for` does not let it.
std::optional<int> countIterations(int start, int end, int step,
                                   bool isEquality) {
  if (step > 0 ? start >= end : start <= end)
    return std::nullopt;
  for (int count = 1, i = start + step; i == wrap(i); ++count, i += step)
    if (isEquality ? i == end : step > 0 ? i >= end : i <= end)
      return count;
  return std::nullopt;
}

/// How many it makes as ptxas unrolls it, which counts from `first` to `last`:
/// four at a time, two, and one.
int countUnrolled(int first, int last, int step, bool isEquality) {
  int8_t i = wrap(first), end = wrap(last);
  auto isBefore = [&](int8_t a, int8_t b) { return step > 0 ? a < b : a > b; };
  auto isFar = [&](int steps) {
    int8_t distance = step > 0 ? wrap(end - i) : wrap(i - end);
    return distance > wrap(steps * std::abs(step));
  };
  int count = 0;
  bool once = true;
  if (isEquality && step > 0 && uint8_t(i) >= uint8_t(end)) {
    once = false;
    i = wrap(i + step);
    ++count;
  }
  if (isFar(3)) {
    once = false;
    int8_t stop = wrap(end - 3 * step);
    do {
      i = wrap(i + 4 * step);
      count += 4;
    } while (isBefore(i, stop) && count < kMost);
  }
  if (isFar(1)) {
    once = false;
    i = wrap(i + 2 * step);
    count += 2;
  }
  if (once || (isEquality ? i != end : isBefore(i, end)))
    ++count;
  return count;
}

/// Compares all loops of a kind; returns whether ptxas may unroll them.
bool check(const TestedLoop &loop) {
  if (!mayUnroll(loop))
    return false;
  for (int start = loop.start.low; start <= loop.start.high; ++start)
    for (int end = loop.end.low; end <= loop.end.high; ++end) {
      auto expected = countIterations(start, end, loop.step, loop.isEquality);
      if (!expected)
        continue;
      for (int shift : {0, 1}) {
        int by = shift * loop.step;
        EXPECT_EQ(
            countUnrolled(start - by, end - by, loop.step, loop.isEquality),
            *expected)
            << start << " to " << end << " by " << loop.step << ", shift "
            << shift << (loop.isEquality ? ", until equal" : "");
      }
      if (testing::Test::HasFailure())
        return true;
    }
  return true;
}

TEST(KeepFromUnrolling, WhatIsLeftToPtxasIsRight) {
  std::mt19937 random(1);
  auto draw = [&](int low, int high) {
    return std::uniform_int_distribution<>(low, high)(random);
  };
  int left = 0;
  for (int trial = 0; trial < 3000 && !HasFailure(); ++trial) {
    auto drawRange = [&] {
      int low = draw(-128, 127), high = draw(low, 127);
      return draw(0, 3) ? Range{low, high} : Range{-128, 127};
    };
    Range start = drawRange(), end = drawRange();
    int step = draw(0, 2) ? draw(1, 6) : draw(1, 127);
    left += check({start, end, draw(0, 1) ? step : -step, draw(0, 1) == 0});
  }
  EXPECT_GT(left, 300);
}

TEST(KeepFromUnrolling, ACounterThatPassesItsEndIsMarked) {
  bool isEquality = true, isGuarded = false;
  EXPECT_FALSE(mayUnroll({{0, 0}, {-128, 127}, 1, isEquality, isGuarded}));
  EXPECT_TRUE(mayUnroll({{0, 0}, {1, 127}, 1, isEquality, isGuarded}));
  EXPECT_FALSE(mayUnroll({{0, 0}, {1, 127}, 2, isEquality, isGuarded}));
}

TEST(KeepFromUnrolling, LoopsOfOrdinaryProgramsAreLeft) {
  for (bool isEquality : {false, true}) {
    EXPECT_TRUE(mayUnroll({{0, 0}, {-128, 127}, 1, isEquality}));
    EXPECT_TRUE(mayUnroll({{1, 100}, {-128, 127}, 1, isEquality}));
    EXPECT_TRUE(mayUnroll({{0, 126}, {0, 127}, -1, isEquality}));
  }
}
} // namespace
