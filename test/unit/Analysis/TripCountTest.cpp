//===-- TripCountTest.cpp - Trips of loops against counting them ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Everything that TripCount says of loops over all bounds and steps of a few
// bits, and over those near the ends of 32 and 64 bits, is compared with
// counting.
//
//===----------------------------------------------------------------------===//

#include "Evaluate.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "tile/Analysis/TripCount.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include <gtest/gtest.h>
#include <random>

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::test;

namespace {

using Wide = __int128;

constexpr unsigned kMostAhead = 5;
/// So many iterations at a time.
constexpr unsigned kFactor = 3;

/// The numbers of a type.
struct Numbers {
  unsigned width;
  bool isUnsigned;

  Wide least() const { return isUnsigned ? 0 : -(Wide(1) << (width - 1)); }
  Wide greatest() const {
    return (Wide(1) << (isUnsigned ? width : width - 1)) - 1;
  }
};

/// A loop, and what of it is constant.
struct Case {
  Numbers numbers;
  Wide lower, upper, step;
  bool knowsLower, knowsUpper, knowsStep;
};

/// A function that computes all that can be asked of a loop.
class Questions {
public:
  Questions(MLIRContext *context, const Case &bounds)
      : bounds(bounds), loc(UnknownLoc::get(context)),
        module(ModuleOp::create(loc)), builder(context) {
    Type type = builder.getIntegerType(bounds.numbers.width);
    builder.setInsertionPointToEnd(module->getBody());
    auto func =
        FuncOp::create(builder, loc, "f",
                       builder.getFunctionType({type, type, type, type}, {}));
    block = func.addEntryBlock();
    builder.setInsertionPointToStart(block);
    auto bound = [&](unsigned arg, bool isKnown, Wide value) -> Value {
      if (!isKnown)
        return block->getArgument(arg);
      return arith::ConstantOp::create(
          builder, loc,
          builder.getIntegerAttr(
              type, APInt(bounds.numbers.width, uint64_t(value),
                          /*isSigned=*/false, /*implicitTrunc=*/true)));
    };
    Value lower = bound(0, bounds.knowsLower, bounds.lower);
    Value upper = bound(1, bounds.knowsUpper, bounds.upper);
    Value step = bound(2, bounds.knowsStep, bounds.step);
    loop =
        scf::ForOp::create(builder, loc, lower, upper, step, ValueRange(),
                           /*bodyBuilder=*/nullptr, bounds.numbers.isUnsigned);
    builder.setInsertionPointToEnd(block);
    ReturnOp::create(builder, loc);
    builder.setInsertionPoint(loop);
    TripCount trips(loop);
    known = trips.getKnown();
    trips.prepareLater(kMostAhead);
    trips.prepareNext();
    Value counter = block->getArgument(3);
    count = trips.getCount(builder);
    for (unsigned ahead : llvm::seq(kMostAhead + 1)) {
      has.push_back(trips.has(builder, ahead));
      counters.push_back(trips.getCounter(builder, ahead));
      Value number = arith::ConstantOp::create(
          builder, loc, builder.getIntegerAttr(type, ahead));
      countersOfNumbers.push_back(trips.getCounter(builder, number));
      hasLater.push_back(trips.hasLater(builder, counter, ahead));
      later.push_back(trips.getLater(builder, counter, ahead));
    }
    hasNext = trips.hasNext(builder, counter);
    hasPrevious = trips.hasPrevious(builder, counter);
    beforeFirst = trips.getCounterBeforeFirst(builder);
    second = trips.getSecondCounter(builder);
    groups = trips.getGroups(kFactor);
    trips.prepareNextOfAny();
    hasNextOfAny = trips.hasNextOfAny(builder, counter);
    upperIf[0] = trips.getUpperBoundIf(builder, trips.has(builder, 0));
    upperIf[1] = trips.getUpperBoundIf(builder, hasPrevious);
    loop.erase();
  }

  /// With these bounds, of which some may be those of the constants.
  void check(Wide lower, Wide upper, Wide step, Wide mostTrips) {
    std::vector<Wide> iterations;
    for (Wide i = lower; i < upper && Wide(iterations.size()) <= mostTrips;
         i += step)
      iterations.push_back(i);
    auto describe = [&] {
      return "from " + std::to_string(int64_t(lower)) + " to " +
             std::to_string(int64_t(upper)) + " step " +
             std::to_string(int64_t(step)) + ", " +
             std::to_string(bounds.numbers.width) +
             (bounds.numbers.isUnsigned ? " bits unsigned" : " bits") +
             (bounds.knowsLower ? ", known lower" : "") +
             (bounds.knowsUpper ? ", known upper" : "") +
             (bounds.knowsStep ? ", known step" : "");
    };
    bool isWhole = Wide(iterations.size()) <= mostTrips;
    size_t last = iterations.size();
    std::vector<Wide> asked = iterations;
    if (asked.empty())
      asked.push_back(lower); // Where nothing is asked of counters.
    // The ends are what matters.
    if (asked.size() > 12)
      asked.erase(asked.begin() + 6, asked.end() - 6);
    for (Wide counter : asked) {
      llvm::DenseMap<Value, int64_t> values;
      auto visit = [&](Value value, const Elements &elements) {
        values[value] = elements.values[0];
      };
      Evaluator evaluator(visit);
      for (auto [i, value] :
           llvm::enumerate(std::array<Wide, 4>{lower, upper, step, counter})) {
        Elements elements = Elements::of(block->getArgument(i).getType());
        elements.values[0] = wrap(uint64_t(value), bounds.numbers.width);
        evaluator.set(block->getArgument(i), elements);
      }
      ASSERT_TRUE(evaluator.run(*block)) << describe();
      auto get = [&](Value value) { return values.at(value); };
      auto wrapped = [&](Wide value) {
        return wrap(uint64_t(value), bounds.numbers.width);
      };
      if (isWhole) {
        ASSERT_EQ(uint64_t(get(count)), last) << describe();
        if (known)
          ASSERT_EQ(known->getZExtValue(), last) << describe();
      }
      if (groups && isWhole)
        checkGroups(iterations, lower, upper, step, withSign(get(groups->end)),
                    withSign(get(groups->step)));
      for (unsigned ahead : llvm::seq(kMostAhead + 1)) {
        ASSERT_EQ(get(has[ahead]), iterations.size() > ahead)
            << ahead << ' ' << describe();
        ASSERT_EQ(get(counters[ahead]), wrapped(lower + ahead * step))
            << describe();
        ASSERT_EQ(get(countersOfNumbers[ahead]), wrapped(lower + ahead * step))
            << describe();
        ASSERT_EQ(get(later[ahead]), wrapped(counter + ahead * step))
            << describe();
        if (iterations.empty())
          continue;
        ASSERT_EQ(get(hasLater[ahead]), counter + ahead * step < upper)
            << ahead << " after " << int64_t(counter) << ' ' << describe();
      }
      ASSERT_EQ(get(beforeFirst), wrapped(lower - step)) << describe();
      ASSERT_EQ(get(upperIf[0]), wrapped(iterations.empty() ? lower : upper))
          << describe();
      ASSERT_EQ(get(upperIf[1]), wrapped(counter != lower ? upper : lower))
          << describe();
      if (iterations.empty())
        continue;
      ASSERT_EQ(get(hasPrevious), counter != lower) << describe();
      ASSERT_EQ(get(hasNext), counter + step < upper) << describe();
      ASSERT_EQ(get(hasNextOfAny), counter + step < upper) << describe();
      // The rest of the loop is as long as it should be.
      Wide start = withSign(get(second));
      if (iterations.size() > 1)
        ASSERT_EQ(start, iterations[1]) << describe();
      else
        ASSERT_GE(start, upper) << describe();
    }
  }

private:
  /// A number of the type of the loop.
  Wide withSign(int64_t value) const {
    return bounds.numbers.isUnsigned ? Wide(value) & bounds.numbers.greatest()
                                     : Wide(value);
  }

  /// Groups of iterations, and the iterations behind them, are all there are.
  static void checkGroups(const std::vector<Wide> &iterations, Wide lower,
                          Wide upper, Wide step, Wide end, Wide groupStep) {
    std::vector<Wide> found;
    ASSERT_GT(groupStep, 0);
    for (Wide i = lower; i < end; i += groupStep)
      for (unsigned j : llvm::seq(kFactor))
        found.push_back(i + j * step);
    for (Wide i = end; i < upper; i += step)
      found.push_back(i);
    ASSERT_EQ(found.size(), iterations.size());
    ASSERT_TRUE(found == iterations);
  }

  Case bounds;
  Location loc;
  OwningOpRef<ModuleOp> module;
  OpBuilder builder;
  Block *block;
  scf::ForOp loop;
  std::optional<APInt> known;
  Value count, hasNext, hasNextOfAny, hasPrevious, beforeFirst, second;
  std::array<Value, 2> upperIf;
  std::optional<TripCount::Groups> groups;
  std::vector<Value> has, counters, countersOfNumbers, hasLater, later;
};

class TripCountTest : public testing::TestWithParam<bool> {
protected:
  TripCountTest() {
    context.loadDialect<TritonDialect, arith::ArithDialect, scf::SCFDialect>();
  }
  MLIRContext context;
};

TEST_P(TripCountTest, AllOfFourBits) {
  Numbers numbers{4, GetParam()};
  Wide least = numbers.least(), greatest = numbers.greatest();
  for (unsigned known : llvm::seq(8u)) {
    bool knowsLower = known & 1, knowsUpper = known & 2, knowsStep = known & 4;
    auto forEach = [](bool really, Wide from, Wide to, auto body) {
      if (!really)
        return body(from);
      for (Wide value = from; value <= to; ++value)
        body(value);
    };
    // Functions for all constants, each for all that is none.
    forEach(knowsLower, least, greatest, [&](Wide lower) {
      forEach(knowsUpper, least, greatest, [&](Wide upper) {
        forEach(knowsStep, 1, greatest, [&](Wide step) {
          Questions questions(&context, {numbers, lower, upper, step,
                                         knowsLower, knowsUpper, knowsStep});
          forEach(!knowsLower, lower, greatest, [&](Wide l) {
            forEach(!knowsUpper, upper, greatest, [&](Wide u) {
              forEach(!knowsStep, step, greatest, [&](Wide s) {
                if (!HasFatalFailure())
                  questions.check(l, u, s, 16);
              });
            });
          });
        });
      });
    });
  }
}

TEST_P(TripCountTest, EndsOfWideTypes) {
  std::mt19937_64 random(1);
  for (unsigned width : {8, 16, 32, 64})
    for (int i = 0; i < 1500 && !HasFatalFailure(); ++i) {
      Numbers numbers{width, GetParam()};
      Wide least = numbers.least(), greatest = numbers.greatest();
      auto pick = [&]() -> Wide {
        Wide small = random() % 9;
        switch (random() % 6) {
        case 0:
          return least + small;
        case 1:
          return greatest - small;
        case 2:
          return std::max<Wide>(least, 4 - small);
        case 3:
          return least / 2 + small;
        case 4:
          return greatest / 2 + small;
        default:
          return least + Wide(random()) % (greatest - least + 1);
        }
      };
      Wide lower = pick(), upper = pick(), step = pick();
      if (step <= 0)
        step = 1 + Wide(random() % 7);
      // As far as anybody can count.
      if (upper > lower && (upper - lower) / step > 1000)
        upper = std::min<Wide>(upper, lower + step * Wide(random() % 40));
      unsigned known = random() % 8;
      Questions(&context, {numbers, lower, upper, step, bool(known & 1),
                           bool(known & 2), bool(known & 4)})
          .check(lower, upper, step, 2000);
    }
}

INSTANTIATE_TEST_SUITE_P(Signs, TripCountTest, testing::Bool(),
                         [](const testing::TestParamInfo<bool> &info) {
                           return info.param ? "Unsigned" : "Signed";
                         });

} // namespace
