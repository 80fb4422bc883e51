//===-- AxisInfoPropertyTest.cpp - Axis info against the truth ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What axis info and value ranges state of random functions is compared with
// every element of every value that the functions compute.
// AXIS_INFO_SEED and AXIS_INFO_FUNCTIONS run others, or more of them.
//
//===----------------------------------------------------------------------===//

#include "Evaluate.h"
#include "RandomFunction.h"

#include "mlir/Analysis/DataFlow/ConstantPropagationAnalysis.h"
#include "mlir/Analysis/DataFlow/DeadCodeAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Verifier.h"
#include "tile/Analysis/AxisInfo.h"
#include "tile/Analysis/MaskTrend.h"
#include "tile/Analysis/ValueRanges.h"
#include <array>
#include <cstdlib>
#include <gtest/gtest.h>
#include <iostream>
#include <numeric>

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::test;

namespace {

/// Compares statements with elements; says what is wrong, once.
class Checker {
public:
  Checker(Value value, const Elements &elements, const AxisInfo &info,
          unsigned narrowest)
      : value(value), elements(elements), info(info), narrowest(narrowest) {
    if (this->elements.shape.empty())
      this->elements.shape = {1};
  }

  /// Empty if all is right.
  std::string check() {
    if (info.getRank() != elements.shape.size())
      return "the rank is wrong";
    for (unsigned dim = 0; dim < info.getRank() && problem.empty(); ++dim)
      checkAxis(dim);
    if (std::optional<int64_t> constant = info.getConstantValue())
      for (size_t i = 0; i < elements.size(); ++i)
        if (elements.known[i] && elements.values[i] != *constant)
          report("constant", 0, i);
    return problem;
  }

private:
  void checkAxis(unsigned dim) {
    int64_t contiguity = info.getContiguity(dim);
    int64_t divisibility = info.getDivisibility(dim);
    int64_t constancy = info.getConstancy(dim);
    int64_t run = std::gcd(contiguity,
                           std::max<int64_t>(divisibility / info.getUnit(), 1));
    int64_t stride = 1;
    for (unsigned faster = dim + 1; faster < info.getRank(); ++faster)
      stride *= elements.shape[faster];
    for (size_t i = 0; i < elements.size(); ++i) {
      if (!elements.known[i])
        continue;
      int64_t at = i / stride % elements.shape[dim];
      auto step = [&](int64_t group) { return at % group; };
      auto first = [&](int64_t group) { return i - step(group) * stride; };
      if (at % contiguity == 0 && elements.values[i] % divisibility != 0)
        report("divisibility", dim, i);
      if (size_t j = first(constancy);
          elements.known[j] && elements.values[i] != elements.values[j])
        report("constancy", dim, i);
      auto goesUp = [&](int64_t group, unsigned width) {
        size_t j = first(group);
        uint64_t distance = uint64_t(elements.values[i]) -
                            uint64_t(elements.values[j]) -
                            uint64_t(step(group)) * info.getUnit();
        return !elements.known[j] || wrap(distance, width) == 0;
      };
      if (!goesUp(run, 64))
        report("run", dim, i);
      if (!goesUp(contiguity, narrowest))
        report("contiguity", dim, i);
    }
  }

  void report(StringRef what, unsigned dim, size_t at) {
    if (!problem.empty())
      return;
    llvm::raw_string_ostream os(problem);
    os << what << " along axis " << dim << " is wrong at element " << at
       << " of " << value << "\n  " << info << "\n  elements:";
    for (auto [v, known] : llvm::zip_equal(elements.values, elements.known))
      known ? os << ' ' << v : os << " ?";
  }

  Value value;
  Elements elements;
  const AxisInfo &info;
  unsigned narrowest;
  std::string problem;
};

/// The least width of integers of more than one bit, and so the least multiple
/// at which anything wraps around.
unsigned getNarrowest(FuncOp func) {
  unsigned narrowest = 64;
  func.walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (auto integer = dyn_cast<IntegerType>(getElementTypeOrSelf(type));
          integer && integer.getWidth() > 1)
        narrowest = std::min(narrowest, integer.getWidth());
  });
  return narrowest;
}

int64_t getEnv(const char *name, int64_t otherwise) {
  const char *text = std::getenv(name);
  return text ? std::atoll(text) : otherwise;
}

class AxisInfoProperty : public ::testing::Test {
protected:
  AxisInfoProperty() {
    context.loadDialect<TritonDialect, arith::ArithDialect, math::MathDialect,
                        scf::SCFDialect>();
  }

  /// Numbers that an argument with these attributes may have.
  Elements makeArgument(FuncOp func, unsigned i) {
    Elements elements = Elements::of(func.getArgumentTypes()[i]);
    auto divisor = func.getArgAttrOfType<IntegerAttr>(i, kDivisibilityAttr);
    int64_t n = divisor ? divisor.getInt() : 1;
    int64_t number = randomNumber(random, elements.width);
    if (func.getArgAttr(i, kNonNegativeAttr) && number < 0)
      number = ~number;
    if (auto most = func.getArgAttrOfType<IntegerAttr>(i, kMaxAttr))
      while (number > most.getInt())
        number /= 2;
    elements.values[0] = elements.width == 1 ? number : number & -n;
    return elements;
  }

  /// Runs a function on some arguments; what is wrong, or nothing.
  std::string check(FuncOp func, const ModuleAxisInfoAnalysis &axisInfo,
                    DataFlowSolver &ranges, DataFlowSolver &rangesThatFit) {
    unsigned narrowest = getNarrowest(func);
    std::string problem;
    auto visitThatFits = [&](Value value, const Elements &elements) {
      if (problem.empty())
        problem = checkRange(value, elements, rangesThatFit);
    };
    auto visit = [&](Value value, const Elements &elements) {
      if (!problem.empty())
        return;
      const AxisInfo *info = axisInfo.getAxisInfo(value);
      if (!info) {
        llvm::raw_string_ostream(problem) << "taken to be dead: " << value;
        return;
      }
      problem = Checker(value, elements, *info, narrowest).check();
      if (problem.empty())
        problem = checkRange(value, elements, ranges);
      if (problem.empty())
        problem = checkTrends(value, elements, axisInfo);
      ++numChecked;
    };
    for (int run = 0; run < 3 && problem.empty(); ++run) {
      Evaluator evaluator(visit);
      Evaluator thatFits(visitThatFits, /*wraps=*/false);
      auto set = [&](Value value, const Elements &elements) {
        evaluator.set(value, elements);
        thatFits.set(value, elements);
      };
      for (unsigned i = 0; i < func.getNumArguments(); ++i)
        set(func.getArgument(i), makeArgument(func, i));
      for (Operation &op : func.getBody().front())
        if (isa<GetProgramIdOp, GetNumProgramsOp>(op)) {
          Elements elements = Elements::of(op.getResult(0).getType());
          elements.values[0] = below(random, 5) + isa<GetNumProgramsOp>(op);
          if (oneIn(random, 3))
            elements.values[0] = INT32_MAX - 1;
          set(op.getResult(0), elements);
        }
      evaluator.run(func.getBody().front());
      thatFits.run(func.getBody().front());
    }
    return problem;
  }

  /// Whether the elements of a mask go as they are said to, in each group of
  /// neighbours along each axis.
  std::string checkTrends(Value value, const Elements &elements,
                          const ModuleAxisInfoAnalysis &axisInfo) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || !type.getElementType().isInteger(1))
      return "";
    int64_t stride = elements.size();
    for (auto [axis, size] : llvm::enumerate(type.getShape())) {
      stride /= size;
      for (int64_t length = 2; length <= std::min<int64_t>(size, 16);
           length *= 2) {
        MaskTrend trend = getMaskTrend(axisInfo, value, axis, length);
        numTrends[static_cast<int>(trend)] += 1;
        for (size_t i = 0; i < elements.size(); ++i)
          if (i / stride % length == 0 &&
              !goesAlong(trend, elements, i, stride, length)) {
            std::string problem;
            llvm::raw_string_ostream(problem)
                << "trend " << static_cast<int>(trend) << " of " << length
                << " along axis " << axis << " is wrong at element " << i
                << " of " << value;
            return problem;
          }
      }
    }
    return "";
  }

  static bool goesAlong(MaskTrend trend, const Elements &elements, size_t first,
                        int64_t stride, int64_t length) {
    int rises = 0, falls = 0;
    for (int64_t i = 0; i < length; ++i)
      if (!elements.known[first + i * stride])
        return true;
    for (int64_t i = 1; i < length; ++i) {
      int64_t step = elements.values[first + i * stride] -
                     elements.values[first + (i - 1) * stride];
      rises += step > 0;
      falls += step < 0;
    }
    switch (trend) {
    case MaskTrend::Constant:
      return rises + falls == 0;
    case MaskTrend::Falling:
      return rises == 0;
    case MaskTrend::Rising:
      return falls == 0;
    case MaskTrend::Interval:
      // From false to true after it was true would be a second interval.
      return rises + falls <= 1 ||
             (rises + falls == 2 && !elements.values[first]);
    case MaskTrend::Unknown:
      return true;
    }
    return false;
  }

  std::string checkRange(Value value, const Elements &elements,
                         DataFlowSolver &ranges) {
    auto *lattice =
        ranges.lookupState<dataflow::IntegerValueRangeLattice>(value);
    if (!lattice || lattice->getValue().isUninitialized())
      return "";
    const ConstantIntRanges &range = lattice->getValue().getValue();
    if (range.smin().getBitWidth() == 0) // A pointer.
      return "";
    for (size_t i = 0; i < elements.size(); ++i) {
      if (!elements.known[i])
        continue;
      APInt number(elements.width, elements.values[i], /*isSigned=*/true,
                   /*implicitTrunc=*/true);
      if (number.slt(range.smin()) || number.sgt(range.smax()) ||
          number.ult(range.umin()) || number.ugt(range.umax())) {
        std::string problem;
        llvm::raw_string_ostream(problem)
            << "not in range: " << value << "\n  " << range << " has no "
            << elements.values[i];
        return problem;
      }
    }
    return "";
  }

  MLIRContext context;
  Random random;
  int64_t numChecked = 0, numOps = 0;
  /// How often each trend was stated.
  std::array<int64_t, 5> numTrends = {};
};

TEST_F(AxisInfoProperty, HoldsForEveryElement) {
  int64_t functions = getEnv("AXIS_INFO_FUNCTIONS", 3000);
  int64_t seed = getEnv("AXIS_INFO_SEED", 1);
  int problems = 0;
  for (int64_t done = 0; done < functions && problems < 3; ++done) {
    random.seed(seed * 1000003 + done);
    OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
    FuncOp func = RandomFunction(*module, random).build("f", 20);
    ASSERT_TRUE(succeeded(verify(*module)));
    func.walk([&](Operation *op) { numOps += op->getNumResults(); });
    ModuleAxisInfoAnalysis axisInfo(*module);
    DataFlowSolver ranges, rangesThatFit;
    using Overflow = ValueRangeAnalysis::Overflow;
    for (auto [solver, overflow] :
         {std::pair{&ranges, Overflow::Wraps},
          std::pair{&rangesThatFit, Overflow::NeverHappens}}) {
      solver->load<dataflow::DeadCodeAnalysis>();
      solver->load<dataflow::SparseConstantPropagation>();
      solver->load<ValueRangeAnalysis>(overflow);
      ASSERT_TRUE(succeeded(solver->initializeAndRun(*module)));
    }
    std::string problem = check(func, axisInfo, ranges, rangesThatFit);
    if (problem.empty())
      continue;
    ++problems;
    std::string text;
    llvm::raw_string_ostream(text) << func;
    ADD_FAILURE() << "function " << done << " of seed " << seed << ": "
                  << problem << "\n"
                  << text;
  }
  std::cout << numOps << " expressions, " << numChecked << " values checked\n";
  std::cout << "trends of masks:";
  for (int64_t count : numTrends)
    std::cout << ' ' << count;
  std::cout << '\n';
  if (problems == 0 && functions >= 3000) {
    EXPECT_GT(numOps, 100000);
    for (int64_t count : numTrends)
      EXPECT_GT(count, 100);
  }
}

} // namespace
