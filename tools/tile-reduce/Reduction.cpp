//===-- Reduction.cpp - Smaller programs ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Upstream's -reduction-tree erases operations and leaves their users without
// operands, which works where nothing is used. Here each step makes a program
// that verifies. What it computes may be something else: the test says whether
// it still shows the bug.

#include "Reduction.h"

#include "tile/Dialect/Triton/IR/Dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Reducer/Tester.h"

using namespace mlir;

namespace {

/// Erases an operation that nobody uses.
LogicalResult drop(Operation *op) {
  if (!op->use_empty())
    return failure();
  op->erase();
  return success();
}

/// Replaces results by operands of their types.
LogicalResult forwardOperand(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumRegions() || op->use_empty())
    return failure();
  for (Value operand : op->getOperands())
    if (operand.getType() == op->getResult(0).getType()) {
      op->getResult(0).replaceAllUsesWith(operand);
      op->erase();
      return success();
    }
  return failure();
}

/// Replaces results by zeros.
LogicalResult makeZero(Operation *op) {
  if (!op->getNumResults() || op->use_empty() || isa<arith::ConstantOp>(op))
    return failure();
  OpBuilder builder(op);
  SmallVector<Value> zeros;
  for (Type type : op->getResultTypes()) {
    TypedAttr zero = getElementTypeOrSelf(type).isIntOrIndexOrFloat()
                         ? builder.getZeroAttr(type)
                         : TypedAttr();
    if (!zero)
      return failure();
    zeros.push_back(arith::ConstantOp::create(builder, op->getLoc(), zero));
  }
  op->replaceAllUsesWith(zeros);
  op->erase();
  return success();
}

/// Puts what is in the block of a region before the operation, which the values
/// that the block yields replace.
LogicalResult inlineBlock(Operation *op, Region &region, ValueRange arguments) {
  if (!region.hasOneBlock())
    return failure();
  Block &block = region.front();
  Operation *yield = block.getTerminator();
  for (auto [argument, value] :
       llvm::zip_equal(block.getArguments(), arguments))
    argument.replaceAllUsesWith(value);
  op->replaceAllUsesWith(SmallVector<Value>(yield->getOperands()));
  yield->erase();
  op->getBlock()->getOperations().splice(op->getIterator(),
                                         block.getOperations());
  op->erase();
  return success();
}

/// A loop becomes its first iteration.
LogicalResult runOnce(Operation *op) {
  auto loop = dyn_cast<scf::ForOp>(op);
  if (!loop)
    return failure();
  SmallVector<Value> arguments{loop.getLowerBound()};
  llvm::append_range(arguments, loop.getInitArgs());
  return inlineBlock(op, loop.getRegion(), arguments);
}

template <unsigned Index> LogicalResult takeBranch(Operation *op) {
  auto branch = dyn_cast<scf::IfOp>(op);
  if (!branch || op->getRegion(Index).empty())
    return failure();
  return inlineBlock(op, op->getRegion(Index), {});
}

/// Removes the parameters that nobody uses.
LogicalResult dropParameters(Operation *op) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function || function.isExternal())
    return failure();
  llvm::BitVector unused(function.getNumArguments());
  for (BlockArgument argument : function.getArguments())
    unused[argument.getArgNumber()] = argument.use_empty();
  if (unused.none())
    return failure();
  return function.eraseArguments(unused);
}

/// The steps, those that remove most first.
constexpr LogicalResult (*steps[])(Operation *) = {
    drop,          makeZero,      forwardOperand, runOnce,
    takeBranch<0>, takeBranch<1>, dropParameters};

/// The operations of a module in an order that a copy of it has, too.
SmallVector<Operation *> operationsOf(ModuleOp module) {
  SmallVector<Operation *> found;
  module.walk([&](Operation *op) {
    if (op != module && !op->hasTrait<OpTrait::IsTerminator>())
      found.push_back(op);
  });
  return found;
}

struct ReduceKernel : PassWrapper<ReduceKernel, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ReduceKernel)

  ReduceKernel() = default;
  ReduceKernel(const ReduceKernel &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "reduce-kernel"; }
  StringRef getDescription() const override {
    return "Make a module smaller, step by step, while a test finds it "
           "interesting";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, scf::SCFDialect>();
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (test.empty()) {
      emitError(module.getLoc(), "expected option 'test' to name a program");
      return signalPassFailure();
    }
    Tester tester(test, arguments);
    if (!isInteresting(tester, module)) {
      emitError(module.getLoc(), "the test does not find this module "
                                 "interesting: it must not return 0");
      return signalPassFailure();
    }
    while (reduceOnce(tester, module))
      ;
  }

private:
  static bool isInteresting(Tester &tester, ModuleOp module) {
    return tester.isInteresting(module).first == Tester::Interestingness::True;
  }

  /// Tries every step on every operation, from the last one; true if any of
  /// them was taken.
  bool reduceOnce(Tester &tester, ModuleOp module) {
    bool changed = false;
    for (size_t i = operationsOf(module).size(); i-- > 0;)
      for (auto step : steps) {
        if (i >= operationsOf(module).size())
          break;
        OwningOpRef<ModuleOp> smaller(module.clone());
        if (failed(step(operationsOf(*smaller)[i])))
          continue;
        // What does not verify is no program.
        ScopedDiagnosticHandler quiet(&getContext(),
                                      [](Diagnostic &) { return success(); });
        if (failed(verify(*smaller)) || !isInteresting(tester, *smaller))
          continue;
        module.getBodyRegion().takeBody(smaller->getBodyRegion());
        changed = true;
      }
    return changed;
  }

  Option<std::string> test{*this, "test",
                           llvm::cl::desc("A program that gets a file, and "
                                          "returns 0 if it is of no interest")};
  ListOption<std::string> arguments{
      *this, "test-arg", llvm::cl::desc("What the program gets beside it")};
};

} // namespace

void triton::registerKernelReduction() { PassRegistration<ReduceKernel>(); }
