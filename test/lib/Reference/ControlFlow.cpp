//===-- ControlFlow.cpp - Loops, branches, calls, partitions --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Machine.h"

#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::reference;
namespace ttg = mlir::triton::gpu;

static SmallVector<Val> getAll(Thread &thread, ValueRange values) {
  return llvm::map_to_vector(values,
                             [&](Value value) { return thread.val(value); });
}

static void setAll(Thread &thread, ValueRange values, ArrayRef<Val> known) {
  for (auto [value, val] : llvm::zip(values, known))
    thread.set(value, val);
}

/// Leaves the region of the operation that is over, which has these results.
static Step leave(Thread &thread, ArrayRef<Val> results) {
  Frame frame = thread.frames.pop_back_val();
  if (thread.frames.empty())
    thread.results.assign(results.begin(), results.end());
  else if (frame.owner)
    setAll(thread, frame.owner->getResults(), results);
  return Step::Jump;
}

/// A dot that is computed in the registers of one value that a loop carries
/// cannot become another one before it is done: somebody would have to copy it.
static SmallVector<Val> carry(Thread &thread, ValueRange yields,
                              ValueRange arguments) {
  SmallVector<Val> values = getAll(thread, yields);
  for (auto [value, argument] : llvm::zip(values, arguments)) {
    auto product = std::dynamic_pointer_cast<Product>(value.object);
    if (product && product->home && product->home != argument &&
        llvm::is_contained(arguments, product->home))
      value.object = nullptr;
  }
  return values;
}

//===----------------------------------------------------------------------===//
// scf
//===----------------------------------------------------------------------===//

static std::optional<__int128> getBound(Thread &thread, Value value,
                                        bool isUnsigned) {
  std::optional<uint64_t> bits = thread.scalar(value);
  if (!bits)
    return std::nullopt;
  unsigned width = getElementBits(value.getType());
  return isUnsigned ? __int128(*bits) : __int128(signExtend(*bits, width));
}

static void setCounter(Thread &thread, scf::ForOp loop, __int128 counter) {
  unsigned width = getElementBits(loop.getInductionVar().getType());
  thread.set(loop.getInductionVar(),
             Tensor::scalar(uint64_t(counter) & maskOf(width)));
}

static Step runFor(Thread &thread, Operation *op) {
  auto loop = cast<scf::ForOp>(op);
  bool isUnsigned = loop.getUnsignedCmp();
  auto begin = getBound(thread, loop.getLowerBound(), isUnsigned),
       end = getBound(thread, loop.getUpperBound(), isUnsigned),
       step = getBound(thread, loop.getStep(), isUnsigned);
  if (!begin || !end || !step)
    return thread.fault(op, "a bound of the loop is undefined");
  if (*step <= 0)
    return thread.fault(op, "the step of the loop is not positive");
  ++thread.frames.back().next;
  SmallVector<Val> inits = getAll(thread, loop.getInits());
  if (*begin >= *end) {
    setAll(thread, loop.getResults(), inits);
    return Step::Jump;
  }
  setAll(thread, loop.getRegionIterArgs(), inits);
  setCounter(thread, loop, *begin);
  thread.frames.push_back(
      {loop.getBody(), loop.getBody()->begin(), op, *begin, *end, *step});
  return Step::Jump;
}

static Step runIf(Thread &thread, Operation *op) {
  auto branch = cast<scf::IfOp>(op);
  std::optional<bool> condition = thread.predicate(branch.getCondition());
  if (!condition)
    return thread.fault(op, "the condition is undefined");
  ++thread.frames.back().next;
  Region &region = *condition ? branch.getThenRegion() : branch.getElseRegion();
  if (!region.empty())
    thread.enter(op, &region.front(), {});
  return Step::Jump;
}

static Step runWhile(Thread &thread, Operation *op) {
  auto loop = cast<scf::WhileOp>(op);
  ++thread.frames.back().next;
  thread.enter(op, loop.getBeforeBody(), getAll(thread, loop.getInits()));
  return Step::Jump;
}

static Step runCondition(Thread &thread, Operation *op) {
  auto end = cast<scf::ConditionOp>(op);
  auto loop = cast<scf::WhileOp>(op->getParentOp());
  std::optional<bool> condition = thread.predicate(end.getCondition());
  if (!condition)
    return thread.fault(op, "the condition is undefined");
  SmallVector<Val> values = getAll(thread, end.getArgs());
  if (!*condition)
    return leave(thread, values);
  thread.frames.pop_back();
  thread.enter(loop, loop.getAfterBody(), values);
  return Step::Jump;
}

static Step runExecuteRegion(Thread &thread, Operation *op) {
  ++thread.frames.back().next;
  thread.enter(op, &op->getRegion(0).front(), {});
  return Step::Jump;
}

static Step runYield(Thread &thread, Operation *op) {
  Frame &frame = thread.frames.back();
  if (auto loop = dyn_cast<scf::ForOp>(frame.owner)) {
    SmallVector<Val> values =
        carry(thread, op->getOperands(), loop.getRegionIterArgs());
    frame.counter += frame.step;
    if (frame.counter >= frame.end)
      return leave(thread, values);
    setAll(thread, loop.getRegionIterArgs(), values);
    setCounter(thread, loop, frame.counter);
    frame.next = frame.block->begin();
    return Step::Jump;
  }
  if (auto loop = dyn_cast<scf::WhileOp>(frame.owner)) {
    SmallVector<Val> values =
        carry(thread, op->getOperands(), loop.getBeforeArguments());
    thread.frames.pop_back();
    thread.enter(loop, loop.getBeforeBody(), values);
    return Step::Jump;
  }
  return leave(thread, getAll(thread, op->getOperands()));
}

/// The end of a region that is not repeated.
static Step runEnd(Thread &thread, Operation *op) {
  return leave(thread, getAll(thread, op->getOperands()));
}

//===----------------------------------------------------------------------===//
// Branches and calls
//===----------------------------------------------------------------------===//

static Step jump(Thread &thread, Block *block, ValueRange operands) {
  SmallVector<Val> values = getAll(thread, operands);
  setAll(thread, block->getArguments(), values);
  thread.frames.back().block = block;
  thread.frames.back().next = block->begin();
  return Step::Jump;
}

static Step runBranch(Thread &thread, Operation *op) {
  auto branch = cast<cf::BranchOp>(op);
  return jump(thread, branch.getDest(), branch.getDestOperands());
}

static Step runCondBranch(Thread &thread, Operation *op) {
  auto branch = cast<cf::CondBranchOp>(op);
  std::optional<bool> condition = thread.predicate(branch.getCondition());
  if (!condition)
    return thread.fault(op, "the condition is undefined");
  return *condition
             ? jump(thread, branch.getTrueDest(), branch.getTrueDestOperands())
             : jump(thread, branch.getFalseDest(),
                    branch.getFalseDestOperands());
}

static Step runCall(Thread &thread, Operation *op) {
  auto call = cast<CallOp>(op);
  auto callee = thread.machine.module.lookupSymbol<FuncOp>(call.getCallee());
  if (!callee || callee.isExternal())
    return thread.unknown(op, "a call of a function from elsewhere");
  ++thread.frames.back().next;
  thread.enter(op, &callee.getBody().front(),
               getAll(thread, call.getOperands()));
  return Step::Jump;
}

static Step runAssert(Thread &thread, Operation *op) {
  auto check = cast<AssertOp>(op);
  const Tensor &condition = thread.tensor(check.getCondition());
  for (size_t i = 0; i < condition.size(); ++i)
    if (!condition.isUndefined(i) && !condition.bits[i])
      return thread.fault(op, "assertion: " + check.getMessage());
  return Step::Next;
}

//===----------------------------------------------------------------------===//
// ttg
//===----------------------------------------------------------------------===//

static Step runWarpSpecialize(Thread &thread, Operation *op) {
  auto specialize = cast<ttg::WarpSpecializeOp>(op);
  SmallVector<Val> captures = getAll(thread, specialize.getExplicitCaptures());
  Machine &machine = thread.machine;
  machine.hasPartitions = true;
  for (Region &region : specialize.getPartitionRegions()) {
    Thread &partition = *machine.threads.emplace_back(
        std::make_unique<Thread>(machine, &thread));
    partition.enter(region.getParentOp(), &region.front(), captures);
    ++thread.numRunning;
  }
  ++thread.frames.back().next;
  thread.enter(op, &specialize.getDefaultRegion().front(), {});
  return Step::Jump;
}

static Step runWarpYield(Thread &thread, Operation *op) {
  if (thread.numRunning)
    return Step::Wait;
  return leave(thread, getAll(thread, op->getOperands()));
}

static Step runMask(Thread &thread, Operation *op) {
  auto mask = cast<ttg::MaskOp>(op);
  std::optional<bool> condition = thread.predicate(mask.getPred());
  if (!condition)
    return thread.fault(op, "the predicate is undefined");
  ++thread.frames.back().next;
  if (*condition) {
    thread.enter(op, &mask.getRegion().front(), {});
    return Step::Jump;
  }
  for (Value result : op->getResults())
    thread.values.erase(result); // Undefined.
  return Step::Jump;
}

static Step runPredicateStage(Thread &thread, Operation *op) {
  auto stage = cast<ttg::PredicateStageOp>(op);
  auto counter = thread.integer(stage.getIv()),
       end = thread.integer(stage.getUb()),
       step = thread.integer(stage.getStep());
  if (!counter || !end || !step)
    return thread.fault(op, "a bound of the loop is undefined");
  int64_t rest = stage.getMaxStage() - stage.getStage();
  thread.set(stage.getResult(), Tensor::scalar(*counter < *end - *step * rest));
  return Step::Next;
}

static Step setUndefined(Thread &thread, Operation *op) {
  for (Value result : op->getResults())
    thread.values.erase(result);
  return Step::Next;
}

static Step getProgramId(Thread &thread, Operation *op) {
  auto id = cast<GetProgramIdOp>(op);
  thread.set(id.getResult(),
             Tensor::scalar(thread.machine.program[id.getAxisAsInt()]));
  return Step::Next;
}

static Step getNumPrograms(Thread &thread, Operation *op) {
  auto number = cast<GetNumProgramsOp>(op);
  thread.set(number.getResult(),
             Tensor::scalar(thread.machine.grid[number.getAxisAsInt()]));
  return Step::Next;
}

void mlir::triton::reference::registerControlFlow(Handlers &handlers) {
  handlers["scf.for"] = runFor;
  handlers["scf.if"] = runIf;
  handlers["scf.while"] = runWhile;
  handlers["scf.condition"] = runCondition;
  handlers["scf.execute_region"] = runExecuteRegion;
  handlers["scf.yield"] = runYield;
  handlers["cf.br"] = runBranch;
  handlers["cf.cond_br"] = runCondBranch;
  handlers["tt.call"] = runCall;
  handlers["tt.assert"] = runAssert;
  handlers["tt.print"] = handlers["llvm.intr.assume"] = doNothing;
  handlers["ttg.warp_specialize"] = runWarpSpecialize;
  handlers["ttg.warp_yield"] = runWarpYield;
  handlers["ttg.mask"] = runMask;
  handlers["ttg.predicate_stage"] = runPredicateStage;
  for (StringRef name :
       {"tt.return", "tt.reduce.return", "tt.scan.return",
        "tt.map_elementwise.return", "ttg.mask.return", "ttg.warp_return"})
    handlers[name] = runEnd;
  // Which warp it is cannot be said of all of them; hints alone depend on it.
  handlers["ttg.warp_id"] = setUndefined;
  handlers["ub.poison"] = setUndefined;
  handlers["tt.get_program_id"] = getProgramId;
  handlers["tt.get_num_programs"] = getNumPrograms;
}
