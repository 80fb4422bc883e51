//===-- InsertTMEMAref.cpp - Rings for buffers of tensor memory -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Accesses that follow one another in one partition are a round. The partitions
// of the rounds of an iteration alternate. The first one fills the ring, and so
// does each second one behind it. The others take from it. A ring of one slot
// is one buffer, so that a round finds what the round before has left.
//
//===----------------------------------------------------------------------===//

#include "PartitionUses.h"
#include "RingSlots.h"

#include "tile/Analysis/OpPartitions.h"
#include "tile/Dialect/NVWS/IR/Dialect.h"
#include "tile/Dialect/NVWS/Transforms/Passes.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"

#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

#define DEBUG_TYPE "nvws-insert-tmem-aref"

namespace mlir::triton::nvws {
#define GEN_PASS_DEF_NVWSINSERTTMEMAREF
#include "tile/Dialect/NVWS/Transforms/Passes.h.inc"
} // namespace mlir::triton::nvws

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvws;

namespace {

/// Accesses of one partition that follow one another.
struct Round {
  Attribute partitions;
  SmallVector<OpOperand *> uses;
  Span span;

  SmallVector<AsyncOp> getKinds() const {
    bool byTensorCore = false, byThreads = false;
    for (OpOperand *use : uses)
      (isa<nvidia_gpu::MMAv5OpInterface>(use->getOwner()) ? byTensorCore
                                                          : byThreads) = true;
    SmallVector<AsyncOp> kinds;
    if (byTensorCore)
      kinds.push_back(AsyncOp::TC5MMA);
    if (byThreads)
      kinds.push_back(AsyncOp::NONE);
    return kinds;
  }
};

/// The body of a loop that has all accesses; null if there is none.
Block *findBody(Value buffer) {
  Block *body = nullptr;
  for (Operation *user : buffer.getUsers())
    if (!body || body->getParentOp()->isProperAncestor(user->getParentOp()))
      body = body ? body : user->getBlock();
    else if (user->getParentOp()->isProperAncestor(body->getParentOp()))
      body = user->getBlock();
  bool isBody = body && isa<LoopLikeOpInterface>(body->getParentOp());
  bool hasAll = isBody && llvm::all_of(buffer.getUsers(), [&](Operation *user) {
                  return body->findAncestorOpInBlock(*user) != nullptr;
                });
  return hasAll ? body : nullptr;
}

class InsertTMEMArefPass
    : public nvws::impl::NVWSInsertTMEMArefBase<InsertTMEMArefPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    SmallVector<nvidia_gpu::TMEMAllocOp> allocs;
    getOperation().walk(
        [&](nvidia_gpu::TMEMAllocOp alloc) { allocs.push_back(alloc); });
    for (nvidia_gpu::TMEMAllocOp alloc : allocs) {
      if (!isShared(alloc.getResult()))
        continue;
      SmallVector<Round> rounds;
      StringRef why = findRounds(alloc, rounds);
      if (!why.empty()) {
        remark::missed(alloc.getLoc(),
                       remark::RemarkOpts::name("no-ring").category(DEBUG_TYPE))
            << StringRef(
                   ("no ring hands this buffer to other partitions: " + why)
                       .str());
        continue;
      }
      makeRing(alloc, rounds);
      ++numRings;
    }
  }

private:
  /// Whether several partitions access it.
  static bool isShared(Value buffer) {
    unsigned count = 0;
    for (const auto &[partitions, uses] : getUsesOfPartitions(buffer))
      count += partitions ? 1 : 0;
    return count > 1;
  }

  static StringRef findRounds(nvidia_gpu::TMEMAllocOp alloc,
                              SmallVectorImpl<Round> &rounds) {
    if (alloc.getSrc() || alloc.getToken())
      return "it is made with its contents, or has a token";
    Block *body = findBody(alloc.getResult());
    if (!body || body->getParentOp()->isAncestor(alloc))
      return "not all accesses are in the body of a loop behind it";
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : alloc.getResult().getUses()) {
      if (isa<ViewLikeOpInterface>(use.getOwner()))
        return "parts of it are accessed";
      if (!getPartitionsAround(use.getOwner()))
        return "an access is in no partition";
      uses.push_back(&use);
    }
    auto place = [&](OpOperand *use) {
      return body->findAncestorOpInBlock(*use->getOwner());
    };
    llvm::sort(uses, [&](OpOperand *a, OpOperand *b) {
      return place(a) != place(b)
                 ? place(a)->isBeforeInBlock(place(b))
                 : a->getOperandNumber() < b->getOperandNumber();
    });
    llvm::SmallSetVector<Attribute, 2> all;
    for (OpOperand *use : uses) {
      Attribute partitions = getPartitionsAround(use->getOwner());
      all.insert(partitions);
      if (rounds.empty() || rounds.back().partitions != partitions)
        rounds.push_back(Round{partitions, {}, {}});
      rounds.back().uses.push_back(use);
      rounds.back().span.add(place(use));
    }
    for (auto [round, next] : llvm::zip(rounds, llvm::drop_begin(rounds)))
      if (round.span.last == next.span.first)
        return "two partitions access it in one loop or branch";
    if (all.size() > 2)
      return "more than two partitions access it";
    if (rounds.size() % 2)
      return "one partition has the first and the last round of an iteration";
    return "";
  }

  static void makeRing(nvidia_gpu::TMEMAllocOp alloc, ArrayRef<Round> rounds) {
    gpu::MemDescType one = alloc.getResult().getType();
    SmallVector<int64_t> shape{1};
    llvm::append_range(shape, one.getShape());
    auto array = gpu::MemDescType::get(shape, one.getElementType(),
                                       one.getEncoding(), one.getMemorySpace(),
                                       /*mutableMemory=*/true);
    OpBuilder builder(alloc);
    Location loc = alloc.getLoc();
    Value buffers =
        nvidia_gpu::TMEMAllocOp::create(builder, loc, array, /*token=*/Type(),
                                        /*src=*/Value())
            .getResult();
    auto ring = ArefCreateOp::create(
        builder, loc, ArefType::get(builder.getContext(), {Type(array)}),
        buffers);
    for (auto [i, round] : llvm::enumerate(rounds))
      if (i % 2 == 0)
        takeRound<ArefPutEnterOp, ArefPutExitOp>(ring, one, round);
      else
        takeRound<ArefGetEnterOp, ArefGetExitOp>(ring, one, round);
    alloc.erase();
  }

  template <typename EnterOp, typename ExitOp>
  static void takeRound(ArefCreateOp ring, Type buffer, const Round &round) {
    OpBuilder builder(round.span.first);
    Location loc = round.span.first->getLoc();
    auto enter = enterSlot<EnterOp>(builder, loc, ring, buffer);
    runWith(enter, round.span.first);
    setPartitions(enter, round.partitions);
    for (OpOperand *use : round.uses)
      use->set(enter.getBuffers().front());
    builder.setInsertionPointAfter(round.span.last);
    auto exit = exitSlot<ExitOp>(builder, loc, ring, enter.getToken(),
                                 round.getKinds());
    runWith(exit, round.span.last);
    setPartitions(exit, round.partitions);
  }
};

} // namespace
