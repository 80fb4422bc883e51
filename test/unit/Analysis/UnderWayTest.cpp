//===-- UnderWayTest.cpp - What runs on against running it ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Random programs start copies and stores, close groups and wait, in branches
// and loops that hand tokens on. They are executed along all paths. What was
// executed while a copy was under way must be what the analysis visits, and
// nothing else. UNDER_WAY_SEED and UNDER_WAY_PROGRAMS run others, or more.
//
//===----------------------------------------------------------------------===//

#include "tile/Analysis/UnderWay.h"

#include "ToyDialect.h"

#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"
#include <algorithm>
#include <cstdlib>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>

using namespace mlir;
using namespace mlir::triton;

namespace {

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

class RandomProgram {
public:
  explicit RandomProgram(uint64_t seed) : random(seed) {
    text = R"(
#A = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [2, 2], order = [1, 0]}>
!p = tensor<32x32x!tt.ptr<f16>, #blocked>
!b = !ttg.memdesc<32x32xf16, #A, #ttg.shared_memory, mutable>
!desc = !tt.tensordesc<tensor<32x32xf16, #A>>
!t = !ttg.async.token
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:90"} {
tt.func @f(%p: !p, %b: !b, %desc: !desc, %i: i32, %c: i1, %n: index) {
)";
    statements(2 + below(8), /*depth=*/0);
    text += "tt.return\n}\n}\n";
  }

  const std::string &getText() const { return text; }

private:
  uint64_t below(uint64_t count) { return random() % count; }
  std::string token() { return tokens[below(tokens.size())]; }
  std::string define() { return "%t" + std::to_string(numTokens++); }

  /// Up to two tokens, often none.
  std::string someTokens(StringRef before) {
    if (tokens.empty() || below(3) == 0)
      return "";
    return (before + token() + (below(3) ? "" : ", " + token()) + " ").str();
  }

  void statements(unsigned count, unsigned depth) {
    for (unsigned i = 0; i < count; ++i)
      statement(depth);
  }

  void statement(unsigned depth) {
    std::string name;
    switch (below(tokens.empty() ? 8 : depth < 2 ? 12 : 9)) {
    case 0:
    case 1:
      name = define();
      text += name + " = ttg.async_copy_global_to_local %p, %b : !p -> !b\n";
      break;
    case 2:
    case 3:
      name = define();
      text +=
          name + " = ttg.async_commit_group " + someTokens("tokens ") + "\n";
      break;
    case 4:
      name = define();
      text += name + " = ttg.async_wait " + someTokens("") +
              "{num = " + std::to_string(below(3)) + " : i32}\n";
      break;
    case 5:
    case 6:
      name = define();
      text += name + " = ttnvgpu.async_tma_copy_local_to_global %desc[%i, %i] "
                     "%b : !desc, !b -> !t\n";
      break;
    case 7:
      text += "ttnvgpu.async_tma_store_wait " + someTokens("") +
              "{pendings = " + std::to_string(below(3)) + " : i32}\n";
      return;
    case 8:
      // A wait that counts nothing: the tokens alone decide.
      name = define();
      text += name + " = toy.wait_for_copies " + token() + "\n";
      break;
    case 9:
      name = define();
      text +=
          name + " = arith.select %c, " + token() + ", " + token() + " : !t\n";
      break;
    case 10:
      name = branch(depth);
      break;
    case 11:
      loop(depth);
      return;
    }
    tokens.push_back(name);
  }

  std::string branch(unsigned depth) {
    std::string name = define();
    text += name + " = scf.if %c -> !t {\n";
    for (StringRef end : {"} else {\n", "}\n"}) {
      size_t visible = tokens.size();
      statements(below(4), depth + 1);
      text += ("scf.yield " + token() + " : !t\n" + end).str();
      tokens.resize(visible);
    }
    return name;
  }

  void loop(unsigned depth) {
    std::string name = define(), first = define(), second = define();
    text += name + ":2 = scf.for " + define() +
            " = %n to %n step %n iter_args(" + first + " = " + token() + ", " +
            second + " = " + token() + ") -> (!t, !t) {\n";
    size_t visible = tokens.size();
    tokens.push_back(first);
    tokens.push_back(second);
    statements(1 + below(5), depth + 1);
    text += "scf.yield " + token() + ", " + token() + " : !t, !t\n}\n";
    tokens.resize(visible);
    tokens.push_back(name + "#0");
    tokens.push_back(name + "#1");
  }

  std::mt19937_64 random;
  std::string text;
  std::vector<std::string> tokens;
  unsigned numTokens = 0;
};

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
    if (isa<gpu::AsyncCopyGlobalToLocalOp>(op)) {
      open.insert(start(op));
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
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      Region &region = op->getRegion(choose(2));
      run(region.front());
      set(op->getResult(0),
          Numbers(values[region.front().getTerminator()->getOperand(0)]));
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      std::vector<Numbers> carried;
      for (Value init : loop.getInitArgs())
        carried.push_back(values[init]);
      for (unsigned n = choose(kMostTrips + 1); n; --n) {
        for (auto [arg, value] : llvm::zip(loop.getRegionIterArgs(), carried))
          set(arg, value);
        run(*loop.getBody());
        for (auto [value, yielded] :
             llvm::zip(carried, loop.getYieldedValues()))
          value = values[yielded];
      }
      for (auto [result, value] : llvm::zip(loop.getResults(), carried))
        set(result, value);
    }
  }

  size_t start(Operation *op) {
    size_t number = starts.size();
    starts.push_back(op);
    underWay.insert(number);
    set(op->getResult(0), {number});
    return number;
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

  std::vector<unsigned> &choices;
  Facts &facts;
  const TokenOrigins &origins;
  size_t next = 0;
  std::vector<Operation *> starts;
  Numbers underWay, open;
  std::vector<Numbers> groups, stores;
  llvm::DenseMap<Value, Numbers> values;
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
  func.walk([&](Operation *op) {
    if (getAsyncWork(op))
      followUnderWay(op,
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
  std::string text = RandomProgram(seed).getText();
  SCOPED_TRACE("seed " + std::to_string(seed) + text);
  auto module = parseSourceString<ModuleOp>(text, &context);
  ASSERT_TRUE(module);
  FuncOp func = *module->getOps<FuncOp>().begin();
  TokenOrigins origins(func);
  Facts facts;
  bool areAll = executeAll(func.getBody().front(), facts, origins);

  Visits visits = visitAll(func);
  for (auto &[start, executed] : facts.executed) {
    for (Operation *op : executed)
      EXPECT_TRUE(visits[start].count(op))
          << "missed at " << show(op) << " from " << show(start);
    for (Operation *op : visits[start])
      EXPECT_TRUE(!areAll || executed.count(op))
          << "too long at " << show(op) << " from " << show(start);
  }
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
    std::optional<unsigned> most = getMaxPendings(wait, origins);
    ASSERT_TRUE(most);
    EXPECT_LE(*most, behind) << show(wait);
    bool isKnown = llvm::none_of(wait->getOperands(), [&](Value token) {
      return origins.get(token).isUnknown;
    });
    if (areAll && isKnown)
      EXPECT_EQ(*most, behind) << show(wait);
  }

  // The same in blocks that branch.
  Visits expected = withoutControlFlow(visits);
  PassManager passes(&context);
  passes.addPass(createSCFToControlFlowPass());
  ASSERT_TRUE(succeeded(passes.run(*module)));
  EXPECT_EQ(expected, withoutControlFlow(visitAll(func)));
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
