//===-- RingPositionsTest.cpp - Rings against their execution -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Loops that carry positions in rings, as the pipeliner makes them, and others
// that look alike: another step, another size, another start. They are executed
// here. What the analysis says must be so in each iteration. Of the first kind,
// it must say something.
//
//===----------------------------------------------------------------------===//

#include "../../../../lib/Dialect/TritonNvidiaGPU/Transforms/RingPositions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "llvm/Support/FormatVariadic.h"
#include <gtest/gtest.h>
#include <random>

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

namespace {

/// One position that a loop carries: `next = position + step`, and `wrapsTo`
/// where that is not below `size`.
struct Position {
  int64_t start, step, size, wrapsTo;
  /// How often it is advanced before it is yielded.
  int64_t yielded;

  int64_t advance(int64_t position) const {
    return position + step >= size ? wrapsTo : position + step;
  }
};

/// A use of a buffer of a ring: of which position, and how far advanced.
struct Use {
  unsigned position;
  int64_t advanced;
};

struct Program {
  int64_t ringSize;
  SmallVector<Position> positions;
  Use read, written;

  bool isAsPipelined() const {
    auto isPlain = [&](Use use) {
      const Position &p = positions[use.position];
      return p.start + use.advanced >= 0 && p.step == 1 && p.wrapsTo == 0 &&
             p.yielded == 1 && p.size == ringSize && p.start >= -1 &&
             p.start < ringSize;
    };
    return isPlain(read) && isPlain(written);
  }

  std::string print() const;
  /// The buffer that `use` shows in each iteration.
  std::vector<int64_t> execute(Use use, int64_t iterations) const;
};

std::string Program::print() const {
  std::string starts, arguments, types, body, yields;
  for (auto [i, p] : llvm::enumerate(positions)) {
    starts += llvm::formatv("%start{0} = arith.constant {1} : i32\n"
                            "%step{0} = arith.constant {2} : i32\n"
                            "%size{0} = arith.constant {3} : i32\n"
                            "%zero{0} = arith.constant {4} : i32\n",
                            i, p.start, p.step, p.size, p.wrapsTo);
    arguments += llvm::formatv("{0}%p{1}_0 = %start{1}", i ? ", " : "", i);
    types += i ? ", i32" : "i32";
    constexpr int kMost = 5;
    for (int n = 0; n < kMost; ++n)
      body += llvm::formatv(
          "%n{0}_{1} = arith.addi %p{0}_{1}, %step{0} : i32\n"
          "%c{0}_{1} = arith.cmpi sge, %n{0}_{1}, %size{0} : i32\n"
          "%p{0}_{2} = arith.select %c{0}_{1}, %zero{0}, %n{0}_{1} : i32\n",
          i, n, n + 1);
    yields += llvm::formatv("{0}%p{1}_{2}", i ? ", " : "", i, p.yielded);
  }
  auto type = llvm::formatv("!ttg.memdesc<{0}x16x16xf16, #shared, #smem, "
                            "mutable>",
                            ringSize);
  const char *one = "!ttg.memdesc<16x16xf16, #shared, #smem, mutable>";
  auto use = [&](StringRef name, Use u) {
    return llvm::formatv("%{0} = ttg.memdesc_index %ring[%p{1}_{2}] : {3} -> "
                         "{4}\n",
                         name, u.position, u.advanced, type.str(), one)
        .str();
  };
  return llvm::formatv(
      "#shared = #ttg.swizzled_shared<{{vec = 1, perPhase = 1, maxPhase = 1, "
      "order = [1, 0]}>\n#smem = #ttg.shared_memory\n"
      "func.func @f(%n: i32) {{\n%low = arith.constant 0 : i32\n"
      "%by = arith.constant 1 : i32\n{0}%ring = ttg.local_alloc : () -> {1}\n"
      "%r:{2} = scf.for %i = %low to %n step %by iter_args({3}) -> ({4}) : i32 "
      "{{\n{5}{6}{7}scf.yield {8} : {4}\n}\nreturn\n}\n",
      starts, type.str(), positions.size(), arguments, types, body,
      use("read", read), use("written", written), yields);
}

std::vector<int64_t> Program::execute(Use use, int64_t iterations) const {
  const Position &p = positions[use.position];
  auto advanced = [&](int64_t position, int64_t times) {
    while (times-- > 0)
      position = p.advance(position);
    return position;
  };
  std::vector<int64_t> found;
  for (int64_t i = 0, at = p.start; i < iterations; ++i) {
    found.push_back(advanced(at, use.advanced));
    at = advanced(at, p.yielded);
  }
  return found;
}

class RingPositionsTest : public ::testing::Test {
protected:
  RingPositionsTest() {
    context.loadDialect<gpu::TritonGPUDialect, arith::ArithDialect,
                        scf::SCFDialect, func::FuncDialect>();
  }

  int64_t pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  }

  Program makeProgram() {
    Program program;
    program.ringSize = pick(1, 5);
    bool isOdd = pick(0, 1);
    for (int64_t i = 0, e = pick(1, 3); i < e; ++i) {
      Position p{pick(-1, program.ringSize - 1), 1, program.ringSize, 0, 1};
      int64_t change = isOdd ? pick(0, 5) : 5;
      if (change == 0)
        p.step = pick(0, 2);
      else if (change == 1)
        p.size = pick(1, 6);
      else if (change == 2)
        p.wrapsTo = pick(-1, 1);
      else if (change == 3)
        p.yielded = pick(0, 3);
      else if (change == 4)
        p.start = pick(-3, 6);
      program.positions.push_back(p);
    }
    auto use = [&] {
      return Use{unsigned(pick(0, program.positions.size() - 1)), pick(0, 4)};
    };
    program.read = use();
    program.written = use();
    return program;
  }

  void check(const Program &program) {
    auto module = parseSourceString<ModuleOp>(program.print(), &context);
    ASSERT_TRUE(module) << program.print();
    scf::ForOp loop;
    SmallVector<Value> views;
    module->walk([&](scf::ForOp op) { loop = op; });
    module->walk([&](gpu::MemDescIndexOp op) { views.push_back(op); });
    EXPECT_EQ(getRingSize(views[0]), program.ringSize);
    auto lag = getIterationsUntilOverwritten(views[0], views[1], loop);
    if (!lag) {
      EXPECT_FALSE(program.isAsPipelined()) << program.print();
      return;
    }
    ++numKnown;
    ASSERT_GE(*lag, 0);
    constexpr int64_t kIterations = 40;
    auto read = program.execute(program.read, kIterations),
         written = program.execute(program.written, kIterations);
    for (int64_t i = 0; i + *lag < kIterations; ++i) {
      EXPECT_EQ(read[i], written[i + *lag])
          << "iteration " << i << ", lag " << *lag << "\n"
          << program.print();
      // Nothing writes it in between.
      for (int64_t j = i; j < i + *lag; ++j)
        EXPECT_NE(read[i], written[j]) << program.print();
    }
  }

  MLIRContext context;
  std::mt19937 random{7};
  unsigned numKnown = 0;
};

TEST_F(RingPositionsTest, WhatIsSaidHoldsInEachIteration) {
  constexpr int kPrograms = 4000;
  for (int i = 0; i < kPrograms && !HasFailure(); ++i)
    check(makeProgram());
  EXPECT_GT(numKnown, kPrograms / 3u);
}

} // namespace
