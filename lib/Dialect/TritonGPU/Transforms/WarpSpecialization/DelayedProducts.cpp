//===-- DelayedProducts.cpp - Products an iteration late ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "DelayedProducts.h"

#include "../Pipeline/AsyncProducts.h"

#include "tile/Analysis/ConvertLayoutPlan.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tritongpu-partition-loops"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

/// Calls `visit` for the operands of `op` and of what is in it that come from
/// outside of it, until that returns false.
static bool forEachOperand(Operation *op, function_ref<bool(Value)> visit) {
  return !op->walk([&](Operation *nested) {
              for (Value operand : nested->getOperands())
                if (!op->isAncestor(operand.getParentBlock()->getParentOp()) &&
                    !visit(operand))
                  return WalkResult::interrupt();
              return WalkResult::advance();
            }).wasInterrupted();
}

static bool decline(Operation *op, StringRef why) {
  LDBG() << "no product runs late, because " << why << ": " << op->getLoc();
  return false;
}

//===----------------------------------------------------------------------===//
// Which operations are late
//===----------------------------------------------------------------------===//

/// The sums, which the loop carries from dot to dot.
bool DelayedProducts::findSums() {
  unsigned numProducts = 0;
  loop.walk([&](MatrixProductOpInterface) { ++numProducts; });
  SmallVector<MatrixProductOpInterface> products(
      loop.getBody()->getOps<MatrixProductOpInterface>());
  if (products.size() != numProducts)
    return decline(loop, "some are under a condition");
  for (MatrixProductOpInterface product : products) {
    if (!product.canWaitInOrder() || product.isAsync())
      return decline(product, "this one cannot be left to the tensor core");
    if (!product.getProduct().hasOneUse())
      continue;
    OpOperand &use = *product.getProduct().use_begin();
    if (use.getOwner() == loop.getBody()->getTerminator())
      sums.insert(loop.getRegionIterArg(use.getOperandNumber()));
  }
  return !sums.empty() || decline(loop, "there is no sum");
}

bool DelayedProducts::isLateSum(Value value) const {
  auto arg = dyn_cast<BlockArgument>(value);
  return arg && sums.contains(arg);
}

bool DelayedProducts::isAllowed(Operation *op) const {
  if (isMemoryEffectFree(op) || isa<MatrixProductOpInterface>(op) || isWait(op))
    return true;
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  return effects && effects.onlyHasEffect<MemoryEffects::Read>();
}

/// Whether `user` is a dot that only goes on with the sum of `product`,
/// which need not be done for that.
static bool isAddedTo(MatrixProductOpInterface product, Operation *user) {
  auto next = dyn_cast<MatrixProductOpInterface>(user);
  return next && next.getAccumulator() == product.getProduct() &&
         !llvm::is_contained(next.getFactors(), product.getProduct());
}

/// What depends on the sums; nothing else may.
bool DelayedProducts::findLateOperations() {
  Block *body = loop.getBody();
  Operation *yield = body->getTerminator();
  auto follow = [&](Value value) {
    for (OpOperand &use : value.getUses()) {
      Operation *user = body->findAncestorOpInBlock(*use.getOwner());
      if (user != yield)
        late.insert(user);
      else if (!sums.contains(loop.getRegionIterArg(use.getOperandNumber())))
        return false;
    }
    return true;
  };
  for (BlockArgument sum : sums)
    if (!follow(sum))
      return decline(loop, "a sum is used beside its product");
  for (size_t i = 0; i < late.size(); ++i)
    for (Value result : late[i]->getResults())
      if (!follow(result))
        return decline(late[i], "what depends on a sum is used elsewhere");
  for (auto product : body->getOps<MatrixProductOpInterface>())
    (late.contains(product) ? lateProducts : earlyProducts).push_back(product);
  if (earlyProducts.empty())
    return decline(loop, "none depends on another");
  // Late ones are waited for together. A sum that is added to before that is
  // nobody else's: it would be copied while its dot runs.
  for (MatrixProductOpInterface product : lateProducts)
    for (Operation *user : product.getProduct().getUsers())
      if (user != yield &&
          !(isAddedTo(product, user) && product.getProduct().hasOneUse()))
        return decline(user, "it uses a late product in its own iteration");
  for (MatrixProductOpInterface product : earlyProducts) {
    llvm::SetVector<Operation *> users;
    users.insert(product);
    for (size_t i = 0; i < users.size(); ++i)
      for (Operation *user : users[i]->getUsers())
        users.insert(body->findAncestorOpInBlock(*user));
    users.remove(yield);
    if (llvm::any_of(earlyProducts, [&](MatrixProductOpInterface other) {
          return other != product && users.contains(other);
        }))
      return decline(product, "three depend on each other");
    if (users.size() == 1)
      return decline(product, "its result is not used in its iteration");
  }
  return true;
}

/// A conversion after which every thread has what it had.
static bool isFreeConversion(Operation *op) {
  auto convert = dyn_cast<ConvertLayoutOp>(op);
  return convert &&
         getRegisterSources(toLinearLayout(convert.getSrc().getType()),
                            toLinearLayout(convert.getType()));
}

/// Operations that only late ones use are late if they cost nothing:
/// they spread a value over more registers, or point to memory.
bool DelayedProducts::isPulled(Operation *op) {
  if (late.contains(op) || op->getNumRegions() || !isMemoryEffectFree(op) ||
      op->use_empty())
    return false;
  bool isFree = op->hasTrait<mlir::OpTrait::ConstantLike>() ||
                isa<BroadcastOp, ExpandDimsOp, SplatOp>(op) ||
                isFreeConversion(op) ||
                llvm::any_of(op->getResultTypes(), llvm::IsaPred<MemDescType>);
  return isFree && llvm::all_of(op->getUsers(), [&](Operation *user) {
           return late.contains(loop.getBody()->findAncestorOpInBlock(*user));
         });
}

void DelayedProducts::pullIn() {
  for (Operation &op : llvm::reverse(loop.getBody()->without_terminator()))
    if (isPulled(&op))
      late.insert(&op);
}

/// The operations of the body that read a ring's buffers.
SmallVector<Operation *> DelayedProducts::getReaders(const RingUse &ring) {
  SmallVector<Operation *> readers;
  llvm::SetVector<Value> views(ring.slots.begin(), ring.slots.end());
  for (size_t i = 0; i < views.size(); ++i)
    for (Operation *user : views[i].getUsers())
      if (isa<ViewLikeOpInterface>(user))
        views.insert(user->getResult(0));
      else
        readers.push_back(loop.getBody()->findAncestorOpInBlock(*user));
  return readers;
}

bool DelayedProducts::addCrossing(Value value) {
  Operation *def = value.getDefiningOp();
  if (value.getParentBlock() != loop.getBody() || isLateSum(value) ||
      (def && late.contains(def)))
    return true;
  if (!isa<MemDescType>(value.getType())) {
    crossing.insert(value);
    return true;
  }
  // Views of memory are made again.
  return def && isMemoryEffectFree(def) && collectCrossing(def);
}

bool DelayedProducts::collectCrossing(Operation *op) {
  return forEachOperand(op, [&](Value value) { return addCrossing(value); });
}

bool DelayedProducts::find() {
  for (Operation &op : loop.getBody()->without_terminator())
    if (!isAllowed(&op))
      return decline(&op, "its loop has effects");
  if (!findSums() || !findLateOperations())
    return false;
  pullIn();
  // Buffers that only late dots read are taken late, too.
  for (const RingUse &ring : rings)
    if (llvm::all_of(getReaders(ring),
                     [&](Operation *op) { return late.contains(op); }))
      for (Operation *op : {ring.wait, ring.fence})
        if (op)
          late.insert(op);
  for (Operation *op : late)
    if (!collectCrossing(op))
      return decline(op, "it reads memory of its iteration");
  return haveRegisters(loop, crossing.getArrayRef(),
                       RegisterPurpose::LateProducts) ||
         decline(loop, "there are not enough registers");
}

/// Whether the registers of a late dot's factors need not be free before
/// those of the next one are computed. Copying them later costs less than
/// computing them later: that is done while the early dots run.
bool DelayedProducts::haveTwoFactorsRoom() const {
  if (llvm::any_of(rings, std::mem_fn(&RingUse::isFilledByThreads)))
    return false;
  SmallVector<Value> values(crossing.getArrayRef());
  for (MatrixProductOpInterface product : lateProducts)
    llvm::append_range(values, product.getFactors());
  return haveRegisters(loop, values, RegisterPurpose::TwoFactors);
}

//===----------------------------------------------------------------------===//
// The loop with late operations
//===----------------------------------------------------------------------===//

/// Clones an operation, and what of the body it needs and `mapping` lacks.
Operation *DelayedProducts::cloneWithSources(OpBuilder &builder, Operation *op,
                                             IRMapping &mapping) {
  forEachOperand(op, [&](Value operand) {
    if (operand.getParentBlock() == loop.getBody() &&
        !mapping.contains(operand))
      cloneWithSources(builder, operand.getDefiningOp(), mapping);
    return true;
  });
  return builder.clone(*op, mapping);
}

/// What the early dots of an iteration need, and they themselves.
void DelayedProducts::findFirst() {
  first.insert(earlyProducts.begin(), earlyProducts.end());
  for (size_t i = 0; i < first.size(); ++i) {
    forEachOperand(first[i], [&](Value operand) {
      Operation *def = operand.getDefiningOp();
      if (def && def->getBlock() == loop.getBody())
        first.insert(def);
      return true;
    });
    // Of a ring that a dot reads, or what reads it for a dot.
    for (const RingUse &ring : rings)
      if (llvm::is_contained(getReaders(ring), first[i]))
        for (Operation *op : {ring.wait, ring.fence})
          if (op)
            first.insert(op);
  }
}

bool DelayedProducts::isWait(Operation *op) const {
  return llvm::any_of(rings, [&](const RingUse &ring) {
    return op == ring.wait || op == ring.fence;
  });
}

/// Whether the buffers of the next iteration's early dots come although
/// those that late dots read in the iteration before are not handed back.
/// With two buffers the producer must not want one of these in between: it
/// fills the rings in their order.
bool DelayedProducts::canWaitFirst() {
  if (numBuffers > 2)
    return true;
  bool wasLate = false;
  for (const RingUse &ring : rings) {
    bool isLate = late.contains(ring.release);
    if (ring.slots.size() != 1 || isLate != late.contains(ring.wait) ||
        (wasLate && !isLate))
      return false;
    wasLate = isLate;
  }
  return true;
}

/// Waits for the buffers of the next iteration's early dots, if there is
/// one. Best that comes before the wait for the late dots, which have nothing
/// to do with it, because it ends a basic block. For ptxas the wait for the
/// late dots depends on nothing that the threads compute meanwhile, so it has
/// that right behind.
void DelayedProducts::waitForNext(OpBuilder &builder, Value counter,
                                  const IRMapping &mapping) {
  Value next = trips.getLater(builder, counter, 1);
  Value hasNext = trips.hasNext(builder, counter);
  // The iteration arguments by which it finds its buffers.
  llvm::SetVector<Value> needed;
  for (Operation *op : first)
    if (isWait(op))
      needed.insert(op->operand_begin(), op->operand_end());
  IRMapping now = mapping, ahead;
  ahead.map(loop.getInductionVar(), next);
  for (size_t i = 0; i < needed.size(); ++i) {
    Value value = needed[i];
    if (value.getParentBlock() != loop.getBody())
      continue;
    if (Operation *def = value.getDefiningOp()) {
      needed.insert(def->operand_begin(), def->operand_end());
    } else if (value != loop.getInductionVar()) {
      Value yielded =
          loop.getTiedLoopYieldedValue(cast<BlockArgument>(value))->get();
      Operation *source = yielded.getDefiningOp();
      if (source && source->getBlock() == loop.getBody() &&
          !now.contains(yielded))
        cloneWithSources(builder, source, now);
      ahead.map(value, now.lookupOrDefault(yielded));
    }
  }
  for (Operation &op : *loop.getBody()) {
    if (!first.contains(&op) || !isWait(&op))
      continue;
    Operation *clone = cloneWithSources(builder, &op, ahead);
    if (auto wait = dyn_cast<PredicatedOpInterface>(clone))
      wait.getPredMutable().assign(hasNext);
  }
}

/// Fills the body of `to`.
void DelayedProducts::emitIteration(OpBuilder &builder, scf::ForOp to) {
  Block *body = loop.getBody();
  IRMapping early, delayed;
  early.map(loop.getInductionVar(), to.getInductionVar());
  for (auto [from, arg] :
       llvm::zip(loop.getRegionIterArgs(), to.getRegionIterArgs()))
    (isLateSum(from) ? delayed : early).map(from, arg);
  for (auto [value, arg] :
       llvm::zip(crossing, to.getRegionIterArgs().take_back(crossing.size())))
    delayed.map(value, arg);

  // The dots that are not late; their buffers were waited for before.
  for (Operation &op : *body)
    if (first.contains(&op) && !isWait(&op)) {
      Operation *clone = builder.clone(op, early);
      if (auto product = dyn_cast<MatrixProductOpInterface>(clone))
        product.setAsync(true);
    }

  // Late ones follow them into the tensor core.
  SmallVector<Value> waitedLate;
  llvm::SetVector<Value> factors;
  auto isRelease = [&](Operation *op) {
    return llvm::any_of(
        rings, [&](const RingUse &ring) { return ring.release == op; });
  };
  for (Operation &op : *body) {
    if (!late.contains(&op) || isRelease(&op))
      continue;
    Operation *clone = cloneWithSources(builder, &op, delayed);
    auto product = dyn_cast<MatrixProductOpInterface>(clone);
    if (!product)
      continue;
    product.setAsync(true);
    for (Value factor : cast<MatrixProductOpInterface>(&op).getFactors())
      for (; isa_and_nonnull<TensorType>(factor ? factor.getType() : Type());) {
        factors.insert(factor);
        auto convert = factor.getDefiningOp<ConvertLayoutOp>();
        factor = convert ? convert.getSrc() : Value();
      }
    llvm::append_range(waitedLate, product.getFactors());
  }
  bool areLateDone = false;
  auto waitForLate = [&] {
    if (std::exchange(areLateDone, true))
      return;
    bool first = canWaitFirst();
    if (first)
      waitForNext(builder, to.getInductionVar(), early);
    // Of dots that add to one sum, only the last has it.
    SmallVector<Value> ends;
    for (MatrixProductOpInterface product : lateProducts)
      if (llvm::is_contained(product.getProduct().getUsers(),
                             body->getTerminator()))
        ends.push_back(product.getProduct());
    SmallVector<Value> values = llvm::map_to_vector(
        ends, [&](Value end) { return delayed.lookup(end); });
    llvm::append_range(values, waitedLate);
    MatrixProductOpInterface last = lateProducts.back();
    Operation *wait =
        last.createWait(builder, last.getLoc(), values, /*pendings=*/0);
    for (auto [i, end] : llvm::enumerate(ends))
      delayed.map(end, wait->getResult(i));
    for (const RingUse &ring : rings)
      if (late.contains(ring.release))
        cloneWithSources(builder, ring.release, delayed);
    if (!first)
      waitForNext(builder, to.getInductionVar(), early);
  };
  bool hasRoom = haveTwoFactorsRoom();
  llvm::SetVector<Operation *> done;
  auto waitForEarly = [&](Operation *op) {
    for (auto [i, product] : llvm::enumerate(earlyProducts)) {
      if (op != product.getOperation() || !done.insert(op))
        continue;
      unsigned pendings = areLateDone ? 0 : lateProducts.size();
      pendings += earlyProducts.size() - 1 - i;
      SmallVector<Value> values{early.lookup(product.getProduct())};
      for (Value factor : product.getFactors())
        values.push_back(early.lookupOrDefault(factor));
      Operation *wait =
          product.createWait(builder, product.getLoc(), values, pendings);
      early.map(product.getProduct(), wait->getResult(0));
    }
  };
  for (Operation &op : body->without_terminator()) {
    if (first.contains(&op) || late.contains(&op))
      continue;
    forEachOperand(&op, [&](Value operand) {
      if (Operation *def = operand.getDefiningOp())
        waitForEarly(def);
      return true;
    });
    for (const RingUse &ring : rings)
      if (ring.release == &op)
        for (Operation *reader : getReaders(ring))
          waitForEarly(reader);
    // The sum is done before the registers of its factors are written again.
    if (!hasRoom && llvm::any_of(op.getResults(), [&](Value result) {
          return factors.contains(result);
        }))
      waitForLate();
    builder.clone(op, early);
  }
  waitForLate();

  for (MatrixProductOpInterface product : earlyProducts)
    waitForEarly(product);
  SmallVector<Value> yielded;
  for (auto [arg, value] :
       llvm::zip(loop.getRegionIterArgs(), loop.getYieldedValues()))
    yielded.push_back(
        (isLateSum(arg) ? delayed : early).lookupOrDefault(value));
  for (Value value : crossing)
    yielded.push_back(early.lookup(value));
  scf::YieldOp::create(builder, loop.getLoc(), yielded);
}

unsigned DelayedProducts::apply(scf::ForOp &replaced) {
  // The releases came after all else was looked at.
  for (const RingUse &ring : rings)
    if (llvm::any_of(getReaders(ring),
                     [&](Operation *op) { return late.contains(op); })) {
      late.insert(ring.release);
      collectCrossing(ring.release);
    }

  findFirst();

  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  Value any = trips.has(builder, 0);
  // In front of what stands for the loop, if anything is computed there.
  trips.prepareNext();
  auto whole = scf::IfOp::create(builder, loc, loop.getResultTypes(), any,
                                 /*withElseRegion=*/true);
  OpBuilder otherwise = whole.getElseBodyBuilder();
  scf::YieldOp::create(otherwise, loc, loop.getInitArgs());

  // The first iteration, as far as it is not late.
  OpBuilder then = whole.getThenBodyBuilder();
  IRMapping before;
  Value firstCounter = trips.getCounter(then, 0u);
  before.map(loop.getInductionVar(), firstCounter);
  for (auto [arg, init] :
       llvm::zip(loop.getRegionIterArgs(), loop.getInitArgs()))
    before.map(arg, init);
  for (Operation &op : loop.getBody()->without_terminator())
    if (!late.contains(&op))
      then.clone(op, before);
  waitForNext(then, firstCounter, before);
  SmallVector<Value> inits;
  for (auto [arg, init, yielded] :
       llvm::zip(loop.getRegionIterArgs(), loop.getInitArgs(),
                 loop.getYieldedValues()))
    inits.push_back(isLateSum(arg) ? init : before.lookupOrDefault(yielded));
  for (Value value : crossing)
    inits.push_back(before.lookup(value));

  Value second = trips.getSecondCounter(then);
  auto rest = scf::ForOp::create(
      then, loc, second, loop.getUpperBound(), loop.getStep(), inits,
      /*bodyBuilder=*/nullptr, loop.getUnsignedCmp());
  OpBuilder inside(rest.getContext());
  if (!rest.getBody()->empty())
    rest.getBody()->getTerminator()->erase();
  inside.setInsertionPointToEnd(rest.getBody());
  emitIteration(inside, rest);

  // What is late of the last iteration.
  IRMapping after;
  for (auto [arg, result] :
       llvm::zip(loop.getRegionIterArgs(), rest.getResults()))
    if (isLateSum(arg))
      after.map(arg, result);
  for (auto [value, result] :
       llvm::zip(crossing, rest.getResults().take_back(crossing.size())))
    after.map(value, result);
  for (Operation &op : loop.getBody()->without_terminator())
    if (late.contains(&op))
      cloneWithSources(then, &op, after);
  SmallVector<Value> results;
  for (auto [arg, yielded, result] :
       llvm::zip(loop.getRegionIterArgs(), loop.getYieldedValues(),
                 rest.getResults()))
    results.push_back(isLateSum(arg) ? after.lookup(yielded) : result);
  scf::YieldOp::create(then, loc, results);

  loop.replaceAllUsesWith(whole.getResults());
  loop.erase();
  replaced = rest;
  return earlyProducts.size() + lateProducts.size();
}
