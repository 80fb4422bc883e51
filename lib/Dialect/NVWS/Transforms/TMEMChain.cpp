//===-- TMEMChain.cpp - Accesses of tensor memory in order ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TMEMChain.h"

#include "PartitionUses.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvws;
using nvidia_gpu::MMAv5OpInterface;
using nvidia_gpu::TMEMAllocOp;
using nvidia_gpu::TMEMCopyOp;
using nvidia_gpu::TMEMLoadOp;
using nvidia_gpu::TMEMStoreOp;

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

AsyncOp TMEMStep::getKind() const {
  if (uses.empty())
    return AsyncOp::NONE;
  Operation *last = uses.back()->getOwner();
  if (isa<MMAv5OpInterface>(last))
    return AsyncOp::TC5MMA;
  return isa<TMEMCopyOp>(last) ? AsyncOp::TMEMCopy : AsyncOp::NONE;
}

bool TMEMStep::overwrites() const {
  if (uses.empty())
    return true;
  // In a loop of its own it may not run at all.
  if (uses.front()->getOwner() != op)
    return false;
  if (auto store = dyn_cast<TMEMStoreOp>(op))
    return matchPattern(store.getPred(), m_One());
  auto mma = dyn_cast<MMAv5OpInterface>(op);
  return mma && uses.size() == 1 && mma.getAccumulator() == uses[0]->get() &&
         matchPattern(mma.getUseAccumulator(), m_Zero()) &&
         matchPattern(mma.getPredicate(), m_One());
}

SmallVector<Block *, 2> nvws::getBlocks(const TMEMStep &step) {
  if (auto loop = dyn_cast<scf::ForOp>(step.op))
    return {loop.getBody()};
  if (auto loop = dyn_cast<scf::WhileOp>(step.op))
    return {loop.getAfterBody()};
  auto branch = cast<scf::IfOp>(step.op);
  return {branch.thenBlock(), branch.elseBlock()};
}

unsigned nvws::getYielded(const TMEMStep &step) {
  return isa<scf::IfOp>(step.op) ? step.result : step.operand;
}

void nvws::walkAccesses(
    const TMEMSteps &steps,
    llvm::function_ref<void(const TMEMStep &access, bool inLoop)> visit,
    bool inLoop) {
  for (const TMEMStep &step : steps) {
    if (step.isAccess())
      visit(step, inLoop);
    for (const TMEMSteps &body : step.bodies)
      walkAccesses(body, visit, inLoop || !isa<scf::IfOp>(step.op));
  }
}

//===----------------------------------------------------------------------===//
// Steps in the order of tokens
//===----------------------------------------------------------------------===//

namespace {

constexpr StringLiteral kOtherUses =
    "its tokens are used by other operations than accesses, loops and branches";

/// Follows the tokens of a buffer.
class TokenFollower {
public:
  explicit TokenFollower(Value buffer) : buffer(buffer) {}

  /// Follows `token` to the end of `block`. `end` is the number of the operand
  /// at which the end of the block hands it on.
  StringRef follow(Value token, Block *block, TMEMSteps &steps,
                   std::optional<unsigned> &end) {
    while (token) {
      SmallVector<OpOperand *> uses;
      Operation *next = nullptr;
      for (OpOperand &use : token.getUses()) {
        Operation *inBlock = block->findAncestorOpInBlock(*use.getOwner());
        // The other branch has it, too.
        if (!inBlock)
          continue;
        if (next && next != inBlock)
          return "several operations come behind one of its tokens";
        next = inBlock;
        uses.push_back(&use);
      }
      if (!next)
        return "";
      bool isOnce = uses.size() == 1 && uses[0]->getOwner() == next;
      if (isOnce && next == block->getTerminator()) {
        end = uses[0]->getOperandNumber();
        return "";
      }
      StringRef why = kOtherUses;
      if (isa<scf::IfOp>(next))
        why = followBranches(cast<scf::IfOp>(next), token, steps);
      else if (auto loop = dyn_cast<scf::ForOp>(next); loop && isOnce)
        why = followLoop(loop, *uses[0], token, steps);
      else if (auto loop = dyn_cast<scf::WhileOp>(next); loop && isOnce)
        why = followLoop(loop, *uses[0], token, steps);
      else if (isOnce)
        why = takeAccess(next, token, steps);
      if (!why.empty())
        return why;
    }
    return "";
  }

private:
  StringRef takeAccess(Operation *op, Value &token, TMEMSteps &steps) {
    OpOperand *use = nullptr;
    if (auto load = dyn_cast<TMEMLoadOp>(op)) {
      use = &load.getSrcMutable();
      token = load.getToken();
    } else if (auto store = dyn_cast<TMEMStoreOp>(op)) {
      use = &store.getDstMutable();
      token = store.getToken();
    } else if (auto mma = dyn_cast<MMAv5OpInterface>(op)) {
      use = &mma.getAccumulatorMutable();
      token = mma.getAccumulatorToken();
    }
    if (!use || use->get() != buffer)
      return kOtherUses;
    steps.push_back({op, {use}, getPartitionsAround(op), 0, 0, {}});
    return "";
  }

  StringRef followLoop(scf::ForOp loop, OpOperand &use, Value &token,
                       TMEMSteps &steps) {
    if (use.getOperandNumber() < loop.getNumControlOperands())
      return kOtherUses;
    unsigned number = use.getOperandNumber() - loop.getNumControlOperands();
    return followBody(loop, number, number, loop.getRegionIterArg(number),
                      token, steps);
  }

  StringRef followLoop(scf::WhileOp loop, OpOperand &use, Value &token,
                       TMEMSteps &steps) {
    unsigned number = use.getOperandNumber();
    Value argument = loop.getBeforeArguments()[number];
    if (!argument.hasOneUse() ||
        *argument.getUsers().begin() != loop.getConditionOp())
      return "the part of a loop that decides does more than to hand its "
             "token on";
    unsigned result = argument.getUses().begin()->getOperandNumber() - 1;
    return followBody(loop, number, result, loop.getAfterArguments()[result],
                      token, steps);
  }

  StringRef followBody(Operation *loop, unsigned operand, unsigned result,
                       BlockArgument argument, Value &token, TMEMSteps &steps) {
    TMEMStep step{loop, {}, {}, operand, result, {}};
    step.bodies.resize(1);
    std::optional<unsigned> end;
    StringRef why = follow(argument, argument.getOwner(), step.bodies[0], end);
    if (!why.empty())
      return why;
    if (end != operand)
      return "a loop does not hand on its last token";
    token = loop->getResult(result);
    steps.push_back(std::move(step));
    return "";
  }

  StringRef followBranches(scf::IfOp branch, Value &token, TMEMSteps &steps) {
    TMEMStep step{branch, {}, {}, 0, 0, {}};
    step.bodies.resize(2);
    std::optional<unsigned> ends[2];
    for (unsigned i : {0, 1}) {
      Region &region = branch->getRegion(i);
      StringRef why = region.empty() ? StringRef()
                                     : follow(token, &region.front(),
                                              step.bodies[i], ends[i]);
      if (!why.empty())
        return why;
    }
    if (!ends[0] || ends[0] != ends[1])
      return "a branch does not hand on its last token";
    step.result = *ends[0];
    token = branch.getResult(step.result);
    steps.push_back(std::move(step));
    return "";
  }

  Value buffer;
};

//===----------------------------------------------------------------------===//
// Steps in the order of a block
//===----------------------------------------------------------------------===//

/// The body of a loop that has all accesses; null if there is none.
Block *findBody(Value buffer) {
  Block *body = nullptr;
  for (Operation *user : buffer.getUsers())
    if (!body || body->getParentOp()->isProperAncestor(user->getParentOp()))
      body = body ? body : user->getBlock();
    else if (user->getParentOp()->isProperAncestor(body->getParentOp()))
      body = user->getBlock();
  bool isBody = body && isa<LoopLikeOpInterface>(body->getParentOp());
  bool hasAll = isBody && llvm::all_of(buffer.getUsers(), [&](Operation *user) {
                  return body->findAncestorOpInBlock(*user) != nullptr;
                });
  return hasAll ? body : nullptr;
}

/// Without tokens: what of one operation of a block accesses it is one step.
StringRef findInBlock(TMEMAllocOp alloc, TMEMSteps &steps) {
  Block *block = alloc->getBlock();
  if (Block *body = findBody(alloc.getResult()); body && !alloc.getSrc())
    block = body;
  llvm::MapVector<Operation *, TMEMStep> found;
  for (OpOperand &use : alloc.getResult().getUses()) {
    Operation *op = block->findAncestorOpInBlock(*use.getOwner());
    if (!op)
      return "not all accesses are in the block of the buffer, or in the body "
             "of a loop behind it";
    Attribute owner = getPartitionsAround(use.getOwner());
    auto [it, isNew] = found.insert({op, {op, {}, owner, 0, 0, {}}});
    if (!isNew && it->second.owner != owner)
      return "two partitions access it in one loop or branch, and no tokens "
             "say in which order";
    it->second.uses.push_back(&use);
  }
  for (auto &[op, step] : found) {
    llvm::DenseMap<Operation *, unsigned> order;
    op->walk<WalkOrder::PreOrder>(
        [&](Operation *nested) { order.insert({nested, order.size()}); });
    auto key = [&](OpOperand *use) {
      return std::pair(order.lookup(use->getOwner()), use->getOperandNumber());
    };
    llvm::sort(step.uses,
               [&](OpOperand *a, OpOperand *b) { return key(a) < key(b); });
    steps.push_back(std::move(step));
  }
  llvm::sort(steps, [](const TMEMStep &a, const TMEMStep &b) {
    return a.op->isBeforeInBlock(b.op);
  });
  return "";
}

} // namespace

StringRef nvws::findSteps(TMEMAllocOp alloc, TMEMSteps &steps) {
  Value buffer = alloc.getResult();
  for (Operation *user : buffer.getUsers())
    if (isa<ViewLikeOpInterface>(user))
      return "parts of it are accessed";
  if (alloc.getSrc())
    steps.push_back({alloc, {}, getPartitionsAround(alloc), 0, 0, {}});
  if (!alloc.getToken())
    return findInBlock(alloc, steps);
  std::optional<unsigned> end;
  StringRef why = TokenFollower(buffer).follow(alloc.getToken(),
                                               alloc->getBlock(), steps, end);
  if (!why.empty())
    return why;
  if (end)
    return "the block of the buffer hands its token on";
  unsigned count = 0;
  walkAccesses(steps, [&](const TMEMStep &access, bool) {
    count += access.uses.size();
  });
  return count == llvm::range_size(buffer.getUses())
             ? StringRef()
             : "an access is without a token";
}
