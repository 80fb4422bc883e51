//===-- GroupPartition.cpp - A second group that computes -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "GroupPartition.h"

#include "tile/Analysis/MemoryModel.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/Transforms/Partitions.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tritongpu-partition-loops"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

/// What the second group hands over lies in shared memory beside the rings.
static constexpr int64_t kMostResultBytes = 16 << 10;
static constexpr int kWarpsPerGroup = 4;

//===----------------------------------------------------------------------===//
// Two chains of dots
//===----------------------------------------------------------------------===//

/// The buffer that a view shows.
static Value getBuffer(Value value) {
  while (Operation *def = value.getDefiningOp()) {
    if (!isa<ViewLikeOpInterface>(def))
      break;
    value = def->getOperand(0);
  }
  return value;
}

static Value getKey(Value value) {
  return isa<MemDescType>(value.getType()) ? getBuffer(value) : value;
}

GroupPartition::Dots GroupPartition::get(Value value) const {
  auto it = sources.find(getKey(value));
  return it == sources.end() ? Dots(products.size()) : it->second;
}

bool GroupPartition::add(Value value, const Dots &dots) {
  Dots &known =
      sources.try_emplace(getKey(value), products.size()).first->second;
  bool isNew = dots.test(known);
  known |= dots;
  return isNew;
}

GroupPartition::Dots GroupPartition::getOperands(Operation *op) const {
  Dots dots(products.size());
  for (Value operand : op->getOperands())
    dots |= get(operand);
  return dots;
}

/// Whether `op` may write to the memory of an operand.
static bool mayWrite(Operation *op, OpOperand &operand) {
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  if (!effects)
    return !isMemoryEffectFree(op);
  SmallVector<MemoryEffects::EffectInstance> found;
  effects.getEffectsOnValue(operand.get(), found);
  return llvm::any_of(found, [](const MemoryEffects::EffectInstance &effect) {
    return isa<MemoryEffects::Write>(effect.getEffect());
  });
}

/// Hands on which dots the operands of `op` come from; whether that is new.
bool GroupPartition::follow(Operation *op) {
  bool changes = false;
  if (auto yield = dyn_cast<scf::YieldOp>(op)) {
    auto around = dyn_cast<scf::ForOp>(op->getParentOp());
    for (auto [i, value] : llvm::enumerate(yield.getOperands())) {
      Dots dots = get(value);
      changes |= add(op->getParentOp()->getResult(i), dots);
      if (around)
        changes |= add(around.getRegionIterArg(i), dots);
    }
    return changes;
  }
  // A loop in this one hands on what it begins with, and needs none of it.
  if (auto inner = dyn_cast<scf::ForOp>(op)) {
    for (auto [i, init] : llvm::enumerate(inner.getInitArgs())) {
      Dots dots = get(init);
      changes |= add(inner.getRegionIterArg(i), dots);
      changes |= add(inner.getResult(i), dots);
    }
    return changes;
  }
  Dots dots = getOperands(op);
  if (auto product = dyn_cast<MatrixProductOpInterface>(op))
    dots.set(std::distance(products.begin(), llvm::find(products, product)));
  // What needs two dots makes them one chain.
  for (unsigned dot : dots.set_bits())
    chains.unionSets(dots.find_first(), dot);
  for (Value result : op->getResults())
    changes |= add(result, dots);
  for (OpOperand &operand : op->getOpOperands())
    if (isa<MemDescType>(operand.get().getType()) && dots.any() &&
        mayWrite(op, operand))
      changes |= add(operand.get(), dots);
  return changes;
}

/// Whether each iteration of the loops around `op`, up to `loop`, runs it.
bool GroupPartition::isAlwaysRun(Operation *op) const {
  Operation *parent = op->getParentOp();
  while (parent != loop && isa<scf::ForOp>(parent))
    parent = parent->getParentOp();
  return parent == loop;
}

/// The dots of the loop: all run beside the threads, in every iteration.
bool GroupPartition::findProducts() {
  bool areBeside = true;
  loop.walk([&](MatrixProductOpInterface product) {
    areBeside &= isAlwaysRun(product) && barriers.arrivesByItself(product) &&
                 !product.isAsync() && !barriers.isOfAllBlocks(product);
    products.push_back(product);
  });
  return areBeside && products.size() > 2;
}

void GroupPartition::findChains() {
  for (unsigned dot : llvm::seq<unsigned>(products.size()))
    chains.insert(dot);
  for (bool changes = true; changes;) {
    changes = false;
    loop.walk([&](Operation *op) {
      if (op != loop)
        changes |= follow(op);
    });
  }
}

/// The chain of the last dot moves.
bool GroupPartition::isMoved(const Dots &dots) const {
  return dots.any() &&
         chains.isEquivalent(dots.find_first(), products.size() - 1);
}

/// Sorts what has effects by who does it.
StringRef GroupPartition::sortOperations() {
  StringRef why;
  auto sort = [&](Operation *op) {
    if (isa<scf::WhileOp>(op)) {
      why = "there is a loop without a count in it";
      return;
    }
    if (auto inner = dyn_cast<scf::ForOp>(op)) {
      for (Value bound :
           {inner.getLowerBound(), inner.getUpperBound(), inner.getStep()})
        if (get(bound).any())
          why = "its dots decide how often a loop in it runs";
      return;
    }
    if (ringOps.contains(op) || arrivals.contains(op)) {
      repeated.push_back(op);
      return;
    }
    // What only makes a value comes with who needs the value.
    auto effects = dyn_cast<MemoryEffectOpInterface>(op);
    bool onlyReads = isMemoryEffectFree(op) ||
                     (effects && effects.onlyHasEffect<MemoryEffects::Read>());
    bool isAlloc = isa<LocalAllocOp>(op) ||
                   (op->getNumResults() == 1 &&
                    isa<MemDescType>(op->getResult(0).getType()) && effects &&
                    effects.hasEffect<MemoryEffects::Allocate>());
    if (onlyReads || isAlloc || isa<scf::IfOp>(op))
      return;
    Dots dots = getOperands(op);
    bool isKnown = isa<MatrixProductOpInterface>(op) || dots.any();
    if (!isKnown || !isAlwaysRun(op)) {
      LDBG() << "of no chain: " << *op;
      why = "it does more than multiply and compute";
      return;
    }
    if (isMoved(dots))
      moved.push_back(op);
  };
  loop.walk([&](Operation *op) {
    if (op != loop && why.empty())
      sort(op);
  });
  return why;
}

/// Why the groups cannot read and write global memory each in its own time;
/// empty if they can. What both may read must not be what one of them writes.
StringRef GroupPartition::findDependence() {
  SmallVector<Operation *> loads, writes;
  bool readsElse = false;
  loop.walk([&](Operation *op) {
    if (isa<LoadOp, DescriptorLoadOp>(op)) {
      loads.push_back(op);
      return;
    }
    auto effects = dyn_cast<MemoryEffectOpInterface>(op);
    if (!effects || ringOps.contains(op) || arrivals.contains(op))
      return;
    SmallVector<MemoryEffects::EffectInstance> found;
    effects.getEffects(found);
    for (const MemoryEffects::EffectInstance &effect : found) {
      if (!isa<GlobalMemory, SideEffects::DefaultResource>(
              effect.getResource()))
        continue;
      if (isa<MemoryEffects::Write>(effect.getEffect()))
        writes.push_back(op);
      else
        readsElse |= isa<MemoryEffects::Read>(effect.getEffect());
    }
  });
  if (writes.empty())
    return "";
  if (readsElse)
    return "it reads and writes memory";
  MemoryModel memory(loop, MemoryModel::Arguments::AssumedDisjoint);
  for (Operation *load : loads)
    for (Operation *write : writes)
      if (memory.mayWrite(write, load))
        return "it may read what it writes";
  noteDisjointArguments(loop->getParentOfType<FunctionOpInterface>(),
                        memory.getAssumptions());
  return "";
}

/// Whether a tensor from around the loop can be had in a partition.
bool GroupPartition::canBring(Value value) const {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || type.getElementType().isIntOrFloat())
    return true;
  Operation *def = value.getDefiningOp();
  return def && def->getNumRegions() == 0 && isMemoryEffectFree(def) &&
         llvm::all_of(def->getOperands(),
                      [&](Value operand) { return canBring(operand); });
}

StringRef GroupPartition::findResults() {
  for (OpResult result : loop.getResults()) {
    if (!isMoved(result))
      continue;
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type || !type.getElementType().isIntOrFloat() ||
        type.getNumElements() * type.getElementTypeBitWidth() / 8 >
            kMostResultBytes)
      return "a result is no small tensor of numbers";
    results.push_back(result.getResultNumber());
  }
  return "";
}

/// Why there is one group; empty if there can be two.
StringRef GroupPartition::findObstacle() {
  if (lookupNumCTAs(loop) > 1 || lookupNumWarps(loop) % kWarpsPerGroup)
    return "its warps are no groups of four of one block";
  if (!findProducts())
    return "it has no four dots that run beside the threads";
  findChains();
  unsigned numChains = 0;
  for (const auto &chain : chains) {
    if (!chain->isLeader())
      continue;
    ++numChains;
    if (std::distance(chains.member_begin(*chain), chains.member_end()) < 2)
      return "a dot of it is in no chain";
  }
  if (numChains != 2)
    return "its dots are no two chains";
  if (StringRef why = sortOperations(); !why.empty())
    return why;
  if (StringRef why = findResults(); !why.empty())
    return why;
  ProducerSlice slice = getSlice();
  for (Value value : slice.getValues())
    if (!loop->isAncestor(value.getParentBlock()->getParentOp()) &&
        !canBring(value))
      return "it needs pointers that other warps hold";
  return findDependence();
}

/// What the second group does.
ProducerSlice GroupPartition::getSlice() {
  SmallVector<Operation *> effects(moved);
  llvm::append_range(effects, repeated);
  SmallVector<Value> values;
  for (unsigned i : results)
    values.push_back(loop.getRegionIterArg(i));
  return ProducerSlice(loop, effects, values);
}

//===----------------------------------------------------------------------===//
// The division
//===----------------------------------------------------------------------===//

/// Repeats the second chain in a partition of a new operation, which replaces
/// the old one.
void GroupPartition::makePartition() {
  ProducerSlice slice = getSlice();
  specialize =
      addPartition(specialize, lookupNumWarps(specialize), /*registers=*/0);
  unsigned second = specialize.getPartitionRegions().size() - 1;
  if (specialize.getRequestedRegisters())
    divideRegisters(specialize, second);
  ProducerBuilder partition(slice, specialize,
                            specialize.getPartitionRegions().back());
  partition.build();

  OpBuilder before(specialize);
  OpBuilder end(
      specialize.getPartitionRegions().back().front().getTerminator());
  OpBuilder behind(specialize);
  behind.setInsertionPointAfter(specialize);
  for (unsigned i : results) {
    if (specialize.getResult(i).use_empty())
      continue;
    auto type = cast<RankedTensorType>(loop.getResult(i).getType());
    auto encoding = SwizzledSharedEncodingAttr::get(
        type.getContext(), /*vec=*/1, /*perPhase=*/1, /*maxPhase=*/1,
        getOrder(type), getCTALayout(type.getEncoding()));
    auto memory = MemDescType::get(
        type.getShape(), type.getElementType(), encoding,
        SharedMemorySpaceAttr::get(type.getContext()), /*mutableMemory=*/true);
    Value buffer = LocalAllocOp::create(before, loc, memory, /*src=*/Value());
    LocalStoreOp::create(end, loc, partition.bring(loop.getResult(i)),
                         partition.bring(buffer));
    Value result = LocalLoadOp::create(behind, loc, type, buffer);
    specialize.getResult(i).replaceAllUsesWith(result);
    LocalDeallocOp::create(behind, loc, buffer);
  }
}

/// Leaves the first chain to the default group.
void GroupPartition::removeFromDefaultGroup() {
  loop.walk([&](scf::ForOp inner) {
    Operation *yield = inner.getBody()->getTerminator();
    for (BlockArgument argument : inner.getRegionIterArgs())
      if (isMoved(argument))
        yield->setOperand(argument.getArgNumber() - 1, argument);
  });
  for (Operation *op : llvm::reverse(moved))
    op->erase();
  // What they were computed from is computed for nobody.
  RewritePatternSet patterns(specialize.getContext());
  scf::ForOp::getCanonicalizationPatterns(patterns, specialize.getContext());
  scf::IfOp::getCanonicalizationPatterns(patterns, specialize.getContext());
  (void)applyPatternsGreedily(specialize.getDefaultRegion(),
                              std::move(patterns));
}

LogicalResult GroupPartition::split(WarpSpecializeOp &result) {
  StringRef why = findObstacle();
  if (!why.empty()) {
    LDBG() << "one group of warps computes, because " << why << ": " << loc;
    return failure();
  }
  makePartition();
  removeFromDefaultGroup();
  result = specialize;
  return success();
}
