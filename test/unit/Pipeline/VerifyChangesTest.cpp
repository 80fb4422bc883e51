//===-- VerifyChangesTest.cpp - Which passes the verifier follows ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Pipeline/VerifyChanges.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include <functional>
#include <gtest/gtest.h>
#include <set>

using namespace mlir;
using namespace mlir::triton;

namespace {

constexpr const char *kText = R"mlir(
func.func @f(%a: i32, %b: i32) -> i32 {
  %c = arith.constant {note} 7 : i32
  %d = arith.addi %a, %b : i32
  %e = arith.addi %d, %c : i32
  cf.br ^next(%e : i32)
^next(%f: i32):
  return %f : i32
}
)mlir";

struct VerifyChanges : testing::Test {
  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;

  VerifyChanges() {
    context.loadDialect<arith::ArithDialect, func::FuncDialect>();
    context.allowUnregisteredDialects();
    std::string text = kText;
    // The dialect of branches is none that this needs.
    text.replace(text.find("cf.br ^next(%e : i32)"), 21,
                 "\"test.br\"(%e)[^next] : (i32) -> ()");
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module);
  }

  func::FuncOp function() { return *module->getOps<func::FuncOp>().begin(); }
  Operation *at(int i) {
    return &*std::next(function().getBody().front().begin(), i);
  }
  void exchange() {
    Value first = at(1)->getOperand(0);
    at(1)->setOperand(0, at(1)->getOperand(1));
    at(1)->setOperand(1, first);
  }
};

TEST_F(VerifyChanges, FingerprintsTellChangesApart) {
  Builder b(&context);
  std::set<uint64_t> seen{fingerprint(*module)};
  auto changed = [&](const char *what) {
    EXPECT_EQ(fingerprint(*module), fingerprint(*module)) << what;
    EXPECT_TRUE(seen.insert(fingerprint(*module)).second) << what;
  };
  at(0)->setDiscardableAttr("note", b.getI32IntegerAttr(1));
  changed("an attribute");
  cast<arith::ConstantOp>(at(0)).setValueAttr(b.getI32IntegerAttr(8));
  changed("a property");
  cast<arith::AddIOp>(at(1)).setOverflowFlags(arith::IntegerOverflowFlags::nsw);
  changed("a flag");
  exchange();
  changed("the order of operands");
  at(1)->setLoc(NameLoc::get(b.getStringAttr("there")));
  changed("a place");
  at(1)->getResult(0).setType(b.getI64Type());
  changed("the type of a result");
  function().getBody().back().getArgument(0).setType(b.getI64Type());
  changed("the type of an argument of a block");
  at(1)->moveBefore(at(0));
  changed("the order of operations");
  Block *block = new Block();
  function().getBody().push_back(block);
  changed("a block");
  at(3)->setSuccessor(block, 0);
  changed("a successor");
  block->addArgument(b.getI32Type(), b.getUnknownLoc());
  changed("an argument");
  OpBuilder::atBlockEnd(block).clone(*at(0));
  changed("an operation");
  module->setName("g");
  changed("the root");
}

TEST_F(VerifyChanges, FingerprintsOfWhatIsChangedBackAreTheSame) {
  uint64_t before = fingerprint(*module);
  exchange();
  EXPECT_NE(fingerprint(*module), before);
  exchange();
  EXPECT_EQ(fingerprint(*module), before);
}

/// A pass that does something to a module or a function.
template <typename OpT>
struct Some : PassWrapper<Some<OpT>, OperationPass<OpT>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Some)
  std::function<void(OpT)> work;
  explicit Some(std::function<void(OpT)> work) : work(std::move(work)) {}
  StringRef getName() const override { return "some"; }
  void runOnOperation() override { work(this->getOperation()); }
};

/// Whether a pipeline ends well that leaves an invalid function, which was so
/// before, as it is, and then runs another pass on it.
bool runs(MLIRContext &context, ModuleOp module,
          std::function<void(func::FuncOp)> then, bool nested) {
  // What the verifier says is expected.
  ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) {});
  PassManager passes(&context);
  auto first = [&](ModuleOp op) { then(*op.getOps<func::FuncOp>().begin()); };
  auto none = [](func::FuncOp) {};
  passes.addNestedPass<func::FuncOp>(
      std::make_unique<Some<func::FuncOp>>(none));
  if (nested)
    passes.addNestedPass<func::FuncOp>(
        std::make_unique<Some<func::FuncOp>>(then));
  else
    passes.addPass(std::make_unique<Some<ModuleOp>>(first));
  passes.addNestedPass<func::FuncOp>(
      std::make_unique<Some<func::FuncOp>>(none));
  return succeeded(passes.run(module));
}

TEST_F(VerifyChanges, OnlyWhatChangedIsVerified) {
  verifyOnlyChanges(context);
  auto none = [](func::FuncOp) {};
  auto note = [](func::FuncOp f) {
    f->setDiscardableAttr("test.note", UnitAttr::get(f.getContext()));
  };
  at(1)->getResult(0).setType(IntegerType::get(&context, 64));
  for (bool nested : {false, true})
    EXPECT_TRUE(runs(context, *module, none, nested));
  EXPECT_FALSE(runs(context, *module, note, true));
  function()->removeDiscardableAttr("test.note");
  EXPECT_FALSE(runs(context, *module, note, false));
}

TEST_F(VerifyChanges, WhatAPassBreaksIsFound) {
  auto breaks = [](func::FuncOp f) {
    std::next(f.getBody().front().begin(), 1)
        ->getResult(0)
        .setType(IntegerType::get(f.getContext(), 64));
  };
  verifyOnlyChanges(context);
  for (bool nested : {false, true}) {
    OwningOpRef<ModuleOp> copy = module->clone();
    EXPECT_FALSE(runs(context, *copy, breaks, nested));
  }
}

/// An analysis that counts how often it is made.
struct Counted {
  static int made;
  explicit Counted(Operation *) { ++made; }
};
int Counted::made = 0;

struct Asks : PassWrapper<Asks, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Asks)
  bool changes;
  explicit Asks(bool changes) : changes(changes) {}
  void runOnOperation() override {
    getAnalysis<Counted>();
    if (changes)
      getOperation().setName("changed");
  }
};

TEST_F(VerifyChanges, AnalysesStayAfterPassesThatChangeNothing) {
  verifyOnlyChanges(context);
  PassManager passes(&context);
  for (bool changes : {false, true, false, false})
    passes.addPass(std::make_unique<Asks>(changes));
  Counted::made = 0;
  EXPECT_TRUE(succeeded(passes.run(*module)));
  EXPECT_EQ(Counted::made, 2);
}

} // namespace
