//===-- LowerCLC.cpp - Answers that arrive while others work --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The loop is an scf.while whose body asks once, before it reads the answer.
// The barrier has a phase for each iteration.
//
//===----------------------------------------------------------------------===//

#include "ProgramRing.h"

#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/Transforms/CarriedValues.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/ClusterBarriers.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::triton::nvidia_gpu {
#define GEN_PASS_DEF_TRITONNVIDIAGPULOWERCLC
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::nvidia_gpu

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

namespace {

/// A question, the buffer of its answer, and where that is read.
struct Question {
  CLCTryCancelSyncOp ask;
  gpu::LocalAllocOp buffer;
  SmallVector<CLCLoadResultOp> reads;
  scf::WhileOp loop;
};

FailureOr<Question> find(CLCTryCancelSyncOp ask) {
  Question question{ask, {}, {}, ask->getParentOfType<scf::WhileOp>()};
  if (!question.loop || ask->getBlock() != question.loop.getAfterBody())
    return ask.emitOpError("expected to be in the body of an scf.while");
  if (ask->hasOneUse())
    question.buffer = dyn_cast<gpu::LocalAllocOp>(*ask->user_begin());
  if (!question.buffer)
    return ask.emitOpError(
        "expected response to have exactly one ttg.local_alloc user");
  if (!question.buffer.getType().getMutableMemory())
    return question.buffer.emitOpError(
        "expected a mutable buffer, as the answer arrives in it");
  for (Operation *user : question.buffer->getUsers()) {
    auto read = dyn_cast<CLCLoadResultOp>(user);
    if (!read || read->getBlock() != ask->getBlock())
      return user->emitOpError(
          "expected to read the answer with ttnvgpu.clc_load_result, in the "
          "block that asks for it");
    question.reads.push_back(read);
  }
  if (question.reads.empty())
    return ask.emitOpError("expected a ttnvgpu.clc_load_result that reads the "
                           "answer, as nothing waits for it otherwise");
  llvm::sort(question.reads, [](CLCLoadResultOp a, CLCLoadResultOp b) {
    return a->isBeforeInBlock(b);
  });
  return question;
}

/// Has the loop wait for the answer where it is read.
void lower(Question question) {
  scf::WhileOp loop = question.loop;
  Location loc = question.ask.getLoc();
  OpBuilder builder(loop);
  gpu::MemDescType answer = question.buffer.getType();
  auto buffer = gpu::LocalAllocOp::create(builder, loc, answer, Value());
  buffer.setAlignmentAttr(builder.getI32IntegerAttr(kAnswerBytes));
  unsigned numBlocks = gpu::lookupNumCTAs(question.ask);
  gpu::MemDescType barrierType =
      getBarrierType(builder.getContext(), numBlocks);
  auto barrier = gpu::LocalAllocOp::create(builder, loc, barrierType, Value());
  InitBarrierOp::create(builder, loc, barrier, 1);
  bool isAlone = numBlocks == 1;
  if (!isAlone)
    FenceMbarrierInitReleaseClusterOp::create(builder, loc);
  Value zero = arith::ConstantIntOp::create(builder, loc, 0, 32);
  Value one = arith::ConstantIntOp::create(builder, loc, 1, 32);

  gpu::CarriedValue carried = gpu::addCarriedValue(loop, zero);
  Value phase = carried.argument;
  builder.setInsertionPoint(question.ask);
  Value yes = arith::ConstantIntOp::create(builder, loc, 1, 1);
  if (isAlone) {
    BarrierExpectOp::create(builder, loc, barrier, kAnswerBytes, yes,
                            builder.getI32IntegerAttr(0));
  } else {
    BarrierExpectOp::create(builder, loc, barrier, kAnswerBytes, yes);
    // All blocks expect the answer, and have read the last one.
    ClusterBarrierOp::create(builder, loc);
  }
  CLCTryCancelOp::create(builder, loc, buffer, barrier,
                         /*multicast=*/!isAlone);
  CLCLoadResultOp first = question.reads.front();
  builder.setInsertionPoint(first);
  WaitBarrierOp::create(builder, first.getLoc(), barrier, phase);
  question.buffer.getResult().replaceAllUsesWith(buffer);
  question.buffer.erase();
  question.ask.erase();

  Operation *yield = carried.yield;
  builder.setInsertionPoint(yield);
  Value next = arith::XOrIOp::create(builder, loc, phase, one);
  yield->setOperand(yield->getNumOperands() - 1, next);

  builder.setInsertionPointAfter(carried.loop);
  InvalBarrierOp::create(builder, loc, barrier);
  gpu::LocalDeallocOp::create(builder, loc, barrier);
  gpu::LocalDeallocOp::create(builder, loc, buffer);
}

class LowerCLCPass
    : public nvidia_gpu::impl::TritonNvidiaGPULowerCLCBase<LowerCLCPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    SmallVector<CLCTryCancelSyncOp> all;
    getOperation().walk([&](CLCTryCancelSyncOp ask) { all.push_back(ask); });
    for (CLCTryCancelSyncOp ask : all) {
      FailureOr<Question> question = find(ask);
      if (failed(question))
        return signalPassFailure();
      lower(*question);
      ++numAnswers;
    }
  }
};

} // namespace
