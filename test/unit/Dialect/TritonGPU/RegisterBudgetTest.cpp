//===-- RegisterBudgetTest.cpp - Budgets are whole numbers ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Of all numbers of registers that threads may have, a budget is the greatest
// whole number that is within its share. Threads that copy are given what was
// measured to be enough.
//
//===----------------------------------------------------------------------===//

#include "tile/Dialect/TritonGPU/IR/RegisterBudget.h"
#include "tile/Dialect/TritonGPU/IR/TargetModel.h"
#include <gtest/gtest.h>

using namespace mlir::triton::gpu;

namespace {

class Machine : public TargetModel {
public:
  explicit Machine(unsigned registers) : registers(registers) {}
  unsigned getRegistersPerThread(unsigned numThreads) const override {
    return registers;
  }

private:
  unsigned registers;
};

TEST(RegisterBudget, IsTheGreatestWithinItsShare) {
  using Purpose = RegisterPurpose;
  for (unsigned registers = 1; registers <= 512; ++registers) {
    Machine machine(registers);
    auto check = [&](Purpose purpose, unsigned numWarps, auto isWithin) {
      int64_t budget =
          machine.getBudget(purpose, numWarps * machine.getThreadsPerWarp());
      EXPECT_TRUE(isWithin(budget)) << registers;
      EXPECT_FALSE(isWithin(budget + 1)) << registers;
    };
    auto atMost = [&](int64_t numerator, int64_t denominator) {
      return [=](int64_t values) {
        return denominator * values <= numerator * registers;
      };
    };
    auto lessThan = [&](int64_t numerator, int64_t denominator) {
      return [=](int64_t values) {
        return denominator * values < numerator * registers;
      };
    };
    for (unsigned numWarps : {1, 4, 8, 16}) {
      check(Purpose::KeptFactors, numWarps, atMost(2, 3));
      check(Purpose::SharedMultiprocessor, numWarps, atMost(2, 3));
      check(Purpose::LoadsAhead, numWarps, atMost(2, 3));
      check(Purpose::TwoFactors, numWarps, atMost(4, 5));
      check(Purpose::InvariantOperands, numWarps, lessThan(3, 8));
      check(Purpose::EarlyReads, numWarps, lessThan(3, 4));
      check(Purpose::MoreBlocks, numWarps, lessThan(4, 5));
      check(Purpose::LateProducts, numWarps,
            numWarps > 4 ? atMost(2, 3) : atMost(3, 4));
    }
  }
}

TEST(RegisterNeed, AddressesHaveWhatSpilledNothing) {
  struct {
    int64_t copies, enough;
  } const measured[] = {{8, 40}, {12, 56}, {16, 72}, {24, 104}, {32, 120}};
  for (auto [copies, enough] : measured)
    EXPECT_GE(getRegisterNeed(RegisterNeed::CopyLoop) +
                  copies * getRegisterNeed(RegisterNeed::CopyAddress),
              enough)
        << copies;
}

} // namespace
