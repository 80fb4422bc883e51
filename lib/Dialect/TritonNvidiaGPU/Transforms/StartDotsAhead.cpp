//===-- StartDotsAhead.cpp - Scores of the next iteration -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// An iteration of attention begins with a dot, whose result threads load from
// tensor memory. They wait for it, and the tensor core has the sum of the
// iteration before to do first. Here the dot of the next iteration starts as
// soon as the result of this one is in registers:
//
//   if there is an iteration: wait(full); dot; arrive(empty)
//   in the loop:
//     wait(done, phase); load the result;
//     if there is a next iteration: wait(full); dot; arrive(empty)
//     all else
//
// The dot has the same buffer in tensor memory as before. The warps of the
// group meet between the load and the dot, as they do wherever threads have
// read what a dot overwrites (insert-memory-barriers).
//
// The operands of the next iteration are waited for while those of this one are
// not handed back. So their ring has to have three buffers: with two, the copy
// of these operands would begin late.
//
//===----------------------------------------------------------------------===//

#include "tile/Analysis/TripCount.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/Transforms/Buffers.h"
#include "tile/Dialect/TritonGPU/Transforms/RingBarriers.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/CopyEngines.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/SetVector.h"

#define DEBUG_TYPE "triton-nvidia-start-dots-ahead"

namespace mlir::triton::nvidia_gpu {
#define GEN_PASS_DEF_TRITONNVIDIASTARTDOTSAHEAD
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::nvidia_gpu

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

namespace {

/// Of a ring: for this iteration, for the next one, and for the copy of the one
/// after that.
constexpr int64_t kLeastBuffers = 3;

/// What a dot ahead of its iteration takes along.
struct Head {
  TCGen5MMAOp mma;
  TMEMAllocOp alloc;
  /// In the order of the body: waits for operands, the dot, arrivals.
  SmallVector<Operation *> ops;
  /// The first and the last load of the result.
  Operation *firstLoad = nullptr, *lastLoad = nullptr;
};

bool hasNoEffects(Operation *op) {
  return op->getNumRegions() == 0 && isMemoryEffectFree(op);
}

/// Collects the arguments of a loop from which its body computes `value` by
/// operations without effects. False if there are others.
bool collectArguments(Value value, scf::ForOp loop,
                      llvm::SetVector<BlockArgument> &arguments) {
  if (!loop->isAncestor(value.getParentBlock()->getParentOp()))
    return true;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner() != loop.getBody())
      return false;
    if (argument != loop.getInductionVar())
      arguments.insert(argument);
    return true;
  }
  Operation *op = value.getDefiningOp();
  return hasNoEffects(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return collectArguments(operand, loop, arguments);
         });
}

/// Clones what `value` is computed from in the body of a loop.
Value cloneValue(OpBuilder &b, Value value, scf::ForOp loop,
                 IRMapping &mapping) {
  Operation *op = value.getDefiningOp();
  if (mapping.contains(value) || !op || op->getBlock() != loop.getBody())
    return mapping.lookupOrDefault(value);
  for (Value operand : op->getOperands())
    cloneValue(b, operand, loop, mapping);
  b.clone(*op, mapping);
  return mapping.lookup(value);
}

/// The buffers of a ring, of which `view` is one; 1 if it is none.
int64_t countBuffers(Value view) {
  while (auto op = view.getDefiningOp<ViewLikeOpInterface>()) {
    if (isa<gpu::MemDescIndexOp>(op))
      return cast<gpu::MemDescType>(op->getOperand(0).getType()).getShape()[0];
    view = op->getOperand(0);
  }
  return 1;
}

/// Sets `alloc` and the loads of a dot whose result threads load in its
/// iteration, and nobody else needs.
bool findResult(Head &head, scf::ForOp loop) {
  TCGen5MMAOp mma = head.mma;
  head.alloc = mma.getD().getDefiningOp<TMEMAllocOp>();
  if (!head.alloc || head.alloc->getNumOperands() ||
      head.alloc->getParentOp() != loop)
    return false;
  for (Operation *user : mma.getD().getUsers()) {
    if (user == mma)
      continue;
    auto load = dyn_cast<TMEMLoadOp>(user);
    if (!load || load->getParentOp() != loop || load.getDep() ||
        !mma->isBeforeInBlock(load))
      return false;
    if (!head.firstLoad || load->isBeforeInBlock(head.firstLoad))
      head.firstLoad = load;
    if (!head.lastLoad || head.lastLoad->isBeforeInBlock(load))
      head.lastLoad = load;
  }
  return head.firstLoad;
}

/// What the body does before it loads the result, if it is nothing but to wait
/// for operands, to multiply, and to hand them back.
bool findOperations(Head &head, scf::ForOp loop) {
  for (Operation &op : *loop.getBody()) {
    if (&op == head.firstLoad)
      break;
    if (hasNoEffects(&op) || &op == head.alloc)
      continue;
    bool isBarrier =
        isa<WaitBarrierOp, ArriveBarrierOp, TCGen5CommitOp, FenceAsyncSharedOp>(
            op);
    if (&op != head.mma && !isBarrier)
      return false;
    head.ops.push_back(&op);
  }
  return true;
}

std::optional<Head> findHead(scf::ForOp loop) {
  Head head;
  for (auto mma : loop.getBody()->getOps<TCGen5MMAOp>()) {
    head.mma = mma;
    break;
  }
  TCGen5MMAOp mma = head.mma;
  if (!mma || mma.isAsync() || mma.usesTwoCTAs() || mma.getToken() ||
      !matchPattern(mma.getPred(), m_One()) ||
      !matchPattern(mma.getUseD(), m_Zero()) || !findResult(head, loop) ||
      !findOperations(head, loop) || countBuffers(mma.getB()) < kLeastBuffers)
    return std::nullopt;
  llvm::SetVector<BlockArgument> arguments;
  auto isComputed = [&](Value value) {
    return value == head.alloc.getResult() ||
           collectArguments(value, loop, arguments);
  };
  for (Operation *op : head.ops)
    if (!llvm::all_of(op->getOperands(), isComputed))
      return std::nullopt;
  llvm::SetVector<BlockArgument> others;
  for (BlockArgument argument : arguments)
    if (!collectArguments(loop.getTiedLoopYieldedValue(argument)->get(), loop,
                          others))
      return std::nullopt;
  return head;
}

/// Repeats the operations of `head` with other values of the counter and the
/// arguments of the loop.
void start(OpBuilder &b, const Head &head, scf::ForOp loop, IRMapping &mapping,
           Value done) {
  for (Operation *op : head.ops) {
    for (Value operand : op->getOperands())
      cloneValue(b, operand, loop, mapping);
    Operation *clone = b.clone(*op, mapping);
    if (op != head.mma)
      continue;
    auto mma = cast<TCGen5MMAOp>(clone);
    mma.setAsync(true);
    OpBuilder before(mma);
    mma.addCompletionBarrier(
        done, arith::ConstantIntOp::create(before, mma.getLoc(), 1, 1));
  }
}

void startAhead(scf::ForOp loop, Head head) {
  Location loc = head.mma.getLoc();
  const gpu::RingBarriers &mbarriers = getMbarriers();
  head.alloc->moveBefore(loop);
  OpBuilder before(loop);
  Value zero = arith::ConstantIntOp::create(before, loc, 0, 32),
        one = arith::ConstantIntOp::create(before, loc, 1, 32);
  Value barriers = mbarriers.allocate(before, loc, /*count=*/1);
  mbarriers.initialize(before, loc, barriers, /*arrivals=*/1);
  // Where no dot is started ahead, the loop has no iterations. The analysis of
  // barriers does not know this. It would put one into the loop.
  gpu::BarrierOp::create(before, loc, gpu::AddrSpace::Local);
  Value done = gpu::getBuffer(before, loc, barriers, zero);

  IRRewriter rewriter(loop);
  auto flip = [&](OpBuilder &b, Location, ArrayRef<BlockArgument> args) {
    return SmallVector<Value>{arith::XOrIOp::create(b, loc, args.front(), one)};
  };
  loop = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
      rewriter, zero, /*replaceInitOperandUsesInLoop=*/false, flip));
  TripCount trips(loop, loc);
  before.setInsertionPoint(loop);
  IRMapping first;
  first.map(loop.getInductionVar(), loop.getLowerBound());
  first.map(loop.getRegionIterArgs(), loop.getInitArgs());
  auto any = scf::IfOp::create(before, loc, trips.has(before, 0),
                               /*withElseRegion=*/false);
  OpBuilder then = any.getThenBodyBuilder();
  start(then, head, loop, first, done);

  OpBuilder b(head.firstLoad);
  mbarriers.wait(b, loc, done, loop.getRegionIterArgs().back(),
                 /*buffers=*/{});
  b.setInsertionPointAfter(head.lastLoad);
  Value counter = loop.getInductionVar();
  Value hasNext = trips.hasNext(b, counter);
  IRMapping now, next;
  next.map(counter, trips.getLater(b, counter, 1));
  llvm::SetVector<BlockArgument> arguments;
  for (Operation *op : head.ops)
    for (Value operand : op->getOperands())
      collectArguments(operand, loop, arguments);
  for (BlockArgument argument : arguments)
    next.map(argument,
             cloneValue(b, loop.getTiedLoopYieldedValue(argument)->get(), loop,
                        now));
  auto another = scf::IfOp::create(b, loc, hasNext, /*withElseRegion=*/false);
  OpBuilder inside = another.getThenBodyBuilder();
  start(inside, head, loop, next, done);
  for (Operation *op : llvm::reverse(head.ops))
    op->erase();
  b.setInsertionPointAfter(loop);
  mbarriers.free(b, loc, barriers);
}

class StartDotsAhead
    : public nvidia_gpu::impl::TritonNvidiaStartDotsAheadBase<StartDotsAhead> {
public:
  using Base::Base;

  void runOnOperation() override {
    SmallVector<std::pair<scf::ForOp, Head>> found;
    getOperation().walk([&](gpu::WarpSpecializeOp op) {
      op.walk([&](scf::ForOp loop) {
        if (auto head = findHead(loop))
          found.emplace_back(loop, *head);
      });
    });
    for (auto &[loop, head] : found)
      startAhead(loop, head);
    numDots += found.size();
  }
};

} // namespace
