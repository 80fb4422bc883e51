//===-- Rematerialization.cpp - Compute again instead of converting -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A value wanted in another layout can be converted where it is defined. Or it
// can be computed again from operands that are wanted in a suitable layout.
// Each of them poses the same question. The cheapest mix of the two for the
// operand of each conversion is found by recursion over (value, layout), loops
// being cut where they close. That covers removing a conversion altogether,
// moving it to a narrower or smaller operand, and moving it out of a loop.
//
// Computing again costs nothing if the first computation goes away. To know
// that in advance all conversions are assumed to go: a value dies if nothing
// but conversions and computations of values that die use it.
//
//===----------------------------------------------------------------------===//

#include "Internal.h"

#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/Transforms/LayoutInference.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/DebugLog.h"
#include <limits>

#define DEBUG_TYPE "tritongpu-remove-layout-conversions"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;
using namespace mlir::triton::gpu::layout_conversions;

namespace {

/// A value wanted in a layout.
using Wish = std::pair<Value, Attribute>;

struct Plan {
  double cost = 0;
  bool recompute = false;
  /// For the operation that makes the value, if it is computed again.
  Attribute operandLayout;
};

constexpr double kImpossible = std::numeric_limits<double>::infinity();
/// Beyond that many wishes the rest of a computation is converted.
constexpr size_t kMaxWishes = 2000;

class Rematerializer {
public:
  explicit Rematerializer(Operation *func) : func(func), reads(func) {}
  RematerializationResult run(bool onlyFixedUses);

private:
  void findLiveValues();
  bool isDying(Operation *op);

  /// The cost of fulfilling the wish; leaves a plan for it.
  double plan(Value value, Attribute layout);
  double planRecomputation(Value value, Attribute layout, Plan &plan);

  Value fulfil(Value value, Attribute layout);
  Value recompute(Value value, const Plan &plan, Attribute layout);
  Value addLoopArgument(scf::ForOp loop, BlockArgument arg, Attribute layout);
  Value addBranchResult(scf::IfOp branch, OpResult result, Attribute layout);
  /// Stands for a result that `op` gets when it is rebuilt.
  Value addPlaceholder(Operation *op, RankedTensorType type);
  void rebuildOperations();
  /// From now on, `value` fulfils `wish`.
  void know(const Wish &wish, Value value);
  /// Before something is erased: nothing may be known of a value at its
  /// address, where the next one may be made.
  void forget(Value value, Value replacement);
  void forget(Operation *op, Operation *replacement);

  double getConversionCostCached(RankedTensorType type, Attribute layout);
  double getComputationCost(Operation *op, OpResult result, Attribute layout);
  double getWeightAt(Value value);

  Operation *func;
  RepeatableReads reads;
  DenseSet<Value> live;
  DenseMap<Wish, Plan> plans;
  DenseSet<Wish> open;
  /// Wishes that have been fulfilled, by values next to the original ones.
  DenseMap<Wish, Value> known;
  /// Those of `known` that are about a value or fulfilled by it; some may be
  /// known no more. Without it, each conversion that goes had all searched.
  DenseMap<Value, SmallVector<Wish, 2>> wishesWith;
  /// Results to come, of operations that must be rebuilt to have them.
  llvm::MapVector<Operation *, SmallVector<UnrealizedConversionCastOp>> pending;
  DenseMap<std::pair<Type, Attribute>, double> conversionCosts;
  DenseMap<std::pair<Type, Attribute>, unsigned> elementCounts;
};

RankedTensorType typeOf(Value value, Attribute layout) {
  return cloneWithEncoding(cast<RankedTensorType>(value.getType()), layout);
}

/// Whether `op` may be computed in another layout instead, but not once more.
bool isMovable(Operation *op) {
  return isa<ScanOp>(op) && isMemoryEffectFree(op) && op->hasOneUse();
}

//===----------------------------------------------------------------------===//
// What dies
//===----------------------------------------------------------------------===//

void Rematerializer::findLiveValues() {
  SmallVector<Value> worklist;
  auto mark = [&](Value value) {
    if (getLayout(value) && live.insert(value).second)
      worklist.push_back(value);
  };
  func->walk([&](Operation *op) {
    bool followed =
        isa<scf::YieldOp>(op) && isa<scf::ForOp, scf::IfOp>(op->getParentOp());
    if (followed || isa<ConvertLayoutOp, scf::ForOp>(op) ||
        getElementCost(op, reads) || isMovable(op))
      return;
    for (Value operand : op->getOperands())
      mark(operand);
  });
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    auto markLoopCarried = [&](scf::ForOp loop, unsigned index) {
      mark(loop.getRegionIterArg(index));
      mark(loop.getResult(index));
      mark(loop.getInitArgs()[index]);
      mark(loop.getYieldedValues()[index]);
    };
    if (auto arg = dyn_cast<BlockArgument>(value)) {
      auto loop = dyn_cast<scf::ForOp>(arg.getOwner()->getParentOp());
      if (loop && arg.getArgNumber() >= loop.getNumInductionVars())
        markLoopCarried(loop, arg.getArgNumber() - loop.getNumInductionVars());
      continue;
    }
    auto result = cast<OpResult>(value);
    Operation *op = result.getOwner();
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      markLoopCarried(loop, result.getResultNumber());
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      for (Region *region : {&branch.getThenRegion(), &branch.getElseRegion()})
        mark(region->front().getTerminator()->getOperand(
            result.getResultNumber()));
    } else if (!isa<ConvertLayoutOp>(op)) {
      for (Value operand : op->getOperands())
        mark(operand);
    }
  }
}

bool Rematerializer::isDying(Operation *op) {
  return llvm::none_of(op->getResults(),
                       [&](Value result) { return live.contains(result); });
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

double Rematerializer::getConversionCostCached(RankedTensorType type,
                                               Attribute layout) {
  auto [it, inserted] = conversionCosts.try_emplace({type, layout}, 0);
  if (inserted)
    // Even a conversion that does nothing is in the way of other passes.
    it->second = std::max(getConversionCost(type, layout), 0.25);
  return it->second;
}

double Rematerializer::getComputationCost(Operation *op, OpResult result,
                                          Attribute layout) {
  if (auto scan = dyn_cast<ScanOp>(op))
    return getScanCost(scan, layout).value_or(kImpossible);
  double cost = *getElementCost(op, reads);
  if (cost == 0)
    return 0;
  RankedTensorType type = typeOf(result, layout);
  auto [it, inserted] = elementCounts.try_emplace({type, layout}, 0);
  if (inserted)
    // Copies are computed once.
    it->second = llvm::product_of(getElemsPerThread(type));
  return cost * it->second;
}

double Rematerializer::getWeightAt(Value value) {
  if (Operation *def = value.getDefiningOp())
    return getExecutionWeight(def);
  return getExecutionWeight(&cast<BlockArgument>(value).getOwner()->front());
}

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

double Rematerializer::plan(Value value, Attribute layout) {
  if (getLayout(value) == layout || known.contains({value, layout}))
    return 0;
  if (auto it = plans.find({value, layout}); it != plans.end())
    return it->second.cost;
  // Around a loop: whoever asked first pays.
  if (open.contains({value, layout}))
    return 0;

  Plan plan;
  plan.cost =
      getConversionCostCached(cast<RankedTensorType>(value.getType()), layout) *
      getWeightAt(value);
  if (plans.size() < kMaxWishes) {
    open.insert({value, layout});
    Plan alternative;
    alternative.recompute = true;
    alternative.cost = planRecomputation(value, layout, alternative);
    open.erase({value, layout});
    // To convert the result of a conversion is never better than to convert its
    // operand.
    bool skips = value.getDefiningOp<ConvertLayoutOp>() != nullptr;
    if (alternative.cost < plan.cost ||
        (skips && alternative.cost == plan.cost))
      plan = alternative;
  }
  LDBG(2) << (plan.recompute ? "  compute " : "  convert ") << value << " for "
          << plan.cost;
  plans[{value, layout}] = plan;
  return plan.cost;
}

double Rematerializer::planRecomputation(Value value, Attribute layout,
                                         Plan &result) {
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(arg.getOwner()->getParentOp());
    if (!loop || arg.getArgNumber() < loop.getNumInductionVars())
      return kImpossible;
    double init = plan(loop.getTiedLoopInit(arg)->get(), layout);
    return init + plan(loop.getTiedLoopYieldedValue(arg)->get(), layout);
  }

  auto opResult = cast<OpResult>(value);
  Operation *op = opResult.getOwner();
  unsigned index = opResult.getResultNumber();
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    BlockArgument arg = loop.getRegionIterArg(index);
    // That the argument was converted in the loop gives no result after it.
    return known.contains({arg, layout})
               ? planRecomputation(arg, layout, result)
               : plan(arg, layout);
  }
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return plan(branch.thenYield()->getOperand(index), layout) +
           plan(branch.elseYield()->getOperand(index), layout);
  if (auto convert = dyn_cast<ConvertLayoutOp>(op)) {
    double cost = plan(convert.getSrc(), layout);
    // A conversion that nobody else needs is spared.
    if (isDying(op) && convert->hasOneUse())
      cost -= getConversionCostCached(convert.getSrc().getType(),
                                      convert.getType().getEncoding()) *
              getExecutionWeight(op);
    return std::max(cost, 0.0);
  }
  bool moves = isMovable(op) && isDying(op);
  if (!moves && !getElementCost(op, reads))
    return kImpossible;
  if (isLayoutFree(op))
    return 0;

  result.operandLayout = inferOperandLayout(opResult, layout);
  if (!result.operandLayout)
    return kImpossible;
  double cost = getComputationCost(op, opResult, layout);
  if (cost == kImpossible)
    return kImpossible;
  if (isDying(op)) {
    cost -= getComputationCost(op, opResult, getLayout(value));
    // What moves may gain by it, if the lowering takes both layouts.
    if (!moves || cost < -std::numeric_limits<double>::max())
      cost = std::max(cost, 0.0);
  }
  cost *= getExecutionWeight(op);
  for (OpOperand &operand : op->getOpOperands())
    if (getLayout(operand.get()) && !acceptsAnyLayout(operand))
      cost += plan(operand.get(), result.operandLayout);
  return cost;
}

//===----------------------------------------------------------------------===//
// Carrying it out
//===----------------------------------------------------------------------===//

Value Rematerializer::fulfil(Value value, Attribute layout) {
  if (getLayout(value) == layout)
    return value;
  if (auto it = known.find({value, layout}); it != known.end()) {
    assert(it->second.getType() == typeOf(value, layout) &&
           "known of another value");
    return it->second;
  }
  if (auto it = plans.find({value, layout});
      it != plans.end() && it->second.recompute) {
    // Copied, as the table may grow meanwhile.
    Plan plan = it->second;
    Value result = recompute(value, plan, layout);
    know({value, layout}, result);
    return result;
  }
  OpBuilder b(value.getContext());
  b.setInsertionPointAfterValue(value);
  Value result =
      ConvertLayoutOp::create(b, value.getLoc(), typeOf(value, layout), value);
  know({value, layout}, result);
  return result;
}

Value Rematerializer::recompute(Value value, const Plan &plan,
                                Attribute layout) {
  if (auto arg = dyn_cast<BlockArgument>(value))
    return addLoopArgument(cast<scf::ForOp>(arg.getOwner()->getParentOp()), arg,
                           layout);
  auto result = cast<OpResult>(value);
  Operation *op = result.getOwner();
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    addLoopArgument(loop, loop.getTiedLoopRegionIterArg(result), layout);
    return known.at({value, layout});
  }
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return addBranchResult(branch, result, layout);
  if (auto convert = dyn_cast<ConvertLayoutOp>(op))
    return fulfil(convert.getSrc(), layout);

  IRMapping mapping;
  for (OpOperand &operand : op->getOpOperands())
    if (getLayout(operand.get()) && !acceptsAnyLayout(operand))
      mapping.map(operand.get(), fulfil(operand.get(), plan.operandLayout));
  OpBuilder b(op->getContext());
  b.setInsertionPointAfter(op);
  Operation *copy = b.clone(*op, mapping);
  // All results have one layout. That which the operation infers may be another
  // name of the one that is wished for.
  for (OpResult original : op->getResults()) {
    if (!getLayout(original))
      continue;
    Value copied = copy->getResult(original.getResultNumber());
    setLayout(copied, layout);
    know({original, layout}, copied);
  }
  return copy->getResult(result.getResultNumber());
}

Value Rematerializer::addPlaceholder(Operation *op, RankedTensorType type) {
  OpBuilder b(op->getContext());
  b.setInsertionPointAfter(op);
  auto placeholder = UnrealizedConversionCastOp::create(
      b, op->getLoc(), Type(type), ValueRange{});
  pending[op].push_back(placeholder);
  return placeholder.getResult(0);
}

Value Rematerializer::addLoopArgument(scf::ForOp loop, BlockArgument arg,
                                      Attribute layout) {
  // Known may also be a conversion of the argument, which is not carried.
  if (auto carried =
          dyn_cast_if_present<BlockArgument>(known.lookup({arg, layout}));
      carried && carried.getOwner() == loop.getBody())
    return carried;
  RankedTensorType type = typeOf(arg, layout);
  // Entered first, for the way around the loop leads back here.
  BlockArgument copy = loop.getBody()->addArgument(type, arg.getLoc());
  know({arg, layout}, copy);
  OpResult result = loop.getTiedLoopResult(arg);
  know({result, layout}, addPlaceholder(loop, type));
  Value init = loop.getTiedLoopInit(arg)->get();
  Value yielded = loop.getTiedLoopYieldedValue(arg)->get();
  // Operands of the same loop may be added on the way. They have the same order
  // in both places as long as each pair is appended at once. A slot is kept for
  // this one.
  unsigned initIndex = loop->getNumOperands();
  Operation *yield = loop.getBody()->getTerminator();
  unsigned yieldIndex = yield->getNumOperands();
  loop->insertOperands(initIndex, init);
  yield->insertOperands(yieldIndex, yielded);
  Value newInit = fulfil(init, layout);
  loop->setOperand(initIndex, newInit);
  Value newYielded = fulfil(yielded, layout);
  yield->setOperand(yieldIndex, newYielded);
  return copy;
}

Value Rematerializer::addBranchResult(scf::IfOp branch, OpResult result,
                                      Attribute layout) {
  unsigned index = result.getResultNumber();
  Value placeholder = addPlaceholder(branch, typeOf(result, layout));
  Operation *yields[] = {branch.thenYield(), branch.elseYield()};
  unsigned slot = yields[0]->getNumOperands();
  for (Operation *yield : yields)
    yield->insertOperands(slot, yield->getOperand(index));
  for (Operation *yield : yields) {
    Value value = fulfil(yield->getOperand(index), layout);
    yield->setOperand(slot, value);
  }
  return placeholder;
}

void Rematerializer::know(const Wish &wish, Value value) {
  known[wish] = value;
  wishesWith[wish.first].push_back(wish);
  wishesWith[value].push_back(wish);
}

void Rematerializer::forget(Value value, Value replacement) {
  SmallVector<Wish> wishes(wishesWith.lookup(value));
  wishesWith.erase(value);
  for (const Wish &wish : wishes) {
    if (wish.first == value)
      known.erase(wish);
    else if (known.lookup(wish) == value)
      know(wish, replacement);
  }
  live.erase(value);
}

void Rematerializer::forget(Operation *op, Operation *replacement) {
  DenseMap<Value, Value> renamed;
  for (auto [before, after] :
       llvm::zip(op->getResults(), replacement->getResults())) {
    renamed[before] = after;
    if (live.erase(before))
      live.insert(after);
  }
  for (auto [i, placeholder] : llvm::enumerate(pending[op]))
    renamed[placeholder.getResult(0)] =
        replacement->getResult(op->getNumResults() + i);
  llvm::SmallMapVector<Wish, Value, 4> changed;
  for (auto [before, after] : renamed) {
    for (const Wish &wish : wishesWith.lookup(before))
      if (Value value = known.lookup(wish);
          wish.first == before || value == before)
        changed.insert({wish, value});
    wishesWith.erase(before);
  }
  auto rename = [&](Value value) {
    auto it = renamed.find(value);
    return it == renamed.end() ? value : it->second;
  };
  for (auto &[wish, value] : changed)
    known.erase(wish);
  for (auto &[wish, value] : changed)
    if (value)
      know({rename(wish.first), wish.second}, rename(value));
  for (auto [before, after] : renamed)
    before.replaceAllUsesWith(after);
}

void Rematerializer::rebuildOperations() {
  for (auto &[op, placeholders] : pending) {
    OpBuilder b(op);
    SmallVector<Type> types(op->getResultTypes());
    for (UnrealizedConversionCastOp placeholder : placeholders)
      types.push_back(placeholder.getResult(0).getType());
    OperationState state(op->getLoc(), op->getName());
    state.addOperands(op->getOperands());
    state.addTypes(types);
    state.addAttributes(op->getAttrs());
    for (Region &region : op->getRegions())
      state.addRegion()->takeBody(region);
    Operation *replacement = b.create(state);
    forget(op, replacement);
    for (UnrealizedConversionCastOp placeholder : placeholders)
      placeholder.erase();
    op->erase();
  }
  pending.clear();
}

//===----------------------------------------------------------------------===//
// The step
//===----------------------------------------------------------------------===//

RematerializationResult Rematerializer::run(bool onlyFixedUses) {
  RematerializationResult statistics;
  findLiveValues();
  SmallVector<ConvertLayoutOp> converts;
  func->walk([&](ConvertLayoutOp convert) {
    if (!onlyFixedUses || llvm::any_of(convert->getUses(), isFixedUse))
      converts.push_back(convert);
  });
  for (ConvertLayoutOp convert : converts) {
    Value source = convert.getSrc();
    if (convert.use_empty() || source.getType() == convert.getType())
      continue;
    Attribute layout = convert.getType().getEncoding();
    double weight = getExecutionWeight(convert);
    double present =
        getConversionCostCached(convert.getSrc().getType(), layout) * weight;
    plans.clear();
    double best = plan(source, layout);
    bool isKnown = known.contains({source, layout});
    if (best >= present && !isKnown)
      continue;
    bool recomputes = isKnown || plans[{source, layout}].recompute;
    LDBG() << (recomputes ? "recompute for " : "hoist ") << convert << ", cost "
           << present << " -> " << best;
    if (!recomputes) {
      OpBuilder b(convert);
      b.setInsertionPointAfterValue(source);
      convert->moveBefore(b.getInsertionBlock(), b.getInsertionPoint());
      know({source, layout}, convert);
      ++statistics.numHoisted;
      continue;
    }
    Value replacement = fulfil(source, layout);
    // Placeholders of results that are being added are among the uses by now.
    convert.replaceAllUsesWith(replacement);
    forget(convert.getResult(), replacement);
    convert.erase();
    rebuildOperations();
    ++statistics.numRematerialized;
  }
  return statistics;
}

} // namespace

RematerializationResult
layout_conversions::rematerializeBackward(Operation *func, bool onlyFixedUses) {
  return Rematerializer(func).run(onlyFixedUses);
}
