//===-- HoistTMEMAlloc.cpp - Sums of loops in tensor memory ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A loop hands a sum on to its next iteration in registers:
//
//   for (sum = init) { store sum; multiply; next = load; yield next }
//
// The buffer has the sum at the end of an iteration, and nothing else writes to
// it before the next one stores. So the buffer moves out of the loop, and the
// iteration argument goes away. What reads the argument loads the buffer. To
// store what has just been loaded is not needed.
//
// A second loop may go on with the sum of the first: it would load one buffer
// and store another. It goes on with the first buffer instead. So it is in each
// iteration of a loop over tiles.
//
// Where accesses have tokens, each gets that of the access before it in the
// program, and loops hand the last token on.
//
//===----------------------------------------------------------------------===//

#include "TMEMAccesses.h"

#include "tile/Analysis/TripCount.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tritongpu-hoist-tmem-alloc"

namespace mlir::triton::nvidia_gpu {
#define GEN_PASS_DEF_TRITONGPUHOISTTMEMALLOC
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::nvidia_gpu

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

namespace {

/// A buffer of the body of a loop that has the sum which the loop hands on.
struct CarriedSum {
  TMEMAllocOp alloc;
  /// Reads what the loop hands on.
  TMEMLoadOp load;
  /// The place of the sum among the iteration arguments.
  unsigned number;

  bool hasTokens() { return bool(alloc.getToken()); }
};

bool isZero(Value value) {
  return matchPattern(value, m_Zero()) || matchPattern(value, m_AnyZeroFloat());
}

bool isKnownTrue(Value value) { return matchPattern(value, m_One()); }

/// Whether `loop` is in no operation but loops that could hand tokens on.
bool isInLoopsOnly(scf::ForOp loop) {
  Operation *parent = loop->getParentOp();
  while (isa<scf::ForOp>(parent))
    parent = parent->getParentOp();
  return parent->hasTrait<mlir::OpTrait::IsIsolatedFromAbove>();
}

/// Whether `op` is no access of `buffer` but has one in it.
bool hasAccess(Operation *op, Value buffer) {
  return op->getNumRegions() &&
         llvm::any_of(buffer.getUsers(),
                      [&](Operation *user) { return op->isAncestor(user); });
}

/// Has all accesses of `buffer` from `op` on, to the end of its block, come
/// behind each other, the first of them behind `token`. Returns the last token.
Value chainTokens(Operation *op, Value buffer, Value token) {
  while (op) {
    Operation *next = op->getNextNode();
    if (isAccess(op, buffer)) {
      setDependency(op, token);
      token = getToken(op);
    } else if (auto loop = dyn_cast<scf::ForOp>(op);
               loop && hasAccess(loop, buffer)) {
      IRRewriter rewriter(loop);
      auto handOn = [](OpBuilder &, Location, ArrayRef<BlockArgument> args) {
        return SmallVector<Value>{args.front()};
      };
      loop = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
          rewriter, token, /*replaceInitOperandUsesInLoop=*/false, handOn));
      Operation *yield = loop.getBody()->getTerminator();
      Value last = chainTokens(&loop.getBody()->front(), buffer,
                               loop.getRegionIterArgs().back());
      yield->setOperand(yield->getNumOperands() - 1, last);
      token = loop.getResults().back();
    } else if (auto branch = dyn_cast<scf::IfOp>(op);
               branch && hasAccess(branch, buffer)) {
      branch = addResult(branch, token.getType());
      for (Block *block : {branch.thenBlock(), branch.elseBlock()}) {
        Value last = chainTokens(&block->front(), buffer, token);
        Operation *yield = block->getTerminator();
        yield->insertOperands(yield->getNumOperands(), last);
      }
      token = branch.getResults().back();
    }
    op = next;
  }
  return token;
}

/// Whether a sum of `loop` may be in `alloc` all the time.
bool mayKeep(TMEMAllocOp alloc, scf::ForOp loop) {
  Value buffer = alloc.getResult();
  return cast<gpu::MemDescType>(buffer.getType()).getMutableMemory() &&
         isForAccesses(alloc.getToken(), buffer) &&
         (!alloc.getToken() || isInLoopsOnly(loop));
}

/// The sum of `loop` that is in `alloc`, if that is all that is in it.
std::optional<CarriedSum> findCarriedSum(TMEMAllocOp alloc, scf::ForOp loop) {
  Block *body = loop.getBody();
  BodyAccesses accesses = findAccesses(alloc, body);
  if (!accesses.areKnown)
    return std::nullopt;
  TMEMLoadOp last;
  std::optional<unsigned> number;
  for (OpOperand &operand : body->getTerminator()->getOpOperands()) {
    TMEMLoadOp load = getFinalLoad(operand.get(), alloc, accesses);
    if (!load || number)
      continue;
    last = load;
    number = operand.getOperandNumber();
  }
  if (!number)
    return std::nullopt;
  return CarriedSum{alloc, last, *number};
}

/// The first operation of the body that uses `value`, itself or inside.
Operation *findFirstUser(Value value, Block *body) {
  Operation *first = nullptr;
  for (Operation *user : value.getUsers()) {
    Operation *inBody = body->findAncestorOpInBlock(*user);
    if (!first || inBody->isBeforeInBlock(first))
      first = inBody;
  }
  return first;
}

/// Whether `op` is not known to be done when `place` is reached.
bool comesAfter(Operation *op, Operation *place) {
  Operation *ancestor = place->getBlock()->findAncestorOpInBlock(*op);
  return !ancestor || place->isBeforeInBlock(ancestor);
}

/// Whether a loop with `body` has a buffer for itself, and each iteration
/// stores all of it first.
bool isMadeAnew(TMEMAllocOp alloc, Block *body) {
  if (!isa<scf::ForOp>(body->getParentOp()) || alloc.getSrc() ||
      !llvm::all_of(alloc.getResult().getUsers(), [&](Operation *user) {
        return body->findAncestorOpInBlock(*user);
      }))
    return false;
  auto store = dyn_cast<TMEMStoreOp>(findFirstUser(alloc.getResult(), body));
  return store && isKnownTrue(store.getPred()) &&
         isPlainAccess(store, alloc.getResult());
}

/// Whether `user` of a buffer is done with it when `load` is, which is one too.
/// A view would have users of its own.
bool isOver(Operation *user, TMEMLoadOp load) {
  return user == load ||
         (!user->hasTrait<mlir::OpTrait::IsTerminator>() &&
          !isa<ViewLikeOpInterface>(user) && !comesAfter(user, load));
}

/// The load whose value `next` begins with in `block`, from a buffer of the
/// same type that nobody needs any more. Null if this is otherwise.
TMEMLoadOp findHandover(TMEMAllocOp next, Value value, Block *block) {
  auto load = value.getDefiningOp<TMEMLoadOp>();
  auto from = load ? load.getSrc().getDefiningOp<TMEMAllocOp>() : TMEMAllocOp();
  if (!from || from == next || load.getRedOp())
    return {};
  Value buffer = from.getResult();
  bool hasTokens = bool(from.getToken());
  if (load->getBlock() != block || from->getBlock() != next->getBlock() ||
      bool(next.getToken()) != hasTokens ||
      buffer.getType() != next.getResult().getType() ||
      !cast<gpu::MemDescType>(buffer.getType()).getMutableMemory() ||
      !isPlainAccess(load, buffer, hasTokens) ||
      !llvm::all_of(buffer.getUsers(),
                    [&](Operation *user) { return isOver(user, load); }))
    return {};
  // Both in a loop over tiles: neither has anything for the next tile.
  if (from->getBlock() != block &&
      (!isMadeAnew(from, block) || !isMadeAnew(next, block)))
    return {};
  return load;
}

/// The same for a `store` that first writes to its buffer.
TMEMLoadOp findHandover(TMEMStoreOp store) {
  auto next = store.getDst().getDefiningOp<TMEMAllocOp>();
  if (!next || next.getSrc() || next.getToken() ||
      !isKnownTrue(store.getPred()) || !isPlainAccess(store, next.getResult()))
    return {};
  auto hasNotBegun = [&](Operation *user) {
    return user == store || comesAfter(user, store);
  };
  if (!llvm::all_of(next.getResult().getUsers(), hasNotBegun))
    return {};
  return findHandover(next, store.getSrc(), store->getBlock());
}

/// Adds the operations of the body that make `value` from what is known before
/// the loop. False if something else is needed.
bool collectInvariant(Value value, scf::ForOp loop,
                      llvm::SetVector<Operation *> &ops) {
  if (loop.isDefinedOutsideOfLoop(value))
    return true;
  Operation *def = value.getDefiningOp();
  if (!def || def->getBlock() != loop.getBody() || def->getNumRegions() ||
      !isPure(def) || !llvm::all_of(def->getOperands(), [&](Value operand) {
        return collectInvariant(operand, loop, ops);
      }))
    return false;
  ops.insert(def);
  return true;
}

/// Scales that are the same in all iterations are stored before the loop. They
/// take few columns.
void hoistScales(scf::ForOp loop) {
  for (auto alloc :
       llvm::make_early_inc_range(loop.getBody()->getOps<TMEMAllocOp>())) {
    auto type = cast<gpu::MemDescType>(alloc.getResult().getType());
    llvm::SetVector<Operation *> ops;
    if (!alloc.getSrc() || alloc.getToken() || type.getMutableMemory() ||
        !isa<TensorMemoryScalesEncodingAttr>(type.getEncoding()) ||
        !collectInvariant(alloc.getSrc(), loop, ops))
      continue;
    for (Operation *op : ops)
      op->moveBefore(loop);
    alloc->moveBefore(loop);
  }
}

class HoistTMEMAllocPass
    : public nvidia_gpu::impl::TritonGPUHoistTMEMAllocBase<HoistTMEMAllocPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    SmallVector<TMEMAllocOp> withTokens;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    continueDots();
    if (hoistOutOfIf || postPipeline) {
      SmallVector<TMEMAllocOp> allocs;
      getOperation().walk([&](TMEMAllocOp alloc) { allocs.push_back(alloc); });
      for (TMEMAllocOp alloc : allocs)
        moveOutOfBranch(alloc);
    }
    for (scf::ForOp loop : loops) {
      hoistScales(loop);
      SmallVector<TMEMAllocOp> allocs(loop.getBody()->getOps<TMEMAllocOp>());
      for (auto branch : loop.getBody()->getOps<scf::IfOp>())
        branch.walk([&](TMEMAllocOp alloc) {
          if (addsInBranchOf(loop, alloc))
            allocs.push_back(alloc);
        });
      for (TMEMAllocOp alloc : allocs) {
        if (!mayKeep(alloc, loop))
          continue;
        if (alloc->getBlock() != loop.getBody())
          moveOutOfBranch(alloc);
        storeWhatIsHandedOn(alloc, loop);
        if (auto sum = findCarriedSum(alloc, loop)) {
          LDBG() << "a loop keeps its sum: " << alloc;
          hoist(*sum, loop);
          sinkLoads(alloc);
          if (sum->hasTokens())
            withTokens.push_back(alloc);
          ++numSums;
        }
      }
    }
    for (TMEMAllocOp alloc : withTokens)
      chainTokens(alloc->getNextNode(), alloc.getResult(), alloc.getToken());
    SmallVector<TMEMStoreOp> stores;
    getOperation().walk([&](TMEMStoreOp store) { stores.push_back(store); });
    for (TMEMStoreOp store : stores)
      if (TMEMLoadOp load = findHandover(store)) {
        LDBG() << "a loop goes on with a sum: " << store;
        continueSum(load, store);
      }
  }

private:
  /// A dot may go on with the sum of another one.
  void continueDots() {
    SmallVector<TMEMAllocOp> allocs;
    getOperation().walk([&](TMEMAllocOp alloc) {
      if (alloc.getSrc())
        allocs.push_back(alloc);
    });
    for (TMEMAllocOp next : allocs) {
      TMEMLoadOp load = findHandover(next, next.getSrc(), next->getBlock());
      if (!load)
        continue;
      LDBG() << "a dot goes on with a sum: " << next;
      next.getResult().replaceAllUsesWith(load.getSrc());
      if (next.getToken())
        next.getToken().replaceAllUsesWith(load.getToken());
      next.erase();
      if (load.getResult().use_empty())
        eraseLoad(load);
    }
  }

  static void continueSum(TMEMLoadOp load, TMEMStoreOp store) {
    auto next = store.getDst().getDefiningOp<TMEMAllocOp>();
    store.erase();
    next.getResult().replaceAllUsesWith(load.getSrc());
    next.erase();
    if (load->use_empty())
      load.erase();
  }

  /// Moves the buffer out of the loop, with the sum in it. `loop` becomes
  /// another one, without the argument.
  static void hoist(CarriedSum sum, scf::ForOp &loop) {
    Value buffer = sum.alloc.getResult();
    Value old = loop.getRegionIterArg(sum.number);
    Block *body = loop.getBody();
    // Other readers of the argument load it, before anybody writes.
    Value start = sum.alloc.getSrc();
    sum.alloc.getSrcMutable().clear();
    OpBuilder builder(sum.alloc);
    if (!old.use_empty()) {
      Operation *place = sum.alloc;
      Operation *user = findFirstUser(old, body);
      if (user->isBeforeInBlock(place))
        place = user;
      builder.setInsertionPoint(place);
      old.replaceAllUsesWith(
          createLoad(builder, loop.getLoc(), old.getType(), sum.alloc)
              .getResult());
    }
    // What the alloc stored is stored in its place, if it is something else.
    if (start && start != old) {
      builder.setInsertionPoint(sum.alloc);
      createStore(builder, sum.alloc.getLoc(), start,
                  makeTrue(builder, sum.alloc.getLoc()), sum.alloc);
    }
    sum.alloc->moveBefore(getOutermostLoop(loop));

    Value init = loop.getInitArgs()[sum.number];
    bool startsFromZero =
        !sum.hasTokens() && carryFlag(sum, init, start == old, loop);
    if (!startsFromZero) {
      builder.setInsertionPoint(loop);
      createStore(builder, loop.getLoc(), init,
                  makeTrue(builder, loop.getLoc()), sum.alloc);
    }
    Value result = loop.getResult(sum.number);
    if (!result.use_empty()) {
      builder.setInsertionPointAfter(loop);
      if (startsFromZero)
        storeZeroIfEmpty(builder, buffer, init, loop);
      result.replaceAllUsesWith(
          createLoad(builder, loop.getLoc(), result.getType(), sum.alloc)
              .getResult());
    }
    dropArgument(loop, sum.number);
    if (sum.load.getResult().use_empty())
      eraseLoad(sum.load);
  }

  /// A buffer has one place, however often it is made. It is made where no loop
  /// hands it on.
  static Operation *getOutermostLoop(scf::ForOp loop) {
    Operation *outermost = loop;
    for (Operation *op = loop; op && !isa<gpu::WarpSpecializeOp>(op);
         op = op->getParentOp())
      if (isa<LoopLikeOpInterface>(op))
        outermost = op;
    return outermost;
  }

  /// Behind a loop that overwrites the buffer in its first iteration: has zero
  /// there still if there was none.
  static void storeZeroIfEmpty(OpBuilder &builder, Value buffer, Value zero,
                               scf::ForOp loop) {
    std::optional<APInt> count = TripCount(loop).getKnown();
    if (count && !count->isZero())
      return;
    Location loc = loop.getLoc();
    Value none =
        arith::XOrIOp::create(builder, loc, hasIterations(builder, loc, loop),
                              makeTrue(builder, loc));
    TMEMStoreOp::create(builder, loc, buffer, zero, none);
  }

  /// The sum may start from zero, and an iteration may begin by adding to it.
  /// Then the loop gets a flag, by which the first multiplication overwrites
  /// the buffer instead.
  static bool carryFlag(CarriedSum sum, Value init, bool isOnlyAddedTo,
                        scf::ForOp &loop) {
    if (!isOnlyAddedTo || !isZero(init))
      return false;
    Value buffer = sum.alloc.getResult();
    Operation *first = findFirstUser(buffer, loop.getBody());
    auto mma = dyn_cast<MMAv5OpInterface>(first);
    if (!mma || !isKnownTrue(mma.getUseAccumulator()) ||
        !isKnownTrue(mma.getPredicate()))
      return false;
    IRRewriter rewriter(loop);
    Location loc = loop.getLoc();
    Value starts = arith::ConstantIntOp::create(rewriter, loc, 0, 1);
    auto yieldTrue = [](OpBuilder &b, Location l, ArrayRef<BlockArgument>) {
      return SmallVector<Value>{makeTrue(b, l)};
    };
    loop = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
        rewriter, starts, /*replaceInitOperandUsesInLoop=*/false, yieldTrue));
    mma.setUseAccumulator(loop.getRegionIterArgs().back());
    return true;
  }

  static Value makeTrue(OpBuilder &builder, Location loc) {
    return arith::ConstantIntOp::create(builder, loc, 1, 1);
  }

  /// Makes a loop without an iteration argument that nobody uses, nor its
  /// result.
  static void dropArgument(scf::ForOp &loop, unsigned number) {
    SmallVector<Value> inits(loop.getInitArgs());
    inits.erase(inits.begin() + number);
    OpBuilder builder(loop);
    auto newLoop = scf::ForOp::create(
        builder, loop.getLoc(), loop.getLowerBound(), loop.getUpperBound(),
        loop.getStep(), inits, /*bodyBuilder=*/nullptr, loop.getUnsignedCmp());
    newLoop->setAttrs(loop->getAttrs());
    Block *oldBody = loop.getBody(), *newBody = newLoop.getBody();
    if (!newBody->empty())
      newBody->clear();
    newBody->getOperations().splice(newBody->end(), oldBody->getOperations());
    newBody->getTerminator()->eraseOperand(number);
    unsigned next = 0;
    for (auto [i, argument] : llvm::enumerate(oldBody->getArguments()))
      if (i != number + loop.getNumInductionVars())
        argument.replaceAllUsesWith(newBody->getArgument(next++));
    next = 0;
    for (OpResult result : loop.getResults())
      if (result.getResultNumber() != number)
        result.replaceAllUsesWith(newLoop.getResult(next++));
    loop.erase();
    loop = newLoop;
  }
};

} // namespace
