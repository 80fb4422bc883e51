//===-- SumsInBranches.cpp - Sums that an iteration changes at its end ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop may add to a sum in some iterations alone, or begin a new sum in some:
//
//   if (c) { store sum; multiply; next = load } else { next = sum }
//   store sum; multiply; next = load; if (c) { use next; next = 0 }
//
// Such a loop hands its sum on in a buffer as well. The first has the buffer
// outside of the branch. The second stores what is new where it is made. In
// either case the last thing of an iteration is a load of the buffer.
//
//===----------------------------------------------------------------------===//

#include "TMEMAccesses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tritongpu-hoist-tmem-alloc"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

namespace {
/// The iteration argument that `alloc` stores, if nobody else reads it.
std::optional<unsigned> getStoredArgument(TMEMAllocOp alloc, scf::ForOp loop,
                                          unsigned numUses) {
  auto argument = dyn_cast_if_present<BlockArgument>(alloc.getSrc());
  if (!argument || argument.getOwner() != loop.getBody() ||
      argument.getArgNumber() < loop.getNumInductionVars() ||
      !argument.hasNUses(numUses) ||
      !isForAccesses(alloc.getToken(), alloc.getResult()))
    return std::nullopt;
  return argument.getArgNumber() - loop.getNumInductionVars();
}

/// The branch of the body whose result, or whose selection, is handed on.
template <typename Op> Op getOnlyUsedBy(OpOperand &yielded) {
  auto op = yielded.get().getDefiningOp<Op>();
  return op && op->getBlock() == yielded.getOwner()->getBlock() &&
                 yielded.get().hasOneUse()
             ? op
             : Op();
}

scf::YieldOp getYield(scf::IfOp branch, bool ofElse) {
  return ofElse ? branch.elseYield() : branch.thenYield();
}

Value makeTrue(OpBuilder &builder, Location loc) {
  return arith::ConstantIntOp::create(builder, loc, 1, 1);
}

/// Puts a load behind `op` in the place of `handedOn`.
void loadBehind(Operation *op, OpOperand &handedOn, TMEMAllocOp alloc) {
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  handedOn.set(
      createLoad(builder, op->getLoc(), handedOn.get().getType(), alloc)
          .getResult());
}

/// One of two tensors is handed on, and one is what the buffer has.
bool storeSelected(OpOperand &handedOn, TMEMAllocOp alloc,
                   const BodyAccesses &accesses) {
  auto select = getOnlyUsedBy<arith::SelectOp>(handedOn);
  if (!select || !select.getCondition().getType().isInteger(1))
    return false;
  TMEMLoadOp load = getFinalLoad(select.getTrueValue(), alloc, accesses);
  bool keepsIfTrue = bool(load);
  if (!load)
    load = getFinalLoad(select.getFalseValue(), alloc, accesses);
  if (!load)
    return false;
  OpBuilder builder(select);
  Location loc = select.getLoc();
  Value pred = select.getCondition();
  if (keepsIfTrue)
    pred = arith::XOrIOp::create(builder, loc, pred, makeTrue(builder, loc));
  createStore(builder, loc,
              keepsIfTrue ? select.getFalseValue() : select.getTrueValue(),
              pred, alloc);
  loadBehind(select, handedOn, alloc);
  select.erase();
  if (load.getResult().use_empty())
    eraseLoad(load);
  return true;
}

/// A branch hands something else on than what the buffer has.
bool storeInBranch(OpOperand &handedOn, TMEMAllocOp alloc,
                   const BodyAccesses &accesses) {
  auto branch = getOnlyUsedBy<scf::IfOp>(handedOn);
  if (!branch)
    return false;
  unsigned number = cast<OpResult>(handedOn.get()).getResultNumber();
  TMEMLoadOp loads[2];
  for (bool ofElse : {false, true})
    loads[ofElse] = getFinalLoad(getYield(branch, ofElse).getOperand(number),
                                 alloc, accesses);
  if (!loads[0] && !loads[1])
    return false;
  for (bool ofElse : {false, true}) {
    if (loads[ofElse])
      continue;
    scf::YieldOp yield = getYield(branch, ofElse);
    OpBuilder builder(yield);
    createStore(builder, yield.getLoc(), yield.getOperand(number),
                makeTrue(builder, yield.getLoc()), alloc);
  }
  loadBehind(branch, handedOn, alloc);
  dropResult(branch, number);
  for (TMEMLoadOp load : loads)
    if (load && load.getResult().use_empty()) {
      eraseLoad(load);
      break;
    }
  return true;
}
} // namespace

/// The result of the branch around `alloc` that is its sum, or, at the other
/// end, what it begins with.
static std::optional<unsigned> findSumOfBranch(TMEMAllocOp alloc,
                                               scf::IfOp branch) {
  BodyAccesses accesses = findAccesses(alloc, alloc->getBlock());
  if (!alloc.getSrc() || branch.getElseRegion().empty() || !accesses.areKnown ||
      !isForAccesses(alloc.getToken(), alloc.getResult()))
    return std::nullopt;
  bool isInElse = alloc->getBlock() == branch.elseBlock();
  for (unsigned i : llvm::seq(branch.getNumResults()))
    if (getFinalLoad(getYield(branch, isInElse).getOperand(i), alloc,
                     accesses) &&
        getYield(branch, !isInElse).getOperand(i) == alloc.getSrc())
      return i;
  return std::nullopt;
}

bool nvidia_gpu::moveOutOfBranch(TMEMAllocOp alloc) {
  auto branch = dyn_cast<scf::IfOp>(alloc->getParentOp());
  std::optional<unsigned> number =
      branch ? findSumOfBranch(alloc, branch) : std::nullopt;
  if (!number)
    return false;
  LDBG() << "a branch adds to a sum: " << alloc;
  bool isInElse = alloc->getBlock() == branch.elseBlock();
  auto load = getYield(branch, isInElse)
                  .getOperand(*number)
                  .getDefiningOp<TMEMLoadOp>();
  alloc->moveBefore(branch);
  OpBuilder builder(branch->getContext());
  builder.setInsertionPointAfter(branch);
  Value result = branch.getResult(*number);
  result.replaceAllUsesWith(
      createLoad(builder, branch.getLoc(), result.getType(), alloc)
          .getResult());
  dropResult(branch, *number);
  if (load.getResult().use_empty())
    eraseLoad(load);
  return true;
}

bool nvidia_gpu::addsInBranchOf(scf::ForOp loop, TMEMAllocOp alloc) {
  auto branch = dyn_cast<scf::IfOp>(alloc->getParentOp());
  if (!branch || branch->getBlock() != loop.getBody())
    return false;
  std::optional<unsigned> result = findSumOfBranch(alloc, branch);
  std::optional<unsigned> number = getStoredArgument(alloc, loop, 2);
  if (!result || !number)
    return false;
  OpOperand &handedOn = loop.getBody()->getTerminator()->getOpOperand(*number);
  return handedOn.get() == branch.getResult(*result) &&
         handedOn.get().hasOneUse();
}

void nvidia_gpu::storeWhatIsHandedOn(TMEMAllocOp alloc, scf::ForOp loop) {
  std::optional<unsigned> number = getStoredArgument(alloc, loop, 1);
  if (!number)
    return;
  BodyAccesses accesses = findAccesses(alloc, loop.getBody());
  Operation *yield = loop.getBody()->getTerminator();
  // The buffer may be handed on as it is, for this argument or another one.
  if (!accesses.areKnown ||
      llvm::any_of(yield->getOperands(), [&](Value value) {
        return bool(getFinalLoad(value, alloc, accesses));
      }))
    return;
  OpOperand &handedOn = yield->getOpOperand(*number);
  if (storeSelected(handedOn, alloc, accesses) ||
      storeInBranch(handedOn, alloc, accesses))
    return;
  Operation *def = handedOn.get().getDefiningOp();
  if (!def || def->getBlock() != loop.getBody())
    return;
  LDBG() << "a loop changes a sum: " << alloc;
  OpBuilder builder(yield);
  createStore(builder, def->getLoc(), handedOn.get(),
              makeTrue(builder, def->getLoc()), alloc);
  handedOn.set(
      createLoad(builder, def->getLoc(), handedOn.get().getType(), alloc)
          .getResult());
}

/// The branch of the block of `load` that all its readers are in one end of;
/// null if there are others.
static Block *findOnlyReader(TMEMLoadOp load) {
  Block *reader = nullptr;
  for (Operation *user : load.getResult().getUsers()) {
    Operation *parent = user->getParentOp();
    while (parent && parent->getBlock() != load->getBlock()) {
      user = parent;
      parent = parent->getParentOp();
    }
    if (!isa_and_nonnull<scf::IfOp>(parent) ||
        (reader && reader != user->getBlock()))
      return nullptr;
    reader = user->getBlock();
  }
  return reader;
}

void nvidia_gpu::sinkLoads(TMEMAllocOp alloc) {
  Value buffer = alloc.getResult();
  for (Operation *user : llvm::make_early_inc_range(buffer.getUsers())) {
    auto load = dyn_cast<TMEMLoadOp>(user);
    Block *reader = load && !load.getRedOp() ? findOnlyReader(load) : nullptr;
    if (!reader)
      continue;
    Operation *branch = reader->getParentOp(), *first = nullptr;
    for (Operation *op : load.getResult().getUsers()) {
      Operation *inReader = reader->findAncestorOpInBlock(*op);
      if (!first || inReader->isBeforeInBlock(first))
        first = inReader;
    }
    auto isBetween = [&](Operation *other) {
      if (isa<TMEMLoadOp>(other))
        return false;
      if (Operation *op = reader->findAncestorOpInBlock(*other))
        return op->isBeforeInBlock(first);
      Operation *op = load->getBlock()->findAncestorOpInBlock(*other);
      return op && op != branch && load->isBeforeInBlock(op) &&
             op->isBeforeInBlock(branch);
    };
    if (llvm::none_of(buffer.getUsers(), isBetween))
      load->moveBefore(first);
  }
}
