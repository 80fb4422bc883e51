//===-- UsualStrideTest.cpp - Usual strides against enumeration -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Where nothing starts again, a usual stride holds for all neighbours. Random
// functions say so, and remainders and quotients of counted ranges.
//
//===----------------------------------------------------------------------===//

#include "Evaluate.h"
#include "RandomFunction.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tile/Analysis/UsualStride.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::test;

namespace {

class UsualStrideTest : public ::testing::Test {
protected:
  UsualStrideTest() {
    context.loadDialect<TritonDialect, arith::ArithDialect, math::MathDialect,
                        scf::SCFDialect>();
  }

  /// Whether `value` is computed of operations whose strides hold everywhere.
  static bool holdsEverywhere(Value value) {
    BackwardSliceOptions options;
    options.inclusive = true;
    options.omitBlockArguments = true;
    SetVector<Operation *> slice;
    if (!value.getDefiningOp() ||
        failed(getBackwardSlice(value, &slice, options)))
      return false;
    auto isCarried = [](Value operand) {
      auto argument = dyn_cast<BlockArgument>(operand);
      return argument && !isa<FuncOp>(argument.getOwner()->getParentOp());
    };
    return llvm::none_of(slice, [&](Operation *op) {
      return isa<arith::RemSIOp, arith::RemUIOp, arith::DivSIOp, arith::DivUIOp,
                 arith::ExtSIOp, arith::ExtUIOp, scf::ForOp, scf::WhileOp>(
                 op) ||
             llvm::any_of(op->getOperands(), isCarried);
    });
  }

  /// Neighbours whose distance is not the stride that is stated, of all pairs.
  std::pair<int, int> countExceptions(Value value, const Elements &elements) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || !type.getElementType().isInteger() ||
        type.getElementType().isInteger(1))
      return {0, 0};
    std::pair<int, int> found;
    int64_t step = elements.size();
    for (auto [axis, size] : llvm::enumerate(type.getShape())) {
      step /= size;
      std::optional<int64_t> stride = getUsualStride(value, axis);
      for (size_t i = 0; stride && i < elements.size(); ++i) {
        if (i / step % size == size_t(size) - 1 || !elements.known[i] ||
            !elements.known[i + step])
          continue;
        uint64_t distance =
            uint64_t(elements.values[i + step]) - uint64_t(elements.values[i]);
        found.first += wrap(distance - *stride, elements.width) != 0;
        ++found.second;
      }
    }
    return found;
  }

  MLIRContext context;
  Random random;
};

TEST_F(UsualStrideTest, HoldsForAllNeighboursWithoutRemainders) {
  int checked = 0;
  for (int i = 0; i < 400; ++i) {
    OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
    FuncOp func = RandomFunction(*module, random).build("f", 30);
    std::string problem;
    auto visit = [&](Value value, const Elements &elements) {
      if (!problem.empty() || !holdsEverywhere(value))
        return;
      auto [exceptions, pairs] = countExceptions(value, elements);
      checked += pairs;
      if (exceptions)
        llvm::raw_string_ostream(problem) << value << "\nof " << func;
    };
    Evaluator evaluator(visit, /*wraps=*/false);
    for (Value argument : func.getArguments())
      evaluator.set(argument, Elements::of(argument.getType()));
    for (Operation &op : func.getBody().front())
      if (isa<GetProgramIdOp, GetNumProgramsOp>(op))
        evaluator.set(op.getResult(0), Elements::of(op.getResult(0).getType()));
    evaluator.run(func.getBody().front());
    ASSERT_EQ(problem, "");
  }
  EXPECT_GT(checked, 10000);
}

/// `(i * factor + start) % divisor` and `/ divisor`: of 64 neighbours, few
/// start again where the divisor is large.
TEST_F(UsualStrideTest, RemaindersAndQuotientsHaveFewExceptions) {
  for (int64_t factor : {1, 3})
    for (int64_t divisor : {100, 784})
      for (int64_t start : {0, 50, 777}) {
        OwningOpRef<ModuleOp> module =
            ModuleOp::create(UnknownLoc::get(&context));
        OpBuilder b = OpBuilder::atBlockEnd(module->getBody());
        Location loc = b.getUnknownLoc();
        auto func = FuncOp::create(b, loc, "f", b.getFunctionType({}, {}));
        b.setInsertionPointToStart(func.addEntryBlock());
        auto type = RankedTensorType::get({64}, b.getI32Type());
        auto constant = [&](int64_t value) -> Value {
          return arith::ConstantOp::create(
              b, loc, DenseElementsAttr::get(type, b.getI32IntegerAttr(value)));
        };
        Value i = MakeRangeOp::create(b, loc, type, 0, 64);
        i = arith::MulIOp::create(b, loc, i, constant(factor));
        i = arith::AddIOp::create(b, loc, i, constant(start));
        Value rest = arith::RemSIOp::create(b, loc, i, constant(divisor));
        Value quotient = arith::DivSIOp::create(b, loc, i, constant(divisor));
        EXPECT_EQ(getUsualStride(rest, 0), factor);
        EXPECT_EQ(getUsualStride(quotient, 0), 0);
        int exceptions = 0;
        Evaluator evaluator([&](Value value, const Elements &elements) {
          exceptions += countExceptions(value, elements).first;
        });
        evaluator.run(func.getBody().front());
        EXPECT_LE(exceptions, 4);
      }
}

} // namespace
