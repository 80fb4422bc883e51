//===-- ShortenLiveRanges.cpp - Compute where it is used ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The lowering computes tensor by tensor: all logarithms, then all squares,
// then their sum. A thread's elements of each tensor are alive at once. LLVM
// keeps this order, and ptxas only changes it nearby. This pass has each
// element follow its way to the sum before the next one starts.
//
// It moves arithmetic alone, within a block, and only two ways. What frees no
// more registers than it makes goes down to its first user. What frees more
// than it makes goes up to where its operands are known. No point of the block
// has more registers alive after such a move than before.
//
// Loads stay where they are, so that many are under way at once. If a thread
// cannot hold what they load, loads of global memory go down to their first
// users, too. What was loaded too early would be stored and loaded once more.
//
//===----------------------------------------------------------------------===//

#include "nvidia/Target/ShortenLiveRanges.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

#include <numeric>
#include <optional>
#include <queue>

using namespace llvm;

namespace {
constexpr unsigned kBitsOfRegister = 32;
/// With so few registers alive, other things decide how many blocks reside.
constexpr unsigned kLeastPeak = 32;
/// What may be left of the registers that are alive at once, in percent.
/// ptxas makes small changes of order by itself. A sum of exponentials of 64
/// columns a thread (75 were left) took 78 us for 70 on an H200: each addition
/// waits for its exponential. Layer norm has 64 left, and took 38.6 us for
/// 43.3. The divergence of Kullback and Leibler has 67 to 70. It takes 32
/// registers for 82 with 16 warps, and four blocks are resident for one.
constexpr unsigned kMostLeft = 72;
/// What a thread can have.
constexpr unsigned kMostRegisters = 255;

/// Numbers of instructions.
using Order = std::vector<unsigned>;

unsigned countRegisters(const Value &value, const DataLayout &layout) {
  Type *type = value.getType();
  // A struct is the registers of its parts, and what extracts one is those.
  if (!type->isSized() || type->isAggregateType())
    return 0;
  return divideCeil(layout.getTypeSizeInBits(type).getFixedValue(),
                    kBitsOfRegister);
}

/// Whether it is arithmetic alone, of which only the result matters.
bool isMovable(const Instruction &inst) {
  if (isa<PHINode, AllocaInst, ExtractValueInst>(inst) || inst.isTerminator() ||
      inst.mayReadOrWriteMemory())
    return false;
  const auto *call = dyn_cast<CallBase>(&inst);
  if (!call)
    return !inst.mayHaveSideEffects();
  if (call->isConvergent())
    return false;
  const auto *assembly = dyn_cast<InlineAsm>(call->getCalledOperand());
  return assembly ? !assembly->hasSideEffects() : !inst.mayHaveSideEffects();
}

/// Whether it reads global memory, and may do so at any time before the next
/// write or barrier.
bool isPlainLoad(const Instruction &inst) {
  if (const auto *load = dyn_cast<LoadInst>(&inst))
    return load->isSimple() && load->getPointerAddressSpace() == 1;
  const auto *call = dyn_cast<CallBase>(&inst);
  const auto *assembly =
      call ? dyn_cast<InlineAsm>(call->getCalledOperand()) : nullptr;
  if (!assembly)
    return false;
  StringRef text = assembly->getAsmString();
  auto has = [&](StringRef word) { return text.contains(word); };
  return has("ld.global") &&
         none_of(ArrayRef<StringRef>{"volatile", "relaxed", "acquire", "st.",
                                     "atom", "bar"},
                 has);
}

/// ptxas waits where registers change that a dot under way has.
bool hasDotsUnderWay(const BasicBlock &block) {
  return any_of(block, [](const Instruction &inst) {
    const auto *call = dyn_cast<CallBase>(&inst);
    const auto *assembly =
        call ? dyn_cast<InlineAsm>(call->getCalledOperand()) : nullptr;
    return assembly && StringRef(assembly->getAsmString()).contains("wgmma");
  });
}

class LiveRanges {
public:
  explicit LiveRanges(BasicBlock &block)
      : block(block), layout(block.getModule()->getDataLayout()) {
    for (Instruction &inst : block) {
      number[&inst] = insts.size();
      insts.push_back({&inst});
      insts.back().registers = countRegisters(inst, layout);
      insts.back().isMovable = isMovable(inst);
      insts.back().isLoad = isPlainLoad(inst);
      insts.back().mayWrite = !insts.back().isMovable && !insts.back().isLoad &&
                              inst.mayHaveSideEffects();
      insts.back().isLiveOut = any_of(inst.users(), [&](const User *user) {
        return isa<PHINode>(user) ||
               cast<Instruction>(user)->getParent() != &block;
      });
    }
    for (Node &node : insts) {
      if (isa<PHINode>(node.inst))
        continue;
      SmallPtrSet<Value *, 4> seen;
      for (Value *operand : node.inst->operands())
        if (seen.insert(operand).second) {
          auto known = number.find(operand);
          if (known != number.end()) {
            node.operands.push_back(known->second);
            insts[known->second].users.push_back(number.at(node.inst));
          } else if (isa<Instruction, Argument>(operand)) {
            node.fromOutside.push_back(operand);
          }
        }
    }
  }

  /// Whether fewer registers are alive at once in another order, which the
  /// block has then.
  bool shorten() {
    Order order(insts.size());
    std::iota(order.begin(), order.end(), 0);
    unsigned before = countMostAlive(order);
    if (before < kLeastPeak)
      return false;
    order = moveDown(moveUp(order), /*loadsMove=*/false);
    if (countMostAlive(order) > kMostRegisters) {
      Order spread = moveDown(order, /*loadsMove=*/true);
      if (countMostAlive(spread) < countMostAlive(order))
        order = std::move(spread);
    }
    if (100 * countMostAlive(order) > kMostLeft * before)
      return false;
    for (unsigned index : order)
      if (Instruction *inst = insts[index].inst;
          !isa<PHINode>(inst) && !inst->isTerminator())
        inst->moveBefore(block.getTerminator()->getIterator());
    return true;
  }

private:
  struct Node {
    Instruction *inst;
    SmallVector<unsigned, 4> operands = {};
    SmallVector<Value *, 2> fromOutside = {};
    SmallVector<unsigned, 2> users = {};
    unsigned registers = 0;
    bool isMovable = false;
    bool isLiveOut = false;
    bool isLoad = false;
    bool mayWrite = false;
  };

  /// Whether it is a load, or one of the values that a load gives at once.
  bool isLoaded(const Node &node) const {
    return node.isLoad ||
           (isa<ExtractValueInst, ExtractElementInst>(node.inst) &&
            node.operands.size() == 1 && insts[node.operands.front()].isLoad);
  }

  /// The order in which what frees no more registers than it makes stands right
  /// before its first user. Loads do, too, if `loadsMove`, and nothing is
  /// written in between.
  Order moveDown(const Order &order, bool loadsMove) const {
    // How much is written before each place.
    std::vector<unsigned> writes(order.size() + 1);
    for (auto [at, i] : enumerate(order))
      writes[at + 1] = writes[at] + insts[i].mayWrite;
    // Of each one: where its first and its last user stand when all below it
    // have moved. What moved has the place of its first user.
    std::vector<unsigned> first(insts.size(), insts.size());
    std::vector<unsigned> last(insts.size(), 0);
    DenseMap<Value *, unsigned> lastFromOutside;
    std::vector<bool> isMoved(insts.size());
    for (unsigned at = order.size(); at-- > 0;) {
      unsigned i = order[at], place = at;
      const Node &node = insts[i];
      bool isUsedHere = !node.isLiveOut && !node.users.empty();
      if (loadsMove && isUsedHere && isLoaded(node)) {
        isMoved[i] = writes[first[i]] == writes[at];
        if (isMoved[i])
          place = first[i];
      } else if (node.isMovable && isUsedHere) {
        unsigned kept = 0;
        for (unsigned operand : node.operands)
          if (!insts[operand].isLiveOut && last[operand] < first[i])
            kept += insts[operand].registers;
        for (Value *operand : node.fromOutside)
          if (!(loadsMove && (isLoop || isa<Argument>(operand))) &&
              lastFromOutside.lookup(operand) < first[i])
            kept += countRegisters(*operand, layout);
        isMoved[i] = kept <= node.registers;
        if (isMoved[i])
          place = first[i];
      }
      for (unsigned operand : node.operands) {
        first[operand] = std::min(first[operand], place);
        last[operand] = std::max(last[operand], place);
      }
      for (Value *operand : node.fromOutside) {
        unsigned &least = lastFromOutside[operand];
        least = std::max(least, place);
      }
    }
    Order result;
    std::vector<bool> isPlaced(insts.size());
    auto put = [&](auto &self, unsigned i) -> void {
      for (unsigned operand : insts[i].operands)
        if (isMoved[operand] && !isPlaced[operand])
          self(self, operand);
      isPlaced[i] = true;
      result.push_back(i);
    };
    for (unsigned i : order)
      if (!isMoved[i])
        put(put, i);
    return result;
  }

  /// The order in which what frees more registers than it makes stands right
  /// behind the last of its operands.
  Order moveUp(const Order &order) const {
    std::vector<unsigned> rank(insts.size()), waitsFor(insts.size()),
        usersLeft(insts.size());
    std::vector<bool> isPlaced(insts.size());
    for (auto [at, i] : enumerate(order))
      rank[i] = at;
    for (auto [i, node] : enumerate(insts)) {
      waitsFor[i] = node.operands.size();
      usersLeft[i] = node.users.size();
    }
    auto freesMore = [&](unsigned i) {
      const Node &node = insts[i];
      if (!node.isMovable || waitsFor[i] != 0)
        return false;
      unsigned freed = 0;
      for (unsigned operand : node.operands)
        if (usersLeft[operand] == 1 && !insts[operand].isLiveOut)
          freed += insts[operand].registers;
      return freed > node.registers;
    };
    Order result;
    // What may go up now, the first one of the block on top.
    std::priority_queue<unsigned, std::vector<unsigned>, std::greater<>> next;
    auto place = [&](unsigned i) {
      isPlaced[i] = true;
      result.push_back(i);
      for (unsigned user : insts[i].users)
        if (--waitsFor[user] == 0)
          next.push(rank[user]);
      // Whoever is left to use an operand may free it.
      for (unsigned operand : insts[i].operands)
        if (--usersLeft[operand] == 1)
          for (unsigned user : insts[operand].users)
            if (!isPlaced[user])
              next.push(rank[user]);
    };
    for (unsigned i : order) {
      if (!isPlaced[i])
        place(i);
      while (!next.empty()) {
        unsigned candidate = order[next.top()];
        next.pop();
        if (!isPlaced[candidate] && freesMore(candidate))
          place(candidate);
      }
    }
    return result;
  }

  unsigned countMostAlive(const Order &order) const {
    unsigned alive = 0, most = 0;
    std::vector<bool> isAlive(insts.size());
    auto start = [&](unsigned i) {
      if (!isAlive[i])
        alive += insts[i].registers;
      isAlive[i] = true;
    };
    for (auto [i, node] : enumerate(insts))
      if (node.isLiveOut)
        start(i);
    for (unsigned i : reverse(order)) {
      if (isAlive[i])
        alive -= insts[i].registers;
      for (unsigned operand : insts[i].operands)
        start(operand);
      most = std::max(most, alive);
    }
    return most;
  }

  BasicBlock &block;
  const DataLayout &layout;
  /// What comes from outside a loop is needed again.
  bool isLoop = is_contained(successors(&block), &block);
  std::vector<Node> insts;
  DenseMap<const Value *, unsigned> number;
};
} // namespace

void mlir::triton::nvidia::shortenLiveRanges(Module &module) {
  for (Function &function : module)
    for (BasicBlock &block : function)
      if (!hasDotsUnderWay(block))
        LiveRanges(block).shorten();
}
