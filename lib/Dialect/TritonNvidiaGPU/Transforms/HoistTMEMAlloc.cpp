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

/// Whether `op` reads or writes the buffer itself, without a view: then it is
/// known what it does.
bool isAccess(Operation *op, Value buffer) {
  if (auto load = dyn_cast<TMEMLoadOp>(op))
    return load.getSrc() == buffer;
  if (auto store = dyn_cast<TMEMStoreOp>(op))
    return store.getDst() == buffer;
  auto mma = dyn_cast<MMAv5OpInterface>(op);
  return mma && mma.getAccumulator() == buffer && mma.getLhs() != buffer;
}

/// The token that an access makes; null if it has none.
Value getToken(Operation *access) {
  if (auto load = dyn_cast<TMEMLoadOp>(access))
    return load.getToken();
  if (auto store = dyn_cast<TMEMStoreOp>(access))
    return store.getToken();
  return cast<MMAv5OpInterface>(access).getAccumulatorToken();
}

/// Has an access come behind another one.
void setDependency(Operation *access, Value token) {
  if (auto load = dyn_cast<TMEMLoadOp>(access))
    load.getDepMutable().assign(token);
  else if (auto store = dyn_cast<TMEMStoreOp>(access))
    store.getDepMutable().assign(token);
  else
    cast<MMAv5OpInterface>(access).setAccumulatorDependency(token);
}

/// Whether `op` is such an access, and has a token if `hasToken`.
bool isPlainAccess(Operation *op, Value buffer, bool hasToken = false) {
  return isAccess(op, buffer) && bool(getToken(op)) == hasToken;
}

/// Whether nobody but accesses of the buffer waits for these tokens.
bool isForAccesses(Value token, Value buffer) {
  return !token || llvm::all_of(token.getUsers(), [&](Operation *user) {
    return isAccess(user, buffer);
  });
}

/// Whether `loop` is in no operation but loops that could hand tokens on.
bool isInLoopsOnly(scf::ForOp loop) {
  Operation *parent = loop->getParentOp();
  while (isa<scf::ForOp>(parent))
    parent = parent->getParentOp();
  return parent->hasTrait<mlir::OpTrait::IsIsolatedFromAbove>();
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
               loop && llvm::any_of(buffer.getUsers(), [&](Operation *user) {
                 return loop->isAncestor(user);
               })) {
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
    }
    op = next;
  }
  return token;
}

/// The sum of `loop` that is in `alloc`, if that is all that is in it.
std::optional<CarriedSum> findCarriedSum(TMEMAllocOp alloc, scf::ForOp loop) {
  Value buffer = alloc.getResult();
  Block *body = loop.getBody();
  bool hasTokens = bool(alloc.getToken());
  if (!cast<gpu::MemDescType>(buffer.getType()).getMutableMemory() ||
      !isForAccesses(alloc.getToken(), buffer) ||
      (hasTokens && !isInLoopsOnly(loop)))
    return std::nullopt;
  TMEMLoadOp last;
  Operation *lastWrite = alloc;
  for (Operation *user : buffer.getUsers()) {
    if (user->getBlock() != body || !isPlainAccess(user, buffer, hasTokens) ||
        !isForAccesses(getToken(user), buffer))
      return std::nullopt;
    if (!isa<TMEMLoadOp>(user) && lastWrite->isBeforeInBlock(user))
      lastWrite = user;
  }
  std::optional<unsigned> number;
  for (OpOperand &operand : body->getTerminator()->getOpOperands()) {
    auto load = operand.get().getDefiningOp<TMEMLoadOp>();
    if (!load || load.getSrc() != buffer || load->getBlock() != body ||
        load.getRedOp() || !lastWrite->isBeforeInBlock(load) || number)
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

/// The load whose value `store` writes to a buffer that has nothing in it yet,
/// from one that nobody needs any more. Null if this is not all that it does.
TMEMLoadOp findHandover(TMEMStoreOp store) {
  auto load = store.getSrc().getDefiningOp<TMEMLoadOp>();
  auto from = load ? load.getSrc().getDefiningOp<TMEMAllocOp>() : TMEMAllocOp();
  auto to = store.getDst().getDefiningOp<TMEMAllocOp>();
  if (!from || !to || from == to || load.getRedOp())
    return {};
  Block *block = store->getBlock();
  if (load->getBlock() != block || from->getBlock() != to->getBlock() ||
      to.getSrc() || to.getToken() || from.getToken() ||
      !isKnownTrue(store.getPred()) ||
      from.getResult().getType() != to.getResult().getType() ||
      !isPlainAccess(load, from.getResult()) ||
      !isPlainAccess(store, to.getResult()))
    return {};
  // A view would have users of its own.
  auto isOver = [&](Operation *user) {
    return user == load ||
           (!user->hasTrait<mlir::OpTrait::IsTerminator>() &&
            !isa<ViewLikeOpInterface>(user) && !comesAfter(user, load));
  };
  auto hasNotBegun = [&](Operation *user) {
    return user == store || comesAfter(user, store);
  };
  if (!llvm::all_of(from.getResult().getUsers(), isOver) ||
      !llvm::all_of(to.getResult().getUsers(), hasNotBegun))
    return {};
  // Both in a loop over tiles: neither has anything for the next tile.
  if (from->getBlock() != block &&
      (!isMadeAnew(from, block) || !isMadeAnew(to, block)))
    return {};
  return load;
}

class HoistTMEMAllocPass
    : public nvidia_gpu::impl::TritonGPUHoistTMEMAllocBase<HoistTMEMAllocPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    SmallVector<TMEMAllocOp> withTokens;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops) {
      SmallVector<TMEMAllocOp> allocs(loop.getBody()->getOps<TMEMAllocOp>());
      for (TMEMAllocOp alloc : allocs)
        if (auto sum = findCarriedSum(alloc, loop)) {
          LDBG() << "a loop keeps its sum: " << alloc;
          hoist(*sum, loop);
          if (sum->hasTokens())
            withTokens.push_back(alloc);
          ++numSums;
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
    // Tokens of new accesses, and what these wait for until all are there.
    Type token = sum.hasTokens() ? sum.alloc.getToken().getType() : Type();
    auto createLoad = [&](OpBuilder &b, Type type) -> Value {
      return TMEMLoadOp::create(b, loop.getLoc(), type, token, /*red=*/Type(),
                                buffer, sum.alloc.getToken(),
                                /*redOp=*/RedOpAttr(), /*abs=*/false,
                                /*NaN=*/false)
          .getResult();
    };
    auto createStore = [&](OpBuilder &b, Location loc, Value value) {
      TMEMStoreOp::create(b, loc, token, buffer, sum.alloc.getToken(), value,
                          makeTrue(b, loc));
    };

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
      old.replaceAllUsesWith(createLoad(builder, old.getType()));
    }
    // What the alloc stored is stored in its place, if it is something else.
    if (start && start != old) {
      builder.setInsertionPoint(sum.alloc);
      createStore(builder, sum.alloc.getLoc(), start);
    }
    sum.alloc->moveBefore(getOutermostLoop(loop));

    Value init = loop.getInitArgs()[sum.number];
    bool startsFromZero =
        !sum.hasTokens() && carryFlag(sum, init, start == old, loop);
    if (!startsFromZero) {
      builder.setInsertionPoint(loop);
      createStore(builder, loop.getLoc(), init);
    }
    Value result = loop.getResult(sum.number);
    if (!result.use_empty()) {
      builder.setInsertionPointAfter(loop);
      if (startsFromZero)
        storeZeroIfEmpty(builder, buffer, init, loop);
      result.replaceAllUsesWith(createLoad(builder, result.getType()));
    }
    dropArgument(loop, sum.number);
    if (sum.load.getResult().use_empty()) {
      if (sum.hasTokens())
        sum.load.getToken().replaceAllUsesWith(sum.load.getDep());
      sum.load.erase();
    }
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
