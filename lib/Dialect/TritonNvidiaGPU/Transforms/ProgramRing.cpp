//===-- ProgramRing.cpp - Programs handed to groups of warps --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ProgramRing.h"

#include "tile/Dialect/TritonGPU/Transforms/Buffers.h"
#include "tile/Dialect/TritonGPU/Transforms/RingBarriers.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/ClusterBarriers.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/CopyEngines.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

namespace {

constexpr int kSlots = 2;

struct Position {
  Value slot, phase;
};

Value constant(OpBuilder &builder, Location loc, int value) {
  return arith::ConstantIntOp::create(builder, loc, value, 32);
}

/// The place of an iteration's answer: its number counts slots, then rounds.
Position getPosition(OpBuilder &builder, Location loc, Value iteration) {
  static_assert(kSlots == 2, "the lowest bit is the slot");
  Value one = constant(builder, loc, 1);
  Value round = arith::ShRUIOp::create(builder, loc, iteration, one);
  return {arith::AndIOp::create(builder, loc, iteration, one),
          arith::AndIOp::create(builder, loc, round, one)};
}

unsigned countBlocks(OpBuilder &builder) {
  return gpu::lookupNumCTAs(builder.getInsertionBlock()->getParentOp());
}

Value allocateWords(OpBuilder &builder, Location loc, int64_t words) {
  gpu::MemDescType type = getAnswerType(builder.getContext(), {kSlots, words},
                                        countBlocks(builder));
  return gpu::LocalAllocOp::create(builder, loc, type, Value());
}

} // namespace

gpu::MemDescType nvidia_gpu::getAnswerType(MLIRContext *context,
                                           ArrayRef<int64_t> shape,
                                           unsigned numBlocks) {
  auto blocks = gpu::CTALayoutAttr::get(context, {numBlocks}, {1}, {0});
  auto encoding = gpu::SwizzledSharedEncodingAttr::get(
      context, /*vec=*/1, /*perPhase=*/1, /*maxPhase=*/1, {0}, blocks);
  return gpu::MemDescType::get(shape, IntegerType::get(context, 64), encoding,
                               gpu::SharedMemorySpaceAttr::get(context),
                               /*mutableMemory=*/true);
}

ProgramRing ProgramRing::create(OpBuilder &builder, Location loc,
                                int numWarps) {
  const gpu::RingBarriers &barriers = getMbarriers();
  ProgramRing ring;
  ring.answers = allocateWords(builder, loc, kAnswerWords);
  ring.answers.getDefiningOp<gpu::LocalAllocOp>().setAlignmentAttr(
      builder.getI32IntegerAttr(kAnswerBytes));
  ring.asked = barriers.allocate(builder, loc, kSlots);
  // One word that all blocks have is a barrier that the first one holds.
  bool isAlone = countBlocks(builder) == 1;
  ring.read = isAlone ? barriers.allocate(builder, loc, kSlots)
                      : allocateWords(builder, loc, /*words=*/1);
  barriers.initialize(builder, loc, ring.asked, /*arrivals=*/1);
  barriers.initialize(builder, loc, ring.read, numWarps);
  if (!isAlone)
    barriers.startSharing(builder, loc);
  return ring;
}

void ProgramRing::ask(OpBuilder &builder, Location loc, Value iteration) const {
  const gpu::RingBarriers &barriers = getMbarriers();
  Position at = getPosition(builder, loc, iteration);
  Value before =
      arith::XOrIOp::create(builder, loc, at.phase, constant(builder, loc, 1));
  Value free = gpu::getBuffer(builder, loc, read, at.slot);
  barriers.wait(builder, loc, free, before, /*buffers=*/{});
  Value arrives = gpu::getBuffer(builder, loc, asked, at.slot);
  Value always = arith::ConstantIntOp::create(builder, loc, 1, 1);
  barriers.announce(builder, loc, arrives, kAnswerBytes, always);
  Value answer = gpu::getBuffer(builder, loc, answers, at.slot);
  CLCTryCancelOp::create(builder, loc, answer, arrives,
                         /*multicast=*/countBlocks(builder) > 1);
}

Value ProgramRing::receive(OpBuilder &builder, Location loc,
                           Value iteration) const {
  const gpu::RingBarriers &barriers = getMbarriers();
  Position at = getPosition(builder, loc, iteration);
  Value arrived = gpu::getBuffer(builder, loc, asked, at.slot);
  Value buffer = gpu::getBuffer(builder, loc, answers, at.slot);
  barriers.wait(builder, loc, arrived, at.phase, buffer);
  Value answer = CLCLoadResultOp::create(builder, loc,
                                         builder.getIntegerType(128), buffer);
  Value done = gpu::getBuffer(builder, loc, read, at.slot);
  int numWarps =
      gpu::lookupNumWarps(builder.getInsertionBlock()->getParentOp());
  barriers.arrive(builder, loc, done, numWarps, /*predicate=*/Value(),
                  /*isShared=*/false);
  return answer;
}

void ProgramRing::free(OpBuilder &builder, Location loc) const {
  const gpu::RingBarriers &barriers = getMbarriers();
  // Other blocks may still hand answers back to this one.
  if (countBlocks(builder) > 1)
    barriers.stopSharing(builder, loc);
  barriers.free(builder, loc, asked);
  barriers.free(builder, loc, read);
  gpu::LocalDeallocOp::create(builder, loc, answers);
}
