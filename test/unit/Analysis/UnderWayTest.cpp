//===-- UnderWayTest.cpp - What runs on against running it ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Random programs are executed along all paths. What was executed while a copy,
// a store or a dot was under way must be what the analysis visits, and
// nothing else. Whether a sum is read too early must be what the verifier says.
// UNDER_WAY_SEED and UNDER_WAY_PROGRAMS run others, or more.
//
//===----------------------------------------------------------------------===//

#include "tile/Analysis/UnderWay.h"
#include "tile/Analysis/TokenOrigins.h"
#include "tile/Analysis/UnfinishedProducts.h"

#include "RandomAsyncProgram.h"
#include "ToyDialect.h"

#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"
#include <algorithm>
#include <cstdlib>
#include <gtest/gtest.h>
#include <map>
#include <set>

using namespace mlir;
using namespace mlir::triton;

namespace {

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

/// What all executions together show.
struct Facts {
  /// For each operation that starts something, what was executed meanwhile.
  std::map<Operation *, std::set<Operation *>> executed;
  /// For each wait, how many were behind what its tokens stand for.
  std::map<Operation *, unsigned> fewestBehind;
  /// What each token stood for.
  std::map<const void *, std::set<Operation *>> origins;
  /// Whether something read the sum of a dot before a wait gave it.
  bool readsUnfinished = false;
};

/// One execution, on a path that is chosen by numbers.
class Execution {
public:
  Execution(std::vector<unsigned> &choices, Facts &facts,
            const TokenOrigins &origins)
      : choices(choices), facts(facts), origins(origins) {}

  void run(Block &block) {
    for (Operation &op : block)
      run(&op);
  }

private:
  static constexpr unsigned kMostTrips = 4;

  /// Numbers of what was started; a token stands for some.
  using Numbers = std::set<size_t>;
  /// The buffer of a barrier, as it was made, and the number in it, if that is
  /// constant.
  using Barrier = std::tuple<size_t, std::optional<uint64_t>>;

  unsigned choose(unsigned count) {
    if (next == choices.size())
      choices.push_back(0);
    // The number of possibilities is kept beside the choice.
    unsigned choice = choices[next] % 16;
    choices[next++] = choice + 16 * count;
    return choice;
  }

  void run(Operation *op) {
    for (size_t number : underWay)
      facts.executed[starts[number]].insert(op);
    for (auto &[number, copy] : atBarriers)
      copy.executed.insert(op);
    for (auto &[number, work] : byTensorCores) {
      if (work.barriers.empty())
        facts.executed[starts[number]].insert(op);
      work.executed.insert(op);
    }
    if (runTensorCore(op) || runBarrier(op) || runProduct(op))
      return;
    if (isa<gpu::AsyncCopyGlobalToLocalOp>(op)) {
      size_t number = start(op);
      open.insert(number);
      copies.insert(number);
    } else if (isa<nvidia_gpu::AsyncTMACopyLocalToGlobalOp>(op)) {
      stores.push_back({start(op)});
    } else if (isa<gpu::AsyncCommitGroupOp>(op)) {
      groups.push_back(open);
      set(op->getResult(0), open);
      open.clear();
    } else if (auto wait = dyn_cast<gpu::AsyncWaitOp>(op)) {
      waitFor(op, groups, wait.getNum());
      // Its own token stands for nothing that must be waited for.
      values[op->getResult(0)] = {};
    } else if (auto wait = dyn_cast<nvidia_gpu::AsyncTMAStoreWaitOp>(op)) {
      waitFor(op, stores, wait.getPendings());
    } else if (isa<toy::WaitForCopiesOp>(op)) {
      for (size_t number : values[op->getOperand(0)])
        underWay.erase(number);
      values[op->getResult(0)] = {};
    } else if (auto select = dyn_cast<arith::SelectOp>(op)) {
      // Whichever it is: it surely stands for what both do.
      Numbers both;
      Numbers one = values[select.getTrueValue()],
              other = values[select.getFalseValue()];
      std::set_intersection(one.begin(), one.end(), other.begin(), other.end(),
                            std::inserter(both, both.begin()));
      set(select.getResult(), both);
    } else if (isa<scf::IfOp>(op)) {
      Region &region = op->getRegion(choose(2));
      run(region.front());
      bind(op->getResults(),
           valuesOf(region.front().getTerminator()->getOperands()));
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      std::vector<Numbers> carried = valuesOf(loop.getInitArgs());
      for (unsigned n = choose(kMostTrips + 1); n; --n) {
        bind(loop.getRegionIterArgs(), carried);
        run(*loop.getBody());
        carried = valuesOf(loop.getYieldedValues());
      }
      bind(loop.getResults(), carried);
    }
  }

  /// All that was started before arrives, too.
  bool runTensorCore(Operation *op) {
    auto copy = dyn_cast<nvidia_gpu::TMEMCopyOp>(op);
    if (!copy && !isa<nvidia_gpu::TCGen5CommitOp>(op))
      return false;
    if (copy) {
      byTensorCores[starts.size()] = {};
      starts.push_back(op);
    }
    if (!copy || copy.getBarrier())
      for (auto &[number, work] : byTensorCores)
        work.barriers.insert(getBarrier(op));
    return true;
  }

  /// Nobody can wait any more for what arrives at barriers that are gone.
  void dropBarriers(size_t buffer) {
    for (auto it = byTensorCores.begin(); it != byTensorCores.end();) {
      std::set<Barrier> &barriers = it->second.barriers;
      bool any = !barriers.empty();
      std::erase_if(barriers, [&](const Barrier &barrier) {
        return std::get<0>(barrier) == buffer;
      });
      it = any && barriers.empty() ? byTensorCores.erase(it) : std::next(it);
    }
  }

  bool runBarrier(Operation *op) {
    if (isa<gpu::LocalAllocOp>(op)) {
      if (bufferAt.count(op))
        dropBarriers(bufferAt[op]);
      bufferAt[op] = numBuffers++;
    } else if (isa<nvidia_gpu::AsyncTMACopyGlobalToLocalOp>(op)) {
      size_t number = starts.size();
      starts.push_back(op);
      atBarriers[number].barrier = getBarrier(op);
    } else if (isa<nvidia_gpu::AsyncCopyMbarrierArriveOp>(op)) {
      Barrier barrier = getBarrier(op);
      for (size_t number : underWay)
        if (copies.count(number))
          announced[number].insert(barrier);
    } else if (auto wait = dyn_cast<nvidia_gpu::WaitBarrierOp>(op)) {
      Barrier barrier = getBarrier(op);
      if (!wait.getPred() || choose(2))
        waitAt(barrier);
    } else {
      return isa<gpu::MemDescIndexOp>(op);
    }
    return true;
  }

  Barrier getBarrier(Operation *op) {
    for (Value operand : op->getOperands())
      if (auto index = operand.getDefiningOp<gpu::MemDescIndexOp>()) {
        size_t buffer = bufferAt[index.getSrc().getDefiningOp()];
        APInt number;
        if (matchPattern(index.getIndex(), m_ConstantInt(&number)))
          return {buffer, number.getZExtValue()};
        return {buffer, std::nullopt};
      }
    llvm_unreachable("all barriers are parts of buffers");
  }

  /// Where an index is not constant, it is any.
  bool isSame(const Barrier &one, const Barrier &other) {
    auto [buffer, number] = one;
    auto [otherBuffer, otherNumber] = other;
    if (buffer != otherBuffer)
      return false;
    return number && otherNumber ? number == otherNumber : choose(2) == 1;
  }

  void waitAt(const Barrier &barrier) {
    for (auto it = atBarriers.begin(); it != atBarriers.end();) {
      if (!isSame(it->second.barrier, barrier)) {
        ++it;
        continue;
      }
      facts.executed[starts[it->first]].insert(it->second.executed.begin(),
                                               it->second.executed.end());
      it = atBarriers.erase(it);
    }
    for (auto &[number, barriers] : announced)
      for (const Barrier &known : barriers)
        if (underWay.count(number) && isSame(known, barrier))
          underWay.erase(number);
    std::erase_if(byTensorCores, [&](auto &entry) {
      auto &[number, work] = entry;
      bool ends = false;
      for (const Barrier &known : work.barriers)
        ends |= isSame(known, barrier);
      if (ends)
        facts.executed[starts[number]].insert(work.executed.begin(),
                                              work.executed.end());
      return ends;
    });
  }

  bool runProduct(Operation *op) {
    if (auto product = dyn_cast<nvidia_gpu::WarpGroupDotOp>(op)) {
      values[product.getD()] = {};
      if (product.getIsAsync())
        products.push_back({start(op)});
      else
        waitFor(op, products, 0);
    } else if (auto wait = dyn_cast<nvidia_gpu::WarpGroupDotWaitOp>(op)) {
      waitFor(op, products, wait.getPendings());
      // What is done can be read from here on, by its new name.
      Numbers left;
      for (size_t number : values[wait.getInputs().front()])
        if (underWay.count(number))
          left.insert(number);
      values[wait.getOutputs().front()] = left;
    } else if (isa<arith::NegFOp>(op)) {
      facts.readsUnfinished |= !values[op->getOperand(0)].empty();
      values[op->getResult(0)] = {};
    } else {
      return false;
    }
    return true;
  }

  size_t start(Operation *op) {
    size_t number = starts.size();
    starts.push_back(op);
    underWay.insert(number);
    set(op->getResult(0), {number});
    return number;
  }

  std::vector<Numbers> valuesOf(ValueRange from) {
    std::vector<Numbers> result;
    for (Value value : from)
      result.push_back(values[value]);
    return result;
  }

  void bind(ValueRange to, const std::vector<Numbers> &numbers) {
    for (auto [value, its] : llvm::zip(to, numbers))
      set(value, its);
  }

  void set(Value value, const Numbers &numbers) {
    values[value] = numbers;
    for (size_t number : numbers)
      facts.origins[value.getAsOpaquePointer()].insert(starts[number]);
  }

  /// All but the last `left` groups are done.
  void waitFor(Operation *wait, std::vector<Numbers> &groups, unsigned left) {
    for (size_t i = 0; i < groups.size(); ++i)
      for (Value token : wait->getOperands())
        for (size_t number : groups[i])
          if (underWay.count(number) && values[token].count(number) &&
              origins.get(token).starts.contains(starts[number])) {
            unsigned behind = groups.size() - 1 - i;
            auto [it, isNew] = facts.fewestBehind.insert({wait, behind});
            it->second = std::min(it->second, behind);
          }
    for (size_t i = 0; i + left < groups.size(); ++i)
      for (size_t number : groups[i])
        underWay.erase(number);
  }

  /// A copy that arrives at a barrier. What it meets counts only if somebody
  /// waits for it.
  struct AtBarrier {
    Barrier barrier;
    std::set<Operation *> executed = {};
  };

  std::vector<unsigned> &choices;
  Facts &facts;
  const TokenOrigins &origins;
  size_t next = 0;
  std::vector<Operation *> starts;
  Numbers underWay, open, copies;
  std::vector<Numbers> groups, stores, products;
  llvm::DenseMap<Value, Numbers> values;
  llvm::DenseMap<Operation *, size_t> bufferAt;
  size_t numBuffers = 0;
  std::map<size_t, AtBarrier> atBarriers;
  /// What tensor cores do. Before anything arrives behind it, what it meets
  /// counts in any case.
  struct ByTensorCores {
    std::set<Barrier> barriers = {};
    std::set<Operation *> executed = {};
  };
  std::map<size_t, ByTensorCores> byTensorCores;
  /// The barriers at which threads arrive for copies.
  std::map<size_t, std::set<Barrier>> announced;
};

/// Executes on all paths; false if there are too many.
bool executeAll(Block &block, Facts &facts, const TokenOrigins &origins) {
  std::vector<unsigned> choices;
  for (unsigned n = 0; n < 3000; ++n) {
    Execution(choices, facts, origins).run(block);
    while (!choices.empty() && choices.back() % 16 + 1 == choices.back() / 16)
      choices.pop_back();
    if (choices.empty())
      return true;
    ++choices.back();
  }
  return false;
}

//===----------------------------------------------------------------------===//
// The test
//===----------------------------------------------------------------------===//

using Visits = std::map<Operation *, std::set<Operation *>>;

Visits visitAll(FuncOp func) {
  Visits visits;
  SharedMemoryAliasAnalysis aliases(func);
  func.walk([&](Operation *op) {
    if (getAsyncWork(op))
      followUnderWay(op, aliases,
                     {.visit = [&](Operation *at) { visits[op].insert(at); }});
  });
  return visits;
}

/// Leaves control flow out, which has two forms.
Visits withoutControlFlow(const Visits &visits) {
  Visits result;
  for (auto &[start, ops] : visits)
    for (Operation *op : ops)
      if (isa<gpu::TritonGPUDialect, nvidia_gpu::TritonNvidiaGPUDialect>(
              op->getDialect()))
        result[start].insert(op);
  return result;
}

bool isAnyReadEarly(FuncOp func) {
  ScopedDiagnosticHandler quiet(func.getContext(),
                                [](Diagnostic &) { return success(); });
  return failed(verifyUnfinishedProducts(func));
}

uint64_t getNumber(const char *name, uint64_t otherwise) {
  const char *text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

std::string show(Operation *op) {
  std::string text;
  llvm::raw_string_ostream(text) << *op;
  return text;
}

void check(MLIRContext &context, uint64_t seed) {
  std::string text = test::RandomAsyncProgram(seed).getText();
  SCOPED_TRACE("seed " + std::to_string(seed) + text);
  auto module = parseSourceString<ModuleOp>(text, &context);
  ASSERT_TRUE(module);
  FuncOp func = *module->getOps<FuncOp>().begin();
  TokenOrigins origins(func);
  Facts facts;
  bool areAll = executeAll(func.getBody().front(), facts, origins);

  Visits visits = visitAll(func);
  for (auto &[start, executed] : facts.executed)
    for (Operation *op : executed)
      EXPECT_TRUE(visits[start].count(op))
          << "missed at " << show(op) << " from " << show(start);
  for (auto &[start, visited] : visits)
    for (Operation *op : visited)
      EXPECT_TRUE(!areAll || facts.executed[start].count(op))
          << "too long at " << show(op) << " from " << show(start);
  for (auto &[token, starts] : facts.origins) {
    const auto &found = origins.get(Value::getFromOpaquePointer(token));
    if (isa_and_nonnull<gpu::AsyncCommitGroupOp>(
            Value::getFromOpaquePointer(token).getDefiningOp()))
      continue;
    for (Operation *start : starts)
      EXPECT_TRUE(found.isUnknown || found.starts.contains(start) ||
                  isa<gpu::AsyncCopyGlobalToLocalOp>(start));
  }
  for (auto &[wait, behind] : facts.fewestBehind) {
    std::optional<unsigned> most = origins.getMaxPendings(wait);
    ASSERT_TRUE(most);
    EXPECT_LE(*most, behind) << show(wait);
    bool isKnown = llvm::none_of(wait->getOperands(), [&](Value token) {
      return origins.get(token).isUnknown;
    });
    if (areAll && isKnown)
      EXPECT_EQ(*most, behind) << show(wait);
  }

  bool isReadEarly = isAnyReadEarly(func);
  if (facts.readsUnfinished)
    EXPECT_TRUE(isReadEarly);
  else if (areAll)
    EXPECT_FALSE(isReadEarly);

  // The same in blocks that branch.
  Visits expected = withoutControlFlow(visits);
  PassManager passes(&context);
  passes.addPass(createSCFToControlFlowPass());
  ASSERT_TRUE(succeeded(passes.run(*module)));
  EXPECT_EQ(expected, withoutControlFlow(visitAll(func)));
  EXPECT_EQ(isReadEarly, isAnyReadEarly(func));
}

TEST(UnderWay, AsExecuted) {
  DialectRegistry registry;
  registry
      .insert<TritonDialect, gpu::TritonGPUDialect,
              nvidia_gpu::TritonNvidiaGPUDialect, toy::ToyDialect,
              arith::ArithDialect, cf::ControlFlowDialect, scf::SCFDialect>();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  uint64_t first = getNumber("UNDER_WAY_SEED", 1),
           count = getNumber("UNDER_WAY_PROGRAMS", 400);
  for (uint64_t seed = first; seed < first + count && !HasFailure(); ++seed)
    check(context, seed);
}

} // namespace
