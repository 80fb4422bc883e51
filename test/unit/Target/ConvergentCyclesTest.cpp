//===-- ConvergentCyclesTest.cpp - Loops with two entries -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Target/ConvergentCycles.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"

#include "gtest/gtest.h"

using namespace mlir::triton;

static bool finds(llvm::StringRef entry, llvm::StringRef call) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  std::string text = ("declare void @meet() convergent\n"
                      "declare void @other()\n"
                      "define void @f(i1 %a, i1 %b) {\n"
                      "  " +
                      entry +
                      "\n"
                      "head:\n"
                      "  br i1 %a, label %one, label %body\n"
                      "one:\n"
                      "  br label %body\n"
                      "body:\n"
                      "  call void @" +
                      call +
                      "()\n"
                      "  br i1 %b, label %head, label %end\n"
                      "end:\n"
                      "  ret void\n"
                      "}\n")
                         .str();
  auto module = llvm::parseAssemblyString(text, error, context);
  EXPECT_TRUE(module) << error.getMessage().str();
  return module && findConvergentInIrreducible(*module);
}

TEST(ConvergentCycles, FindsBarriersInLoopsWithTwoEntries) {
  EXPECT_TRUE(finds("br i1 %a, label %head, label %body", "meet"));
  EXPECT_FALSE(finds("br i1 %a, label %head, label %body", "other"));
  EXPECT_FALSE(finds("br label %head", "meet"));
}
