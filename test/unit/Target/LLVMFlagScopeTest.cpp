//===-- LLVMFlagScopeTest.cpp - Options of LLVM for a while ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Target/LLVMFlagScope.h"

#include "llvm/Support/CommandLine.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

using mlir::triton::LLVMFlagScope;

static llvm::cl::opt<bool> flag("flag-scope-test", llvm::cl::init(false));
static llvm::cl::opt<unsigned> number("flag-scope-number", llvm::cl::init(20));

TEST(LLVMFlagScope, PutsBackWhatWasThere) {
  for (bool before : {false, true}) {
    flag.setValue(before);
    {
      LLVMFlagScope scope("flag-scope-test", !before);
      EXPECT_TRUE(bool(scope));
      EXPECT_EQ(flag.getValue(), !before);
      LLVMFlagScope inner("flag-scope-test", !before);
      EXPECT_EQ(flag.getValue(), !before);
    }
    EXPECT_EQ(flag.getValue(), before);
  }
  flag.setValue(false);
}

TEST(LLVMFlagScope, TakesNumbers) {
  {
    LLVMFlagScope scope("flag-scope-number", 0u);
    EXPECT_TRUE(bool(scope));
    EXPECT_EQ(number.getValue(), 0u);
  }
  EXPECT_EQ(number.getValue(), 20u);
}

// As if the command line had it: once, however many scopes there are.
TEST(LLVMFlagScope, StatesOptions) {
  flag.setValue(true);
  {
    LLVMFlagScope scope("flag-scope-test", true, /*isStated=*/true);
    LLVMFlagScope inner("flag-scope-test", true, /*isStated=*/true);
    EXPECT_TRUE(flag.getValue());
    EXPECT_EQ(flag.getNumOccurrences(), 1);
  }
  EXPECT_EQ(flag.getNumOccurrences(), 0);
  EXPECT_TRUE(flag.getValue());
  flag.setValue(false);
}

TEST(LLVMFlagScope, KnowsNoOtherFlags) {
  EXPECT_FALSE(bool(LLVMFlagScope("no-such-flag-of-llvm", true)));
}

TEST(LLVMFlagScope, NobodySeesTheOtherValue) {
  flag.setValue(false);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, value = i % 2 == 0] {
      for (int k = 0; k < 200; ++k) {
        LLVMFlagScope scope("flag-scope-test", value);
        for (int n = 0; n < 50; ++n)
          wrong += flag.getValue() != value;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_FALSE(flag.getValue());
}
