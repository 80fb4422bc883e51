//===-- Producer.cpp - What loads of a loop are computed from -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Producer.h"

#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/Transforms/Partitions.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

//===----------------------------------------------------------------------===//
// The slice
//===----------------------------------------------------------------------===//

/// Calls `visit` for every value that `op` and what is nested in it take from
/// outside of `op`.
static void forEachUse(Operation *op, function_ref<void(Value)> visit) {
  op->walk([&](Operation *nested) {
    for (Value operand : nested->getOperands())
      if (!op->isAncestor(operand.getParentBlock()->getParentOp()))
        visit(operand);
  });
}

/// Structured control flow of which only some results may be needed.
static bool isDivisible(Operation *op) {
  return isa<scf::ForOp, scf::IfOp>(op);
}

/// Whether warps compute `op` again rather than get its result.
static bool canRepeat(Operation *op) {
  return op && op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
         !isa<MatrixProductOpInterface>(op);
}

/// Why a tensor from around the loop cannot be had in a partition.
static std::string findDistance(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return "";
  Operation *def = value.getDefiningOp();
  if (canRepeat(def)) {
    for (Value operand : def->getOperands())
      if (std::string why = findDistance(operand); !why.empty())
        return why;
    return "";
  }
  if (type.getElementType().isIntOrFloat())
    return "";
  return "its addresses come from a tensor of pointers that other warps hold";
}

ProducerSlice::ProducerSlice(scf::ForOp loop, ArrayRef<Operation *> loads,
                             ArrayRef<Value> values)
    : loop(loop), loads(loads.begin(), loads.end()) {
  add(loop.getOperation());
  for (Value value : values)
    add(value);
  for (Operation *load : loads) {
    if (load->getParentOp() != loop)
      add(load->getParentOp());
    for (Value operand : load->getOperands())
      add(operand);
  }
  // What is added while following is followed, too.
  for (size_t i = 0; i < this->values.size(); ++i)
    follow(this->values[i]);
}

void ProducerSlice::add(Value value) { values.insert(value); }

void ProducerSlice::add(Operation *op) {
  if (!ops.insert(op))
    return;
  if (auto inner = dyn_cast<scf::ForOp>(op)) {
    add(inner.getLowerBound());
    add(inner.getUpperBound());
    add(inner.getStep());
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    add(branch.getCondition());
  } else {
    forEachUse(op, [&](Value used) { add(used); });
  }
  if (op != loop)
    add(op->getParentOp());
}

void ProducerSlice::follow(Value value) {
  if (!loop->isAncestor(value.getParentBlock()->getParentOp()))
    return;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto inner = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!inner)
      return;
    add(inner.getOperation());
    if (argument == inner.getInductionVar())
      return;
    add(inner.getTiedLoopInit(argument)->get());
    add(inner.getTiedLoopYieldedValue(argument)->get());
    return;
  }
  Operation *def = value.getDefiningOp();
  unsigned number = cast<OpResult>(value).getResultNumber();
  add(def);
  if (auto inner = dyn_cast<scf::ForOp>(def)) {
    add(inner.getRegionIterArg(number));
  } else if (auto branch = dyn_cast<scf::IfOp>(def)) {
    add(branch.thenYield().getOperand(number));
    add(branch.elseYield().getOperand(number));
  }
}

std::optional<ProducerSlice::Obstacle>
ProducerSlice::findObstacle(MemoryModel &memory) const {
  for (Operation *load : loads)
    if (std::string why = memory.findObstacleInLoop(load, loop); !why.empty())
      return Obstacle{load->getLoc(), why};
  for (Operation *op : ops) {
    if (op == loop || isDivisible(op))
      continue;
    std::string name = op->getName().getStringRef().str();
    bool readsAhead = isa<LoadOp>(op) && !loads.contains(op) &&
                      memory.mayReadInEarlierIteration(op, loop);
    if (!readsAhead && !isMemoryEffectFree(op))
      return Obstacle{op->getLoc(), "a load depends on '" + name +
                                        "', which other warps cannot repeat"};
    if (isa<MatrixProductOpInterface>(op))
      return Obstacle{op->getLoc(),
                      "the address of a load depends on a matrix product"};
  }
  for (Value value : values) {
    if (lookupNumCTAs(loop) > 1 && isa<RankedTensorType>(value.getType()))
      return Obstacle{value.getLoc(), "a load depends on a tensor that the "
                                      "blocks of its cluster share"};
    if (!loop->isAncestor(value.getParentBlock()->getParentOp()))
      if (std::string why = findDistance(value); !why.empty())
        return Obstacle{value.getLoc(), why};
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// The partition
//===----------------------------------------------------------------------===//

ProducerBuilder::ProducerBuilder(const ProducerSlice &slice,
                                 WarpSpecializeOp specialize, Region &partition)
    : slice(slice), specialize(specialize), partition(partition),
      top(specialize.getContext()) {}

scf::ForOp ProducerBuilder::build() {
  Block *block = &partition.emplaceBlock();
  for (Value captured : specialize.getExplicitCaptures())
    mapping.map(captured,
                block->addArgument(captured.getType(), captured.getLoc()));
  OpBuilder builder = OpBuilder::atBlockEnd(block);
  auto end = WarpReturnOp::create(builder, specialize.getLoc());
  builder.setInsertionPoint(end);
  top.setInsertionPoint(end);
  return cloneLoop(builder, slice.getLoop());
}

scf::ForOp ProducerBuilder::cloneLoop(OpBuilder &builder, scf::ForOp from) {
  SmallVector<Value> inits;
  SmallVector<BlockArgument> arguments;
  for (BlockArgument argument : from.getRegionIterArgs())
    if (slice.contains(argument)) {
      arguments.push_back(argument);
      inits.push_back(bring(from.getTiedLoopInit(argument)->get()));
    }
  Value lower = bring(from.getLowerBound()),
        upper = bring(from.getUpperBound()), step = bring(from.getStep());
  auto to =
      scf::ForOp::create(builder, from.getLoc(), lower, upper, step, inits,
                         /*bodyBuilder=*/nullptr, bool(from.getUnsignedCmp()));
  // What other dialects have said of the loop. How it was to be compiled is for
  // those that stay.
  for (NamedAttribute attribute : from->getDiscardableAttrs())
    if (!isa_and_present<TritonDialect>(attribute.getNameDialect()))
      to->setDiscardableAttr(attribute.getName(), attribute.getValue());
  if (from == slice.getLoop())
    top.setInsertionPoint(to);
  mapping.map(from.getInductionVar(), to.getInductionVar());
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    mapping.map(argument, to.getRegionIterArg(i));
    mapping.map(from.getTiedLoopResult(argument), to.getResult(i));
  }
  OpBuilder body = OpBuilder::atBlockEnd(to.getBody());
  if (!to.getBody()->empty())
    body.setInsertionPoint(to.getBody()->getTerminator());
  cloneBlock(body, *from.getBody());
  SmallVector<Value> yields;
  for (BlockArgument argument : arguments)
    yields.push_back(bring(from.getTiedLoopYieldedValue(argument)->get()));
  if (!yields.empty())
    scf::YieldOp::create(body, from.getLoc(), yields);
  return to;
}

void ProducerBuilder::cloneBranch(OpBuilder &builder, scf::IfOp from) {
  SmallVector<Type> types;
  SmallVector<unsigned> numbers;
  for (OpResult result : from.getResults())
    if (slice.contains(result)) {
      types.push_back(result.getType());
      numbers.push_back(result.getResultNumber());
    }
  auto to = scf::IfOp::create(builder, from.getLoc(), types,
                              bring(from.getCondition()),
                              /*addThenBlock=*/true,
                              /*addElseBlock=*/!types.empty());
  auto fill = [&](Block &source, Block &target) {
    OpBuilder body = OpBuilder::atBlockEnd(&target);
    if (!target.empty())
      body.setInsertionPoint(&target.back());
    cloneBlock(body, source);
    SmallVector<Value> yields;
    for (unsigned number : numbers)
      yields.push_back(bring(source.getTerminator()->getOperand(number)));
    if (target.empty() ||
        !target.back().hasTrait<mlir::OpTrait::IsTerminator>())
      scf::YieldOp::create(body, from.getLoc(), yields);
  };
  fill(*from.thenBlock(), *to.thenBlock());
  if (!types.empty())
    fill(*from.elseBlock(), *to.elseBlock());
  for (auto [number, result] : llvm::zip(numbers, to.getResults()))
    mapping.map(from.getResult(number), result);
}

void ProducerBuilder::cloneBlock(OpBuilder &builder, Block &from) {
  for (Operation &op : from.without_terminator()) {
    if (slice.isLoad(&op)) {
      cloneOp(builder, &op);
      clones[&op] = &*std::prev(builder.getInsertionPoint());
    } else if (!slice.contains(&op)) {
      continue;
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      cloneLoop(builder, loop);
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      cloneBranch(builder, branch);
    } else {
      cloneOp(builder, &op);
    }
  }
}

void ProducerBuilder::cloneOp(OpBuilder &builder, Operation *from) {
  bringOperands(from);
  builder.clone(*from, mapping);
}

void ProducerBuilder::bringOperands(Operation *op) {
  forEachUse(op, [&](Value used) { bring(used); });
}

Value ProducerBuilder::bring(Value value) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *def = value.getDefiningOp();
  bool isTensor = isa<RankedTensorType>(value.getType());
  if (def && (def->hasTrait<mlir::OpTrait::ConstantLike>() ||
              (isTensor && canRepeat(def)))) {
    bringOperands(def);
    return top.clone(*def, mapping)
        ->getResult(cast<OpResult>(value).getResultNumber());
  }
  Value brought = isTensor ? bringThroughMemory(value) : capture(value);
  mapping.map(value, brought);
  return brought;
}

Value ProducerBuilder::capture(Value value) {
  return partition.getArgument(addCapture(specialize, value));
}

Value ProducerBuilder::bringThroughMemory(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  auto encoding = SwizzledSharedEncodingAttr::get(
      type.getContext(), /*vec=*/1, /*perPhase=*/1, /*maxPhase=*/1,
      getOrder(type), getCTALayout(type.getEncoding()));
  auto memory =
      MemDescType::get(type.getShape(), type.getElementType(), encoding,
                       SharedMemorySpaceAttr::get(type.getContext()));
  OpBuilder before(specialize);
  Value buffer = LocalAllocOp::create(before, value.getLoc(), memory, value);
  return LocalLoadOp::create(top, value.getLoc(), type, capture(buffer));
}
