//===-- AssignStagePhase.cpp - Slots and phases of rings ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// All that fill a ring take rounds, one after the other, and so do all that
// read it in the same partitions. A round goes on from where it stands, through
// loops and branches, like a variable. Before the first one it stands at the
// last slot.
//
// A slot begins empty. So the first wait of those that fill it has to be over
// at once: it is for the phase before the first one, phase 1. The phase changes
// with the step to slot 0.
//
//===----------------------------------------------------------------------===//

#include "AssignStagePhase.h"
#include "PartitionUses.h"

#include "tile/Analysis/OpPartitions.h"
#include "tile/Dialect/NVWS/Transforms/Passes.h"
#include "tile/Dialect/TritonGPU/IR/PartitionAttributes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::triton::nvws {
#define GEN_PASS_DEF_NVWSASSIGNSTAGEPHASE
#include "tile/Dialect/NVWS/Transforms/Passes.h.inc"
} // namespace mlir::triton::nvws

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvws;

int64_t mlir::triton::nvws::getDepth(ArefCreateOp ring) {
  return cast<gpu::MemDescType>(ring.getBuffers().front().getType())
      .getShape()
      .front();
}

namespace {

/// Those that take rounds.
struct Round {
  bool fills;
  /// Where they run; nothing if no partition is said.
  Attribute partitions;
};

struct State {
  Value slot, phase;
  /// The values that are the token of the last round.
  SmallVector<Value, 2> tokens;
};
using States = SmallVector<State>;

bool isEnter(Operation *op) { return isa<ArefPutEnterOp, ArefGetEnterOp>(op); }

bool isPut(Operation *op) { return isa<ArefPutEnterOp, ArefPutExitOp>(op); }

Value getToken(Operation *op) {
  if (auto exit = dyn_cast<ArefPutExitOp>(op))
    return exit.getToken();
  if (auto exit = dyn_cast<ArefGetExitOp>(op))
    return exit.getToken();
  return cast<ArefBufferOp>(op).getToken();
}

/// The operation that entered the ring for `token`, however loops and branches
/// have handed it on.
Operation *findEnter(Value token) {
  llvm::SmallPtrSet<Value, 8> seen;
  SmallVector<Value> next{token};
  while (!next.empty()) {
    Value value = next.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    Operation *def = value.getDefiningOp();
    if (def && isEnter(def))
      return def;
    if (auto result = dyn_cast<OpResult>(value)) {
      unsigned number = result.getResultNumber();
      if (auto loop = dyn_cast<scf::ForOp>(def)) {
        next.push_back(loop.getInitArgs()[number]);
        next.push_back(loop.getBody()->getTerminator()->getOperand(number));
      } else if (auto loop = dyn_cast<scf::WhileOp>(def)) {
        next.push_back(loop.getConditionOp().getArgs()[number]);
      } else if (auto branch = dyn_cast<scf::IfOp>(def)) {
        next.push_back(branch.thenYield().getOperand(number));
        next.push_back(branch.elseYield().getOperand(number));
      }
      continue;
    }
    auto argument = cast<BlockArgument>(value);
    Operation *parent = argument.getOwner()->getParentOp();
    unsigned number = argument.getArgNumber();
    if (auto loop = dyn_cast<scf::ForOp>(parent)) {
      if (number > 0) {
        next.push_back(loop.getInitArgs()[number - 1]);
        next.push_back(loop.getBody()->getTerminator()->getOperand(number - 1));
      }
    } else if (auto loop = dyn_cast<scf::WhileOp>(parent)) {
      if (argument.getOwner() == loop.getAfterBody()) {
        next.push_back(loop.getConditionOp().getArgs()[number]);
      } else {
        next.push_back(loop.getInits()[number]);
        next.push_back(
            loop.getAfterBody()->getTerminator()->getOperand(number));
      }
    }
  }
  return nullptr;
}

/// Makes loops and branches hand on further values.
class Carrier {
public:
  /// `op` with results of these types behind its own. What it hands on is set
  /// later: loops hand on what they got, until then.
  static scf::ForOp extend(scf::ForOp loop, ArrayRef<Value> inits) {
    IRRewriter rewriter(loop);
    return cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
        rewriter, inits, /*replaceInitOperandUsesInLoop=*/false,
        [](OpBuilder &, Location, ArrayRef<BlockArgument> arguments) {
          return SmallVector<Value>(arguments.begin(), arguments.end());
        }));
  }

  static scf::WhileOp extend(scf::WhileOp loop, ArrayRef<Value> inits) {
    OpBuilder builder(loop);
    SmallVector<Value> allInits(loop.getInits());
    SmallVector<Type> types(loop.getResultTypes());
    for (Value init : inits) {
      allInits.push_back(init);
      types.push_back(init.getType());
    }
    auto result = scf::WhileOp::create(builder, loop.getLoc(), types, allInits);
    result->setAttrs(loop->getAttrs());
    result.getBefore().takeBody(loop.getBefore());
    result.getAfter().takeBody(loop.getAfter());
    Operation *yield = result.getAfterBody()->getTerminator();
    for (Value init : inits) {
      Value before =
          result.getBeforeBody()->addArgument(init.getType(), init.getLoc());
      Value after =
          result.getAfterBody()->addArgument(init.getType(), init.getLoc());
      result.getConditionOp().getArgsMutable().append(before);
      yield->insertOperands(yield->getNumOperands(), after);
    }
    replace(loop, result);
    return result;
  }

  static scf::IfOp extend(scf::IfOp branch, ArrayRef<Value> inits) {
    OpBuilder builder(branch);
    SmallVector<Type> types(branch.getResultTypes());
    for (Value init : inits)
      types.push_back(init.getType());
    auto result = scf::IfOp::create(builder, branch.getLoc(), types,
                                    branch.getCondition(),
                                    /*addThenBlock=*/false,
                                    /*addElseBlock=*/false);
    result->setAttrs(branch->getAttrs());
    result.getThenRegion().takeBody(branch.getThenRegion());
    result.getElseRegion().takeBody(branch.getElseRegion());
    if (result.getElseRegion().empty()) {
      builder.createBlock(&result.getElseRegion());
      scf::YieldOp::create(builder, branch.getLoc());
    }
    for (Region &region : result->getRegions()) {
      Operation *yield = region.front().getTerminator();
      yield->insertOperands(yield->getNumOperands(), inits);
    }
    replace(branch, result);
    return result;
  }

private:
  static void replace(Operation *from, Operation *to) {
    for (auto [old, value] :
         llvm::zip(from->getResults(),
                   to->getResults().take_front(from->getNumResults())))
      old.replaceAllUsesWith(value);
    from->erase();
  }
};

/// The accesses of one ring.
class RingRounds {
public:
  explicit RingRounds(ArefCreateOp ring) : ring(ring) {}

  LogicalResult assign() {
    if (failed(collect()))
      return failure();
    States states;
    for (const Round &round : rounds) {
      OpBuilder builder(ring);
      builder.setInsertionPointAfter(ring);
      Value slot = constant(builder, getDepth(ring) - 1);
      Value phase = constant(builder, round.fills ? 0 : 1);
      states.push_back({slot, phase, {}});
    }
    return follow(*ring->getBlock(), states);
  }

private:
  Value constant(OpBuilder &builder, int64_t value,
                 Operation *scheduledAs = nullptr) {
    auto op = arith::ConstantIntOp::create(builder, ring.getLoc(), value, 32);
    if (scheduledAs)
      belongTo(op, scheduledAs);
    return op;
  }

  /// Finds who takes rounds: who fills, then who reads, as the program has
  /// them.
  LogicalResult collect() {
    SmallVector<Operation *> enters;
    ring->getBlock()->walk([&](Operation *op) {
      if (isEnter(op) && op->getOperand(0) == ring.getResult())
        enters.push_back(op);
    });
    for (Operation *user : ring->getUsers())
      if (!isEnter(user) &&
          !isa<ArefPutExitOp, ArefGetExitOp, ArefBufferOp, ArefDestroyOp>(user))
        return user->emitOpError("expected the ring to be used by operations "
                                 "of nvws only");
    for (bool fills : {true, false})
      for (Operation *op : enters)
        if (isPut(op) == fills &&
            !llvm::any_of(rounds, [&](const Round &round) {
              return isOf(round, op) || (fills && round.fills);
            }))
          rounds.push_back(
              {fills, fills ? getFillers(enters) : getPartitions(op)});
    // Those that are in no partition go on where the others stand.
    unsigned readers = llvm::count_if(rounds, [](const Round &round) {
      return !round.fills && round.partitions;
    });
    if (readers > 0)
      llvm::erase_if(rounds, [](const Round &round) {
        return !round.fills && !round.partitions;
      });
    for (Operation *op : enters) {
      if (!isPut(op) && !getPartitions(op) && readers > 1)
        return op->emitOpError("expected the partition that reads the ring, "
                               "as several do, found none");
      roundOf[op] = findRound(op);
    }
    return success();
  }

  static Attribute getFillers(ArrayRef<Operation *> enters) {
    for (Operation *op : enters)
      if (Attribute partitions = getPartitions(op); isPut(op) && partitions)
        return partitions;
    return {};
  }

  static bool isOf(const Round &round, Operation *op) {
    return round.fills == isPut(op) && round.partitions == getPartitions(op);
  }

  unsigned findRound(Operation *op) {
    for (auto [i, round] : llvm::enumerate(rounds))
      if (round.fills ? isPut(op)
                      : !isPut(op) && (!getPartitions(op) || isOf(round, op)))
        return i;
    llvm_unreachable("each of them was found before");
  }

  /// Follows the rounds through `block`.
  LogicalResult follow(Block &block, States &states) {
    for (Operation *op = &block.front(), *next; op; op = next) {
      next = op->getNextNode();
      if (failed(visit(op, states)))
        return failure();
    }
    return success();
  }

  LogicalResult visit(Operation *op, States &states) {
    bool isAccess =
        op->getNumOperands() && op->getOperand(0) == ring.getResult();
    if (isAccess && isEnter(op)) {
      State &state = states[roundOf.lookup(op)];
      if (failed(verifyKnown(op, state)))
        return failure();
      enter(op, state);
      return success();
    }
    if (isAccess && !isa<ArefDestroyOp>(op))
      return setSlot(op, states);
    if (op->getNumRegions() == 0)
      return success();
    llvm::SmallSetVector<unsigned, 4> inside;
    op->walk([&](Operation *nested) {
      if (auto it = roundOf.find(nested); it != roundOf.end())
        inside.insert(it->second);
    });
    SmallVector<unsigned> carried(inside.begin(), inside.end());
    llvm::sort(carried);
    SmallVector<Value> inits;
    for (unsigned round : carried) {
      if (failed(verifyKnown(op, states[round])))
        return failure();
      llvm::append_values(inits, states[round].slot, states[round].phase);
    }
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      if (!carried.empty())
        loop = Carrier::extend(loop, inits);
      return carry(loop, loop.getInits(), loop.getBody(),
                   loop.getRegionIterArgs(), carried, states);
    }
    if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      bool asksInside = loop.getBefore()
                            .walk([&](Operation *nested) {
                              return roundOf.contains(nested)
                                         ? WalkResult::interrupt()
                                         : WalkResult::advance();
                            })
                            .wasInterrupted();
      if (asksInside)
        return loop.emitOpError("expected rings to be entered in the body of "
                                "the loop, not where it decides");
      if (carried.empty() && !handsOnInOrder(loop))
        return visitRegions(loop, states);
      if (!carried.empty()) {
        loop = Carrier::extend(loop, inits);
        setPartitions(loop.getConditionOp(), loop);
      }
      if (!handsOnInOrder(loop))
        return loop.emitOpError(
            "expected the condition to hand on what it got, "
            "in the same order, as rings are entered in "
            "the body");
      return carry(loop, loop.getInits(), loop.getAfterBody(),
                   loop.getAfterBody()->getArguments(), carried, states);
    }
    if (auto group = dyn_cast<WarpGroupOp>(op)) {
      // Each partition goes on by itself. Nobody knows how far they got.
      if (failed(visitRegions(group, states)))
        return failure();
      for (unsigned round : carried)
        states[round] = State();
      return success();
    }
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      if (carried.empty() && branch.getElseRegion().empty())
        return visitRegions(branch, states);
      if (!carried.empty())
        branch = Carrier::extend(branch, inits);
      return carry(branch, carried, states);
    }
    if (carried.empty())
      return visitRegions(op, states);
    return op->emitOpError("expected rings to be entered in loops and branches "
                           "of scf only");
  }

  static LogicalResult verifyKnown(Operation *op, const State &state) {
    if (state.slot)
      return success();
    return op->emitOpError("expected no rounds behind an nvws.warp_group whose "
                           "partitions took some");
  }

  /// Exits there are for what was entered before.
  LogicalResult visitRegions(Operation *op, const States &states) {
    for (Region &region : op->getRegions())
      for (Block &block : region) {
        States inside = states;
        if (!block.empty() && failed(follow(block, inside)))
          return failure();
      }
    return success();
  }

  /// Follows the rounds through a loop, which has new arguments for them at the
  /// end.
  LogicalResult carry(Operation *loop, ValueRange inits, Block *body,
                      ValueRange arguments, ArrayRef<unsigned> carried,
                      States &states) {
    ValueRange mine = arguments.take_back(2 * carried.size());
    States inside = states;
    for (auto [i, round] : llvm::enumerate(carried))
      inside[round] = {mine[2 * i], mine[2 * i + 1], {}};
    for (auto [here, before] : llvm::zip(inside, states))
      llvm::append_range(here.tokens,
                         findTokens(arguments, {{inits, before.tokens}}));
    if (failed(follow(*body, inside)))
      return failure();
    setYields(body, loop, carried, inside);
    ValueRange yields = body->getTerminator()->getOperands();
    for (auto [here, before] : llvm::zip(inside, states))
      for (auto [init, next] : llvm::zip(inits, yields))
        if (llvm::is_contained(before.tokens, init) &&
            !llvm::is_contained(here.tokens, next))
          return loop->emitOpError("expected the loop to hand on the token of "
                                   "its last round, where it got one");
    takeResults(loop, carried, states, [&](unsigned round) {
      return findTokens(loop->getResults(), {{inits, states[round].tokens},
                                             {yields, inside[round].tokens}});
    });
    return success();
  }

  /// Those of `values` that are the token, where each of `sources` gives it.
  static SmallVector<Value, 2>
  findTokens(ValueRange values,
             ArrayRef<std::pair<ValueRange, ArrayRef<Value>>> sources) {
    SmallVector<Value, 2> tokens;
    for (auto [i, value] : llvm::enumerate(values))
      if (llvm::all_of(sources, [&](const auto &source) {
            return llvm::is_contained(source.second, source.first[i]);
          }))
        tokens.push_back(value);
    return tokens;
  }

  /// Whether the arguments of the loop, those of its body and its results are
  /// the same values.
  static bool handsOnInOrder(scf::WhileOp loop) {
    return llvm::equal(loop.getConditionOp().getArgs(),
                       loop.getBeforeBody()->getArguments());
  }

  LogicalResult carry(scf::IfOp branch, ArrayRef<unsigned> carried,
                      States &states) {
    States ends[2] = {states, states};
    for (auto [region, inside] : llvm::zip(branch->getRegions(), ends)) {
      if (failed(follow(region.front(), inside)))
        return failure();
      setYields(&region.front(), branch, carried, inside);
    }
    takeResults(branch, carried, states, [&](unsigned round) {
      return findTokens(
          branch.getResults(),
          {{branch.thenYield().getOperands(), ends[0][round].tokens},
           {branch.elseYield().getOperands(), ends[1][round].tokens}});
    });
    return success();
  }

  static void setYields(Block *body, Operation *op, ArrayRef<unsigned> carried,
                        const States &inside) {
    Operation *yield = body->getTerminator();
    unsigned first = yield->getNumOperands() - 2 * carried.size();
    for (auto [i, round] : llvm::enumerate(carried)) {
      yield->setOperand(first + 2 * i, inside[round].slot);
      yield->setOperand(first + 2 * i + 1, inside[round].phase);
    }
    if (!carried.empty())
      setPartitions(yield, op);
  }

  static void setPartitions(Operation *op, Operation *parent) {
    if (Attribute partitions = getPartitions(parent))
      triton::setPartitions(op, partitions);
  }

  void takeResults(Operation *op, ArrayRef<unsigned> carried, States &states,
                   function_ref<SmallVector<Value, 2>(unsigned)> getTokens) {
    ValueRange results = op->getResults().take_back(2 * carried.size());
    SmallVector<SmallVector<Value, 2>> tokens =
        llvm::map_to_vector(llvm::seq<unsigned>(states.size()), getTokens);
    for (auto [state, more] : llvm::zip(states, tokens))
      llvm::append_range(state.tokens, more);
    for (auto [i, round] : llvm::enumerate(carried))
      states[round] = {results[2 * i], results[2 * i + 1], tokens[round]};
    // Who has the results.
    Attribute all = getPartitions(op);
    if (!all)
      return;
    SmallVector<Attribute> outputs;
    if (auto old = op->getAttrOfType<ArrayAttr>(gpu::kPartitionOutputsAttr))
      llvm::append_range(outputs, old);
    for (unsigned round : carried)
      outputs.append(2,
                     rounds[round].partitions ? rounds[round].partitions : all);
    if (outputs.size() == op->getNumResults())
      op->setAttr(gpu::kPartitionOutputsAttr,
                  ArrayAttr::get(op->getContext(), outputs));
  }

  /// Takes the next round.
  void enter(Operation *op, State &state) {
    OpBuilder builder(op);
    Location loc = op->getLoc();
    auto scheduled = [&](auto made) -> Value {
      belongTo(made, op);
      return made;
    };
    Value one = constant(builder, 1, op);
    Value next =
        scheduled(arith::AddIOp::create(builder, loc, state.slot, one));
    Value depth = constant(builder, getDepth(ring), op);
    Value wraps = scheduled(arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::eq, next, depth));
    Value zero = constant(builder, 0, op);
    Value slot =
        scheduled(arith::SelectOp::create(builder, loc, wraps, zero, next));
    Value other =
        scheduled(arith::XOrIOp::create(builder, loc, state.phase, one));
    Value phase = scheduled(
        arith::SelectOp::create(builder, loc, wraps, other, state.phase));
    auto set = [&](auto enter) {
      enter.getStageMutable().assign(slot);
      enter.getPhaseMutable().assign(phase);
      state = {slot, phase, {enter.getToken()}};
    };
    if (auto put = dyn_cast<ArefPutEnterOp>(op))
      set(put);
    else
      set(cast<ArefGetEnterOp>(op));
    slotOf[op] = slot;
  }

  /// Exits, and asks for buffers, where the ring was entered for the token.
  LogicalResult setSlot(Operation *op, const States &states) {
    Value token = getToken(op);
    Operation *enter = findEnter(token);
    if (!enter || !roundOf.contains(enter))
      return op->emitOpError(
          "expected a token of an operation that enters this ring");
    // Loops and branches hand on the slot of the last round only.
    const State &last = states[roundOf.lookup(enter)];
    bool isDirect = token.getDefiningOp() == enter;
    if (!isDirect && !llvm::is_contained(last.tokens, token))
      return op->emitOpError(
          "expected the token of the last round, as loops and "
          "branches hand on its slot only");
    Value slot = isDirect ? slotOf.lookup(enter) : last.slot;
    if (auto exit = dyn_cast<ArefPutExitOp>(op))
      exit.getStageMutable().assign(slot);
    else if (auto exit = dyn_cast<ArefGetExitOp>(op))
      exit.getStageMutable().assign(slot);
    else
      cast<ArefBufferOp>(op).getStageMutable().assign(slot);
    return success();
  }

  ArefCreateOp ring;
  SmallVector<Round> rounds;
  llvm::DenseMap<Operation *, unsigned> roundOf;
  llvm::DenseMap<Operation *, Value> slotOf;
};

class AssignStagePhasePass
    : public nvws::impl::NVWSAssignStagePhaseBase<AssignStagePhasePass> {
public:
  using Base::Base;

  void runOnOperation() override {
    SmallVector<ArefCreateOp> rings;
    getOperation().walk([&](ArefCreateOp ring) { rings.push_back(ring); });
    for (ArefCreateOp ring : rings) {
      if (failed(assignStageAndPhase(ring)))
        return signalPassFailure();
      ++numRings;
    }
  }
};

} // namespace

LogicalResult mlir::triton::nvws::assignStageAndPhase(ArefCreateOp ring) {
  return RingRounds(ring).assign();
}
