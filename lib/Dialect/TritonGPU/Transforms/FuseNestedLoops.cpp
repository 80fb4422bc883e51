//===-- FuseNestedLoops.cpp - One loop out of two nested ones -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names used below, for a nest
//
//   for i { prologue; for j { body }; epilogue }
//
// of which the inner loop runs `count` times each time: `turn` counts its
// iterations; the prologue runs where turn is 0, the epilogue where it is
// count - 1.
//
//===----------------------------------------------------------------------===//

#include "tile/Analysis/LoopSchedule.h"
#include "tile/Analysis/TripCount.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tritongpu-fuse-nested-loops"

namespace mlir::triton::gpu {
#define GEN_PASS_DEF_TRITONGPUFUSENESTEDLOOPS
#include "tile/Dialect/TritonGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::gpu

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

namespace {

bool isOutside(Value value, scf::ForOp loop) {
  return !loop->isAncestor(value.getParentRegion()->getParentOp());
}

bool hasIntegerBounds(scf::ForOp loop) {
  return isa<IntegerType>(loop.getInductionVar().getType());
}

/// The loop to fuse with `outer`; null, with a reason for the log, if there is
/// none.
scf::ForOp getInnerLoop(scf::ForOp outer) {
  scf::ForOp inner;
  for (auto loop : outer.getBody()->getOps<scf::ForOp>()) {
    if (inner) {
      LDBG() << "two loops side by side: " << outer.getLoc();
      return {};
    }
    inner = loop;
  }
  if (!inner) {
    LDBG() << "no loop directly inside: " << outer.getLoc();
    return {};
  }
  if (!hasIntegerBounds(outer) || !hasIntegerBounds(inner)) {
    LDBG() << "bounds that are not integers: " << outer.getLoc();
    return {};
  }
  for (Value bound :
       {inner.getLowerBound(), inner.getUpperBound(), inner.getStep()}) {
    if (!isOutside(bound, outer)) {
      LDBG() << "the inner loop runs differently often: " << inner.getLoc();
      return {};
    }
  }
  return inner;
}

/// Views of a tensor that need no instructions: made anew where needed, so that
/// only what they are made of lives on.
bool isFree(Operation *op) {
  return isa<SplatOp, BroadcastOp, ExpandDimsOp>(op);
}

/// True if repeating `op` is better than keeping its results in registers.
bool isCheap(Operation *op) {
  return isMemoryEffectFree(op) && op->getNumRegions() == 0 &&
         !isa<MatrixProductOpInterface, ConvertLayoutOp, GatherOp, HistogramOp>(
             op);
}

/// Calls `visit` for every value that `op` and what is nested in it use.
void forEachUsedValue(Operation *op, function_ref<void(Value)> visit) {
  op->walk([&](Operation *nested) {
    for (Value operand : nested->getOperands())
      visit(operand);
  });
}

class NestFusion {
public:
  NestFusion(scf::ForOp outer, scf::ForOp inner)
      : outer(outer), inner(inner), loc(outer.getLoc()), builder(outer) {}

  void run() {
    classify();
    emitCounts();
    emitFusedLoop();
    emitLoopWithoutTurns();
    outer.replaceAllUsesWith(results);
    outer.erase();
  }

private:
  /// What an argument of the inner loop is at the start of its next run.
  enum class Init {
    Invariant, ///< The same each time.
    Carried,   ///< An argument of the outer loop.
    Computed   ///< Made by the prologue.
  };

  //===--- Who needs what of the prologue ---===//

  /// The operation of the prologue that makes `value`, if it is one.
  Operation *getPrologueOp(Value value) {
    Operation *def = value.getDefiningOp();
    if (!def || def->getBlock() != outer.getBody())
      return nullptr;
    return def->isBeforeInBlock(inner) ? def : nullptr;
  }

  void addWithOperands(Operation *op, llvm::SmallPtrSetImpl<Operation *> &set) {
    if (!set.insert(op).second)
      return;
    forEachUsedValue(op, [&](Value used) {
      if (Operation *def = getPrologueOp(used))
        addWithOperands(def, set);
    });
  }

  /// Adds to `early` what has to be carried so that the body can make `value`.
  void addForBody(Value value) {
    Operation *def = getPrologueOp(value);
    if (!def)
      return;
    if (!isFree(def)) {
      early.insert(value);
      return;
    }
    for (Value operand : def->getOperands())
      addForBody(operand);
  }

  void classify() {
    for (Value init : inner.getInitArgs()) {
      auto arg = dyn_cast<BlockArgument>(init);
      inits.push_back(isOutside(init, outer) ? Init::Invariant
                      : arg && arg.getOwner() == outer.getBody() &&
                              arg != outer.getInductionVar()
                          ? Init::Carried
                          : Init::Computed);
      if (inits.back() == Init::Computed)
        if (Operation *def = getPrologueOp(init))
          addWithOperands(def, earlyOps);
    }
    forEachUsedValue(inner, [&](Value used) {
      // Its own operands are no part of the body, but initial values only.
      if (!llvm::is_contained(inner.getInitArgs(), used) ||
          llvm::any_of(used.getUsers(), [&](Operation *op) {
            return inner->isProperAncestor(op);
          }))
        addForBody(used);
    });
    for (Value value : early)
      addWithOperands(value.getDefiningOp(), earlyOps);

    // What has effects keeps its order; what the body needs comes first only if
    // it has none, so that loads can start before the rest of the prologue.
    bool inOrder = llvm::any_of(
        earlyOps, [](Operation *op) { return !isMemoryEffectFree(op); });
    llvm::SmallPtrSet<Operation *, 16> kept;
    for (Operation &op : prologue()) {
      bool keeps = !isCheap(&op);
      forEachUsedValue(&op, [&](Value used) {
        if (Operation *def = getPrologueOp(used))
          keeps |= kept.contains(def);
      });
      if (keeps)
        kept.insert(&op);
      if (inOrder)
        earlyOps.insert(&op);
      else if (!isMemoryEffectFree(&op))
        addLate(&op, kept);
    }
    auto addForEpilogue = [&](Value used) {
      Operation *def = getPrologueOp(used);
      if (!def || !kept.contains(def))
        return;
      if (earlyOps.contains(def)) {
        early.insert(used);
        return;
      }
      late.insert(used);
      addLate(def, kept);
    };
    for (Operation &op : epilogue())
      forEachUsedValue(&op, addForEpilogue);
    for (Value yielded : outer.getYieldedValues())
      addForEpilogue(yielded);
  }

  void addLate(Operation *op, const llvm::SmallPtrSetImpl<Operation *> &kept) {
    if (!lateOps.insert(op).second)
      return;
    forEachUsedValue(op, [&](Value used) {
      Operation *def = getPrologueOp(used);
      if (!def || !kept.contains(def))
        return;
      if (earlyOps.contains(def))
        early.insert(used);
      else
        addLate(def, kept);
    });
  }

  llvm::iterator_range<Block::iterator> prologue() {
    return {outer.getBody()->begin(), inner->getIterator()};
  }
  llvm::iterator_range<Block::iterator> epilogue() {
    return {std::next(inner->getIterator()),
            outer.getBody()->getTerminator()->getIterator()};
  }

  //===--- Making the loops ---===//

  Value constant(Type type, int64_t value) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getIntegerAttr(type, value));
  }

  void emitCounts() {
    Type i64 = builder.getI64Type();
    // In 64 bits, because the multiplication must not overflow.
    count = TripCount(inner, loc).getCount(builder);
    total = arith::MulIOp::create(builder, loc, count,
                                  TripCount(outer, loc).getCount(builder));
    lastTurn = arith::SubIOp::create(builder, loc, count, constant(i64, 1));
    turnType = inner.getInductionVar().getType();
    // Turns are only compared for equality, so fewer bits than the difference
    // of the bounds may have do no harm.
    if (turnType != i64)
      lastTurn = arith::TruncIOp::create(builder, loc, turnType, lastTurn);
  }

  /// `value` at the insertion point: from `map`, or made anew by cloning cheap
  /// operations of the prologue.
  Value materialize(Value value, IRMapping &map) {
    if (Value known = map.lookupOrNull(value))
      return known;
    Operation *def = getPrologueOp(value);
    if (!def)
      return value;
    return cloneWithOperands(def, map)->getResult(
        cast<OpResult>(value).getResultNumber());
  }

  Operation *cloneWithOperands(Operation *op, IRMapping &map) {
    forEachUsedValue(op, [&](Value used) { materialize(used, map); });
    return builder.clone(*op, map);
  }

  Value getPoison(Type type) {
    return ub::PoisonOp::create(builder, loc, type, ub::PoisonAttr());
  }

  /// Makes the fused loop, still without a body. Its arguments are: the turn,
  /// the counter of the outer loop, the arguments of the outer loop, what
  /// lives on of the prologue, and the arguments of the inner loop.
  void createFusedLoop() {
    SmallVector<Value> fusedInits{
        constant(turnType, 0),
        TripCount(outer, loc).getCounterBeforeFirst(builder)};
    outerArgs = fusedInits.size();
    llvm::append_range(fusedInits, outer.getInitArgs());
    earlyArgs = fusedInits.size();
    for (Value value : early)
      fusedInits.push_back(getPoison(value.getType()));
    lateArgs = fusedInits.size();
    for (Value value : late)
      fusedInits.push_back(getPoison(value.getType()));
    innerArgs = fusedInits.size();
    for (auto [kind, init] : llvm::zip(inits, inner.getInitArgs())) {
      if (kind == Init::Invariant)
        fusedInits.push_back(init);
      else if (kind == Init::Carried)
        fusedInits.push_back(
            outer.getTiedLoopInit(cast<BlockArgument>(init))->get());
      else
        fusedInits.push_back(getPoison(init.getType()));
    }

    Type i64 = builder.getI64Type();
    fused = scf::ForOp::create(builder, loc, constant(i64, 0), total,
                               constant(i64, 1), fusedInits);
    for (scf::ForOp source : {inner, outer})
      for (NamedAttribute attr : source->getDiscardableAttrs())
        if (!fused->hasAttr(attr.getName()))
          fused->setAttr(attr.getName(), attr.getValue());
    LoopPlan(fused).eraseFlattened();
    if (!fused.getBody()->empty())
      fused.getBody()->back().erase();
  }

  /// What one part of the fused body makes only in some turns: otherwise it is
  /// what it was.
  struct Kept {
    SmallVector<Type> types;
    SmallVector<Value> otherwise;

    void add(Value value, Value arg) {
      types.push_back(value.getType());
      otherwise.push_back(arg);
    }
  };

  void emitFusedLoop() {
    createFusedLoop();
    auto args = fused.getRegionIterArgs();
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(fused.getBody());
    Value turn = args[0];
    Value isFirst = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::eq, turn, constant(turnType, 0));
    Value isLast = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                         turn, lastTurn);

    IRMapping map;
    for (auto [i, arg] : llvm::enumerate(outer.getRegionIterArgs()))
      map.map(arg, args[outerArgs + i]);
    ResultRange begin = emitBegin(isFirst, map);
    ResultRange rest = emitRest(isFirst, map, begin.take_front(0));
    SmallVector<Value> turnResults = emitTurn(turn, map, begin);
    ResultRange end = emitEnd(isLast, map, turnResults);

    Value advanced =
        arith::AddIOp::create(builder, loc, turn, constant(turnType, 1));
    SmallVector<Value> yields{arith::SelectOp::create(builder, loc, isLast,
                                                      constant(turnType, 0),
                                                      advanced),
                              begin[0]};
    unsigned numOuter = outer.getNumRegionIterArgs();
    llvm::append_range(yields, end.take_front(numOuter));
    llvm::append_range(yields, begin.slice(1, early.size()));
    llvm::append_range(yields, rest);
    unsigned reset = numOuter;
    for (auto [kind, value] : llvm::zip(inits, turnResults))
      yields.push_back(kind == Init::Computed ? value : Value(end[reset++]));
    scf::YieldOp::create(builder, loc, yields);
    results.assign(fused.getResults().begin() + outerArgs,
                   fused.getResults().begin() + earlyArgs);
  }

  /// What the body needs of the prologue, where `isFirst`. Its results are the
  /// counter of the outer loop, the values that live on, and the initial values
  /// of the inner loop.
  ResultRange emitBegin(Value isFirst, IRMapping &map) {
    auto args = fused.getRegionIterArgs();
    Value previous = args[1];
    Kept kept;
    kept.add(outer.getInductionVar(), previous);
    for (auto [i, value] : llvm::enumerate(early))
      kept.add(value, args[earlyArgs + i]);
    for (auto [i, init] : llvm::enumerate(inner.getInitArgs()))
      if (inits[i] == Init::Computed)
        kept.add(init, args[innerArgs + i]);
    ResultRange begin = emitIf(isFirst, kept.types, kept.otherwise, [&] {
      IRMapping local = map;
      Value next =
          TripCount(outer, loc).getLater(builder, previous, /*ahead=*/1);
      local.map(outer.getInductionVar(), next);
      for (Operation &op : prologue())
        if (earlyOps.contains(&op))
          builder.clone(op, local);
      SmallVector<Value> values{next};
      for (Value value : early)
        values.push_back(local.lookup(value));
      for (auto [kind, init] : llvm::zip(inits, inner.getInitArgs()))
        if (kind == Init::Computed)
          values.push_back(local.lookup(init));
      return values;
    });
    map.map(outer.getInductionVar(), begin[0]);
    for (auto [value, result] : llvm::zip(early, begin.slice(1, early.size())))
      map.map(value, result);
    return begin;
  }

  /// What only the epilogue needs of the prologue, where `isFirst` too. It is
  /// `none` if that is nothing.
  ResultRange emitRest(Value isFirst, IRMapping &map, ResultRange none) {
    if (lateOps.empty())
      return none;
    Kept kept;
    for (auto [i, value] : llvm::enumerate(late))
      kept.add(value, fused.getRegionIterArg(lateArgs + i));
    ResultRange rest = emitIf(isFirst, kept.types, kept.otherwise, [&] {
      IRMapping local = map;
      for (Operation &op : prologue())
        if (lateOps.contains(&op))
          cloneWithOperands(&op, local);
      SmallVector<Value> values;
      for (Value value : late)
        values.push_back(local.lookup(value));
      return values;
    });
    for (auto [value, result] : llvm::zip(late, rest))
      map.map(value, result);
    return rest;
  }

  /// The body of the inner loop. Returns what it yields.
  SmallVector<Value> emitTurn(Value turn, const IRMapping &map,
                              ResultRange begin) {
    IRMapping inBody = map;
    inBody.map(inner.getInductionVar(),
               TripCount(inner, loc).getCounter(builder, turn));
    unsigned computed = 1 + early.size();
    for (auto [i, arg] : llvm::enumerate(inner.getRegionIterArgs()))
      inBody.map(arg, inits[i] == Init::Computed
                          ? Value(begin[computed++])
                          : Value(fused.getRegionIterArg(innerArgs + i)));
    for (Operation &op : inner.getBody()->without_terminator())
      cloneWithOperands(&op, inBody);
    SmallVector<Value> turnResults;
    for (Value value : inner.getYieldedValues())
      turnResults.push_back(materialize(value, inBody));
    return turnResults;
  }

  /// The epilogue, where `isLast`. It also sets the arguments of the inner loop
  /// back.
  ResultRange emitEnd(Value isLast, const IRMapping &map,
                      ArrayRef<Value> turnResults) {
    Kept kept;
    for (auto [i, value] : llvm::enumerate(outer.getRegionIterArgs()))
      kept.add(value, fused.getRegionIterArg(outerArgs + i));
    for (auto [i, value] : llvm::enumerate(turnResults))
      if (inits[i] != Init::Computed)
        kept.add(value, value);
    return emitIf(isLast, kept.types, kept.otherwise, [&] {
      IRMapping local = map;
      for (auto [result, value] : llvm::zip(inner.getResults(), turnResults))
        local.map(result, value);
      for (Operation &op : epilogue())
        cloneWithOperands(&op, local);
      SmallVector<Value> values;
      for (Value value : outer.getYieldedValues())
        values.push_back(materialize(value, local));
      for (auto [kind, init] : llvm::zip(inits, inner.getInitArgs())) {
        if (kind == Init::Invariant)
          values.push_back(init);
        else if (kind == Init::Carried)
          values.push_back(
              values[cast<BlockArgument>(init).getArgNumber() - 1]);
      }
      return values;
    });
  }

  /// An scf.if that yields what `then` makes, else `otherwise`.
  ResultRange emitIf(Value condition, TypeRange types, ValueRange otherwise,
                     function_ref<SmallVector<Value>()> then) {
    bool hasResults = !types.empty();
    auto ifOp = scf::IfOp::create(builder, loc, types, condition,
                                  /*addThenBlock=*/true,
                                  /*addElseBlock=*/hasResults);
    OpBuilder::InsertionGuard guard(builder);
    Block *thenBlock = ifOp.thenBlock();
    if (!thenBlock->empty())
      thenBlock->back().erase();
    builder.setInsertionPointToEnd(thenBlock);
    scf::YieldOp::create(builder, loc, then());
    if (hasResults) {
      builder.setInsertionPointToEnd(ifOp.elseBlock());
      scf::YieldOp::create(builder, loc, otherwise);
    }
    return ifOp.getResults();
  }

  /// If the inner loop has no iterations, prologues and epilogues run all the
  /// same: in a loop of their own, so that the fused one need not care.
  void emitLoopWithoutTurns() {
    APInt known;
    if (matchPattern(count, m_ConstantInt(&known)) &&
        known.isStrictlyPositive())
      return;
    Value hasNone =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, count,
                              constant(builder.getI64Type(), 0));
    Value upper = TripCount(outer, loc).getUpperBoundIf(builder, hasNone);
    auto loop = scf::ForOp::create(
        builder, loc, outer.getLowerBound(), upper, outer.getStep(), results,
        /*bodyBuilder=*/nullptr, outer.getUnsignedCmp());
    OpBuilder::InsertionGuard guard(builder);
    if (!loop.getBody()->empty())
      loop.getBody()->back().erase();
    builder.setInsertionPointToEnd(loop.getBody());
    IRMapping map;
    map.map(outer.getInductionVar(), loop.getInductionVar());
    map.map(outer.getRegionIterArgs(), loop.getRegionIterArgs());
    for (Operation &op : prologue())
      builder.clone(op, map);
    for (auto [result, init] :
         llvm::zip(inner.getResults(), inner.getInitArgs()))
      map.map(result, map.lookupOrDefault(init));
    for (Operation &op : epilogue())
      builder.clone(op, map);
    builder.clone(*outer.getBody()->getTerminator(), map);
    results.assign(loop.getResults().begin(), loop.getResults().end());
  }

  scf::ForOp outer, inner;
  Location loc;
  OpBuilder builder;
  /// One for each argument of the inner loop.
  SmallVector<Init> inits;
  /// Values of the prologue that live through the turns, and the operations
  /// that make them: those that the body needs, and those that only the
  /// epilogue needs.
  llvm::SetVector<Value> early, late;
  llvm::SmallPtrSet<Operation *, 16> earlyOps, lateOps;
  Value count, total, lastTurn;
  Type turnType;
  scf::ForOp fused;
  /// Where its arguments of each kind begin.
  unsigned outerArgs = 0, earlyArgs = 0, lateArgs = 0, innerArgs = 0;
  SmallVector<Value> results;
};

struct TritonGPUFuseNestedLoops
    : public gpu::impl::TritonGPUFuseNestedLoopsBase<TritonGPUFuseNestedLoops> {
  using Base::Base;

  void runOnOperation() override {
    // Inner nests first: what they become may be fused again.
    SmallVector<scf::ForOp> outers;
    getOperation().walk([&](scf::ForOp loop) {
      if (LoopPlan(loop).isFlattened())
        outers.push_back(loop);
    });
    for (scf::ForOp outer : outers) {
      scf::ForOp inner = getInnerLoop(outer);
      if (!inner)
        continue;
      NestFusion(outer, inner).run();
      ++numFused;
    }
  }
};

} // namespace
