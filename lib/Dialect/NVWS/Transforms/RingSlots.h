//===-- RingSlots.h - Where a partition has a slot of a ring ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_LIB_DIALECT_NVWS_TRANSFORMS_RINGSLOTS_H
#define TILE_LIB_DIALECT_NVWS_TRANSFORMS_RINGSLOTS_H

#include "tile/Analysis/OpPartitions.h"
#include "tile/Dialect/NVWS/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/PartitionAttributes.h"

namespace mlir::triton::nvws {

/// Takes a slot of `ring`, as a `buffer`. `nvws-assign-stage-phase` says which.
template <typename EnterOp>
EnterOp enterSlot(OpBuilder &builder, Location loc, Value ring, Type buffer) {
  return EnterOp::create(builder, loc, TypeRange(buffer),
                         gpu::AsyncTokenType::get(builder.getContext()), ring,
                         /*stage=*/Value(), /*phase=*/Value());
}

/// Gives the slot back that `token` stands for, once accesses of all `kinds`
/// are done.
template <typename ExitOp>
ExitOp exitSlot(OpBuilder &builder, Location loc, Value ring, Value token,
                ArrayRef<AsyncOp> kinds) {
  SmallVector<Attribute> attributes;
  for (AsyncOp kind : kinds)
    attributes.push_back(AsyncOpAttr::get(builder.getContext(), kind));
  return ExitOp::create(builder, loc, ring, /*stage=*/Value(), token,
                        builder.getArrayAttr(attributes));
}

/// Says where a ring ends: behind its last access. Where threads have read all
/// slots, nobody has to wait there, and nothing is said.
inline void endRing(ArefCreateOp ring) {
  Block *block = ring->getBlock();
  Operation *last = ring;
  Attribute filler;
  bool byThreads = true;
  for (Operation *user : ring->getUsers()) {
    Operation *inBlock = block->findAncestorOpInBlock(*user);
    if (last->isBeforeInBlock(inBlock))
      last = inBlock;
    if (isa<ArefPutEnterOp>(user) && getPartitions(user))
      filler = getPartitions(user);
    if (auto exit = dyn_cast<ArefGetExitOp>(user))
      byThreads &= llvm::all_of(
          exit.getAsyncOps().getAsRange<AsyncOpAttr>(),
          [](AsyncOpAttr kind) { return kind.getValue() == AsyncOp::NONE; });
  }
  if (byThreads)
    return;
  OpBuilder builder(ring.getContext());
  builder.setInsertionPointAfter(last);
  auto destroy =
      ArefDestroyOp::create(builder, ring.getLoc(), ring.getResult());
  // The one that fills it knows its slots, where its loop is the last access.
  Attribute tag = last->getAttr(gpu::kWarpSpecializeTagAttr);
  if (!filler || !tag)
    return;
  setPartitions(destroy, filler);
  destroy->setAttr(gpu::kWarpSpecializeTagAttr, tag);
}

} // namespace mlir::triton::nvws

#endif // TILE_LIB_DIALECT_NVWS_TRANSFORMS_RINGSLOTS_H
