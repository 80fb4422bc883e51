//===-- ExpandTest.cpp - Expanded loops against the loops they were -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Random loops are expanded by random schedules. Before and after, they must
// come to the same results, and execute the same effects: each of them with the
// same values in the same order. What iterations that do not exist compute may
// not be seen. EXPAND_SEED and EXPAND_LOOPS run others, or more of them.
//
//===----------------------------------------------------------------------===//

#include "../../Analysis/Evaluate.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Verifier.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/Transforms/Expand.h"
#include <cstdlib>
#include <gtest/gtest.h>
#include <map>
#include <random>

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::test;

namespace {

/// What stands for an effect: a load that has a number.
constexpr llvm::StringLiteral kEffectAttr = "test.effect";

/// A function with a random loop.
class RandomLoop {
public:
  RandomLoop(MLIRContext *context, uint64_t seed)
      : random(seed), loc(UnknownLoc::get(context)),
        module(ModuleOp::create(loc)), b(context) {
    width = pick({8, 16, 32, 32, 64});
    isUnsigned = oneIn(2);
    chooseBounds();
    build();
  }

  ModuleOp getModule() { return *module; }
  scf::ForOp getLoop() {
    scf::ForOp found;
    module->walk([&](scf::ForOp loop) { found = loop; });
    return found;
  }

  /// Stages and clusters that often go together.
  gpu::LoopSchedule choosePlaces() {
    int maxStage = 1 + below(4), numClusters = 1 + below(4);
    gpu::LoopSchedule schedule(maxStage);
    scf::ForOp loop = getLoop();
    for (Operation &op : loop.getBody()->without_terminator()) {
      int stage = below(3) ? 0 : below(maxStage + 1);
      for (Value operand : op.getOperands())
        if (Operation *def = operand.getDefiningOp();
            def && def->getBlock() == loop.getBody())
          stage = std::max(stage, schedule.get(def).stage);
      if (oneIn(3))
        stage = std::min(maxStage, stage + 1);
      // Later stages often come first.
      int cluster = oneIn(3) ? below(numClusters) : maxStage - stage;
      schedule.set(&op, {stage, cluster});
    }
    return schedule;
  }

  /// The results of the function, and what each effect saw.
  using Trace =
      std::pair<std::vector<int64_t>, std::map<int64_t, std::vector<int64_t>>>;

  std::optional<Trace> run() {
    FuncOp func = *module->getOps<FuncOp>().begin();
    Block &block = func.getBody().front();
    llvm::DenseMap<Value, Elements> values;
    Trace trace;
    bool isDefined = true;
    auto visit = [&](Value value, const Elements &elements) {
      values[value] = elements;
      auto load = value.getDefiningOp<LoadOp>();
      if (!load)
        return;
      if (Value mask = load.getMask()) {
        isDefined &= values[mask].known[0];
        if (!values[mask].values[0])
          return;
      }
      isDefined &= elements.known[0];
      auto number = load->getAttrOfType<IntegerAttr>(kEffectAttr);
      trace.second[number.getInt()].push_back(elements.values[0]);
    };
    Evaluator evaluator(visit);
    for (auto [arg, value] : llvm::zip_equal(block.getArguments(), arguments)) {
      Elements elements = Elements::of(arg.getType());
      elements.values[0] = wrap(value, elements.width);
      evaluator.set(arg, elements);
    }
    if (!evaluator.run(block))
      return std::nullopt;
    for (Value result : block.getTerminator()->getOperands()) {
      isDefined &= values[result].known[0];
      trace.first.push_back(values[result].values[0]);
    }
    return isDefined ? std::optional(trace) : std::nullopt;
  }

private:
  uint64_t below(uint64_t count) { return random() % count; }
  bool oneIn(uint64_t count) { return below(count) == 0; }
  template <typename T> T pick(std::initializer_list<T> values) {
    return values.begin()[below(values.size())];
  }
  Value pick(ArrayRef<Value> values) { return values[below(values.size())]; }

  /// Of few iterations, often near the ends of the type.
  void chooseBounds() {
    using Wide = __int128;
    Wide least = isUnsigned ? 0 : -(Wide(1) << (width - 1));
    Wide greatest = (Wide(1) << (isUnsigned ? width : width - 1)) - 1;
    Wide trips = below(8);
    Wide step = pick<Wide>(
        {1, 1, 2, 5, (greatest - least) / 3, (greatest - least) / 5});
    step = std::min(step, greatest);
    if (trips > 0)
      trips = std::min(trips, (greatest - least - 1) / step + 1);
    // The last counter is as far as that, the bound up to a step more.
    Wide last = trips > 0 ? (trips - 1) * step : 0;
    Wide room = std::min<Wide>(step, greatest - least - last);
    Wide length = trips > 0 ? last + 1 + Wide(below(uint64_t(room))) : 0;
    Wide free = greatest - least - length;
    Wide first = pick<Wide>(
        {least, least + free, std::max<Wide>(least, -1), least + free / 2});
    first = std::min(first, least + free);
    Wide end = first + length;
    if (trips == 0 && oneIn(2) && first > least)
      end = least + Wide(below(3)) % (first - least);
    arguments = {uint64_t(first), uint64_t(end), uint64_t(step)};
  }

  void build() {
    b.setInsertionPointToEnd(module->getBody());
    Type type = b.getIntegerType(width), i32 = b.getI32Type();
    Type pointer = PointerType::get(i32, 1);
    numArgs = 1 + below(4);
    SmallVector<Type> inputs{type, type, type, pointer, i32, i32};
    arguments.append({1 << 20, random(), random()});
    SmallVector<Type> results(numArgs, i32);
    auto func = FuncOp::create(b, loc, "f", b.getFunctionType(inputs, results));
    Block *block = func.addEntryBlock();
    b.setInsertionPointToStart(block);
    auto bound = [&](unsigned arg) -> Value {
      if (oneIn(2))
        return block->getArgument(arg);
      return constant(type, arguments[arg]);
    };
    outside = {block->getArgument(4), block->getArgument(5),
               constant(i32, below(100))};
    base = block->getArgument(3);
    SmallVector<Value> inits;
    for (unsigned i = 0; i < numArgs; ++i)
      inits.push_back(pick(outside));
    Value lower = bound(0), upper = bound(1), step = bound(2);
    auto loop = scf::ForOp::create(b, loc, lower, upper, step, inits,
                                   /*bodyBuilder=*/nullptr, isUnsigned);
    fill(loop);
    b.setInsertionPointToEnd(block);
    // What is not used after the loop need not be kept.
    SmallVector<Value> returned;
    for (Value result : loop.getResults())
      returned.push_back(oneIn(3) ? outside.front() : result);
    ReturnOp::create(b, loc, returned);
  }

  Value constant(Type type, uint64_t value) {
    return arith::ConstantOp::create(
        b, loc,
        b.getIntegerAttr(type, APInt(type.getIntOrFloatBitWidth(), value,
                                     /*isSigned=*/false,
                                     /*implicitTrunc=*/true)));
  }

  void fill(scf::ForOp loop) {
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> values(loop.getRegionIterArgs());
    // Its cast is an operation of the body as others are.
    Value counter = loop.getInductionVar();
    if (width > 32)
      counter = arith::TruncIOp::create(b, loc, b.getI32Type(), counter);
    else if (width < 32)
      counter = arith::ExtSIOp::create(b, loc, b.getI32Type(), counter);
    values.push_back(counter);
    values.append(outside.begin(), outside.end());
    int64_t numEffects = 0;
    for (int i = 0, count = 2 + below(8); i < count; ++i)
      values.push_back(makeValue(values, numEffects));
    SmallVector<Value> yielded;
    for (unsigned i = 0; i < numArgs; ++i) {
      // Often what was made last, and often another argument.
      size_t recent = std::min<size_t>(values.size(), 4);
      yielded.push_back(oneIn(3)   ? pick(values)
                        : oneIn(2) ? loop.getRegionIterArgs()[below(numArgs)]
                                   : pick(ArrayRef(values).take_back(recent)));
      if (yielded.back().getType() != b.getI32Type())
        yielded.back() = values.back();
    }
    if (!loop.getBody()->empty() &&
        loop.getBody()->back().hasTrait<mlir::OpTrait::IsTerminator>())
      loop.getBody()->back().erase();
    b.setInsertionPointToEnd(loop.getBody());
    scf::YieldOp::create(b, loc, yielded);
  }

  Value makeValue(ArrayRef<Value> values, int64_t &numEffects) {
    Value lhs = pick(values), rhs = pick(values);
    switch (below(5)) {
    case 0:
      return arith::AddIOp::create(b, loc, lhs, rhs);
    case 1:
      return arith::XOrIOp::create(b, loc, lhs, rhs);
    case 2:
      return arith::MulIOp::create(b, loc, lhs, rhs);
    case 3: {
      // What is in a region uses values of the body, too.
      Value condition =
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, lhs, rhs);
      return scf::IfOp::create(
                 b, loc, condition,
                 [&](OpBuilder &then, Location l) {
                   scf::YieldOp::create(then, l, {pick(values)});
                 },
                 [&](OpBuilder &otherwise, Location l) {
                   Value sum =
                       arith::AddIOp::create(otherwise, l, pick(values), rhs);
                   scf::YieldOp::create(otherwise, l, sum);
                 })
          .getResult(0);
    }
    default: {
      Value at = AddPtrOp::create(b, loc, base.getType(), base, lhs);
      auto load = LoadOp::create(b, loc, at, CacheModifier::NONE,
                                 EvictionPolicy::NORMAL, false);
      load->setAttr(kEffectAttr, b.getI64IntegerAttr(numEffects++));
      return load;
    }
    }
  }

  std::mt19937_64 random;
  Location loc;
  OwningOpRef<ModuleOp> module;
  OpBuilder b;
  unsigned width, numArgs = 0;
  bool isUnsigned;
  SmallVector<uint64_t> arguments;
  SmallVector<Value> outside;
  Value base;
};

/// Loads are masked, all else only computes.
Operation *mask(RewriterBase &rewriter, Operation *op, Value predicate, bool) {
  auto load = dyn_cast<LoadOp>(op);
  if (!load)
    return op;
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  Value zero = arith::ConstantOp::create(rewriter, op->getLoc(),
                                         rewriter.getZeroAttr(load.getType()));
  load.getMaskMutable().assign(predicate);
  load.getOtherMutable().assign(zero);
  return op;
}

uint64_t getSetting(const char *name, uint64_t otherwise) {
  const char *text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

TEST(ExpandTest, RandomLoops) {
  MLIRContext context;
  context.loadDialect<TritonDialect, arith::ArithDialect, scf::SCFDialect>();
  uint64_t first = getSetting("EXPAND_SEED", 0),
           count = getSetting("EXPAND_LOOPS", 20000), numExpanded = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    RandomLoop program(&context, seed);
    ASSERT_TRUE(succeeded(verify(program.getModule()))) << seed;
    std::optional<RandomLoop::Trace> before = program.run();
    ASSERT_TRUE(before) << seed;
    gpu::LoopSchedule schedule = program.choosePlaces();
    if (!gpu::whyNot(program.getLoop(), schedule).empty())
      continue;
    std::string text;
    llvm::raw_string_ostream os(text);
    os << "seed " << seed << "\n";
    schedule.write(program.getLoop());
    program.getModule().print(os);
    gpu::LoopSchedule::erase(program.getLoop());
    ASSERT_TRUE(succeeded(expand(program.getLoop(), schedule, mask))) << text;
    os << "becomes\n";
    program.getModule().print(os);
    ASSERT_TRUE(succeeded(verify(program.getModule()))) << text;
    std::optional<RandomLoop::Trace> after = program.run();
    ASSERT_TRUE(after) << text;
    ASSERT_EQ(before->first, after->first) << text;
    ASSERT_EQ(before->second, after->second) << text;
    ++numExpanded;
  }
  // Or the schedules are too random.
  EXPECT_GT(numExpanded, count / 4);
  RecordProperty("expanded", numExpanded);
}

} // namespace
