//===-- Propagation.cpp - Spread the layouts of anchors -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Values that must get their layouts together form a group: the results of an
// operation, an argument of a loop with the result it leads to, and so on. The
// layouts of anchors run forward through operations that are flexible, through
// control flow and through conversions, and leave a candidate in every group
// they reach. Then each group picks one, in program order; all types change in
// place, and conversions go where layouts do not meet. A conversion between
// layouts that became equal is gone.
//
//===----------------------------------------------------------------------===//

#include "Internal.h"

#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/Transforms/LayoutInference.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/DebugLog.h"
#include <deque>

#define DEBUG_TYPE "tritongpu-remove-layout-conversions"

using namespace mlir;
using namespace mlir::triton::gpu;
using namespace mlir::triton::gpu::layout_conversions;

namespace {

struct Group {
  /// The operation whose operands' layout decides about those of the values;
  /// null where values come from several places (control flow).
  Operation *op = nullptr;
  SmallVector<Value, 2> values;
  /// Layouts of the operands of `op`, or of the values themselves.
  llvm::SetVector<Attribute> candidates;
  Attribute choice;
};

class Propagation {
public:
  explicit Propagation(Operation *func) : func(func) {}
  unsigned run();

private:
  void makeGroups();
  void addGroup(Operation *op, ValueRange values);
  Group *getGroup(Value value) {
    auto it = groupOf.find(value);
    return it == groupOf.end() ? nullptr : &groups[it->second];
  }
  /// The group that `use` passes its value on to, if any.
  Group *getTarget(OpOperand &use);
  /// What values pass on to `group`, each with the place where it does so.
  SmallVector<OpOperand *> getSources(Group &group);

  Attribute getLayoutIf(Group &group, Value value, Attribute candidate) {
    return group.op ? inferLayoutIf(group, cast<OpResult>(value), candidate)
                    : candidate;
  }
  Attribute inferLayoutIf(Group &group, OpResult value, Attribute candidate) {
    return isa<ConvertLayoutOp>(group.op) ? candidate
                                          : inferResultLayout(value, candidate);
  }

  void spread();
  void addCandidate(Group &group, Attribute candidate);
  void choose(Group &group);
  double score(Group &group, Attribute candidate);

  unsigned apply();
  void fixOperands(Operation *op);

  Operation *func;
  // A deque keeps addresses as it grows.
  std::deque<Group> groups;
  DenseMap<Value, unsigned> groupOf;
  DenseMap<Operation *, unsigned> groupOfOp;
  std::deque<std::pair<Value, Attribute>> worklist;
  /// Layouts that changed values had before.
  DenseMap<Value, Attribute> before;
};

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

void Propagation::addGroup(Operation *op, ValueRange values) {
  Group group;
  group.op = op;
  for (Value value : values)
    if (getLayout(value))
      group.values.push_back(value);
  // A reduction to a scalar has no values, but its operands want a layout.
  if (group.values.empty() &&
      !(op && llvm::any_of(op->getOperands(), getLayout)))
    return;
  for (Value value : group.values)
    groupOf[value] = groups.size();
  if (op)
    groupOfOp[op] = groups.size();
  groups.push_back(std::move(group));
}

void Propagation::makeGroups() {
  // What a loop carries comes behind the body, which runs more often than what
  // gives the first value: the layouts that the body computes in decide.
  func->walk<WalkOrder::PostOrder>([&](Operation *op) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      for (auto [arg, result] :
           llvm::zip(loop.getRegionIterArgs(), loop.getResults()))
        addGroup(nullptr, {arg, result});
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      for (Value arg : loop.getBeforeArguments())
        addGroup(nullptr, arg);
      for (auto [arg, result] :
           llvm::zip(loop.getAfterArguments(), loop.getResults()))
        addGroup(nullptr, {arg, result});
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      for (Value result : branch.getResults())
        addGroup(nullptr, result);
    } else if (isa<ConvertLayoutOp>(op)) {
      // A conversion for nothing but uses that insist on it has to stay.
      if (!llvm::all_of(op->getUses(), isFixedUse))
        addGroup(op, op->getResults());
    } else if (isLayoutFlexible(op)) {
      addGroup(op, op->getResults());
    }
  });
}

Group *Propagation::getTarget(OpOperand &use) {
  Operation *op = use.getOwner();
  unsigned index = use.getOperandNumber();
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    if (BlockArgument arg = loop.getTiedLoopRegionIterArg(&use))
      return getGroup(arg);
    return nullptr;
  }
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return getGroup(loop.getBeforeArguments()[index]);
  if (auto condition = dyn_cast<scf::ConditionOp>(op)) {
    if (index == 0)
      return nullptr;
    return getGroup(condition->getParentOp()->getResult(index - 1));
  }
  if (isa<scf::YieldOp>(op)) {
    Operation *parent = op->getParentOp();
    if (auto loop = dyn_cast<scf::WhileOp>(parent))
      return getGroup(loop.getBeforeArguments()[index]);
    return getGroup(parent->getResult(index));
  }
  auto it = groupOfOp.find(op);
  if (acceptsAnyLayout(use) || it == groupOfOp.end())
    return nullptr;
  return &groups[it->second];
}

SmallVector<OpOperand *> Propagation::getSources(Group &group) {
  SmallVector<OpOperand *> sources;
  if (group.op) {
    for (OpOperand &operand : group.op->getOpOperands())
      if (getLayout(operand.get()) && !acceptsAnyLayout(operand))
        sources.push_back(&operand);
    return sources;
  }
  Value value = group.values.front();
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    Operation *parent = arg.getOwner()->getParentOp();
    if (auto loop = dyn_cast<scf::ForOp>(parent)) {
      sources.push_back(loop.getTiedLoopInit(arg));
      sources.push_back(loop.getTiedLoopYieldedValue(arg));
    } else if (auto loop = dyn_cast<scf::WhileOp>(parent)) {
      unsigned index = arg.getArgNumber();
      if (arg.getOwner() == loop.getBeforeBody()) {
        sources.push_back(&loop->getOpOperand(index));
        sources.push_back(&loop.getYieldOp()->getOpOperand(index));
      } else {
        sources.push_back(&loop.getConditionOp()->getOpOperand(index + 1));
      }
    }
    return sources;
  }
  auto result = cast<OpResult>(value);
  for (Region &region : result.getOwner()->getRegions())
    if (!region.empty())
      sources.push_back(&region.front().getTerminator()->getOpOperand(
          result.getResultNumber()));
  return sources;
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

void Propagation::addCandidate(Group &group, Attribute candidate) {
  if (group.candidates.contains(candidate))
    return;
  for (Value value : group.values)
    if (!getLayoutIf(group, value, candidate))
      return;
  group.candidates.insert(candidate);
  for (Value value : group.values)
    worklist.emplace_back(value, getLayoutIf(group, value, candidate));
}

void Propagation::spread() {
  func->walk([&](Operation *op) {
    if (isLayoutAnchor(op))
      for (Value result : op->getResults())
        if (Attribute layout = getLayout(result))
          worklist.emplace_back(result, layout);
  });
  while (!worklist.empty()) {
    auto [value, layout] = worklist.front();
    worklist.pop_front();
    for (OpOperand &use : value.getUses())
      if (Group *group = getTarget(use))
        addCandidate(*group, layout);
  }
}

/// What it would roughly cost to convert the value, where it is made, for one
/// of its uses.
double getWeight(Value value) {
  // The conversion may go above a broadcast, where it costs less.
  if (auto broadcast = value.getDefiningOp<triton::BroadcastOp>())
    value = broadcast.getSrc();
  auto type = cast<RankedTensorType>(value.getType());
  Operation *def = value.getDefiningOp();
  return double(type.getNumElements()) * triton::getElementBitWidth(type) *
         getExecutionWeight(def ? def : &value.getParentBlock()->front());
}

double Propagation::score(Group &group, Attribute candidate) {
  double total = 0;
  for (OpOperand *source : getSources(group)) {
    Value value = source->get();
    // Anything that is free to be made in the right layout has no say.
    if (Operation *def = value.getDefiningOp(); def && isLayoutFree(def))
      continue;
    Group *from = getGroup(value);
    bool agrees = false;
    if (!from || from->candidates.empty()) {
      agrees = getLayout(value) == candidate;
    } else if (from->choice) {
      agrees = getLayoutIf(*from, value, from->choice) == candidate;
    } else {
      // Around a loop: not decided yet, but possible.
      agrees = llvm::any_of(from->candidates, [&](Attribute possible) {
        return getLayoutIf(*from, value, possible) == candidate;
      });
    }
    if (agrees)
      total += getWeight(value);
  }
  for (Value value : group.values) {
    Attribute layout = getLayoutIf(group, value, candidate);
    for (OpOperand &use : value.getUses()) {
      if (acceptsAnyLayout(use))
        continue;
      if (Group *to = getTarget(use)) {
        // Where more layouts meet, this one may yet lose.
        if (to->candidates.contains(layout))
          total += getWeight(value) / to->candidates.size();
      } else if (auto convert = dyn_cast<ConvertLayoutOp>(use.getOwner())) {
        if (convert.getType().getEncoding() == layout)
          total += getWeight(value);
      } else if (getLayout(value) == layout) {
        total += getWeight(value);
      }
    }
  }
  return total;
}

void Propagation::choose(Group &group) {
  if (group.candidates.empty())
    return;
  double best = -1;
  for (Attribute candidate : group.candidates) {
    double value = group.candidates.size() == 1 ? 0 : score(group, candidate);
    // Among equals, the one that came first.
    if (value > best) {
      best = value;
      group.choice = candidate;
    }
  }
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

void Propagation::fixOperands(Operation *op) {
  if (isa<ConvertLayoutOp>(op))
    return;
  for (OpOperand &use : op->getOpOperands()) {
    Attribute layout = getLayout(use.get());
    if (!layout || acceptsAnyLayout(use))
      continue;
    Attribute wanted;
    if (Group *group = getTarget(use); group && group->choice)
      wanted = group->choice;
    else if (auto it = before.find(use.get()); it != before.end())
      wanted = it->second;
    if (!wanted || wanted == layout)
      continue;
    OpBuilder b(op);
    auto type = cast<RankedTensorType>(use.get().getType());
    use.set(ConvertLayoutOp::create(
        b, op->getLoc(), cloneWithEncoding(type, wanted), use.get()));
  }
}

unsigned Propagation::apply() {
  for (Group &group : groups) {
    if (!group.choice)
      continue;
    for (Value value : group.values) {
      Attribute layout = getLayoutIf(group, value, group.choice);
      if (layout == getLayout(value))
        continue;
      LDBG() << "set layout of " << value << " to " << layout;
      before[value] = getLayout(value);
      setLayout(value, layout);
    }
  }
  func->walk([&](Operation *op) { fixOperands(op); });
  func->walk([&](ConvertLayoutOp convert) {
    if (convert.getSrc().getType() != convert.getType())
      return;
    convert.replaceAllUsesWith(convert.getSrc());
    convert.erase();
  });
  return before.size();
}

unsigned Propagation::run() {
  makeGroups();
  spread();
  for (Group &group : groups)
    choose(group);
  return apply();
}

} // namespace

bool layout_conversions::isFixedUse(OpOperand &use) {
  Operation *op = use.getOwner();
  return !isLayoutFlexible(op) && !acceptsAnyLayout(use) &&
         !isa<ConvertLayoutOp, scf::ForOp, scf::WhileOp, scf::YieldOp,
              scf::ConditionOp>(op);
}

unsigned
mlir::triton::gpu::layout_conversions::propagateLayouts(Operation *func) {
  return Propagation(func).run();
}
