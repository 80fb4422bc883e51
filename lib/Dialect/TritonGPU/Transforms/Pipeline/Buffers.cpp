//===-- Buffers.cpp - Reads of rings of buffers ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Buffers.h"
#include "TurnedOperands.h"

#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/SharedPlaces.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

static Value allocate(OpBuilder &builder, Location loc, ArrayRef<int64_t> shape,
                      Type element, Attribute encoding) {
  return LocalAllocOp::create(
      builder, loc,
      MemDescType::get(shape, element, encoding,
                       SharedMemorySpaceAttr::get(builder.getContext()),
                       /*mutableMemory=*/true));
}

Value mlir::triton::gpu::allocateBuffer(OpBuilder &builder, Location loc,
                                        RankedTensorType type,
                                        Attribute encoding) {
  return allocate(builder, loc, type.getShape(), type.getElementType(),
                  encoding);
}

Value mlir::triton::gpu::allocateBuffers(OpBuilder &builder, Location loc,
                                         RankedTensorType type,
                                         Attribute encoding, int count) {
  SmallVector<int64_t> shape{count};
  llvm::append_range(shape, type.getShape());
  return allocate(builder, loc, shape, type.getElementType(), encoding);
}

Value mlir::triton::gpu::getBuffer(OpBuilder &builder, Location loc,
                                   Value buffers, Value index) {
  auto type = cast<MemDescType>(buffers.getType());
  auto single = MemDescType::get(type.getShape().drop_front(),
                                 type.getElementType(), type.getEncoding(),
                                 type.getMemorySpace(), /*mutableMemory=*/true);
  return MemDescIndexOp::create(builder, loc, single, buffers, index);
}

/// Views of a buffer are as mutable as the buffer.
static void makeViewsMutable(Value memory) {
  for (Operation *user : memory.getUsers()) {
    if (!isa<ViewLikeOpInterface>(user))
      continue;
    Value view = user->getResult(0);
    auto type = cast<MemDescType>(view.getType());
    view.setType(MemDescType::get(
        type.getShape(), type.getElementType(), type.getEncoding(),
        type.getMemorySpace(), /*mutableMemory=*/true, type.getAllocShape()));
    makeViewsMutable(view);
  }
}

Value mlir::triton::gpu::getBuffers(Value view) {
  while (auto op = view.getDefiningOp<ViewLikeOpInterface>())
    view = op.getViewSource();
  return view;
}

void mlir::triton::gpu::readBuffer(OpBuilder &builder, Operation *load,
                                   const CopyStrategy &strategy, Value slot,
                                   Value token,
                                   function_ref<void(Operation *)> onCreate,
                                   function_ref<void(Operation *)> onErase) {
  Attribute encoding = cast<MemDescType>(slot.getType()).getEncoding();
  Operation *last = slot.getDefiningOp();
  auto created = [&](Operation *op) {
    last = op;
    onCreate(op);
    return op->getResult(0);
  };
  auto readAs = [&](Type type) {
    builder.setInsertionPointAfter(last);
    return created(
        LocalLoadOp::create(builder, load->getLoc(), type, slot, token));
  };
  // Where a dot reads shared memory, it reads what was copied, or what is
  // made of it.
  bool complete = strategy.isComplete(load);
  for (Operation *user : llvm::make_early_inc_range(load->getUsers())) {
    LocalAllocOp alloc = getProductBuffer(user);
    if (!alloc)
      continue;
    if (alloc.getType().getEncoding() == encoding && complete) {
      alloc.getResult().replaceAllUsesWith(slot);
      makeViewsMutable(slot);
      onErase(alloc);
      alloc.erase();
    } else if (Attribute layout = getTurningLayout(alloc); layout && complete) {
      alloc.getSrcMutable().assign(
          readAs(cloneWithEncoding(alloc.getSrc().getType(), layout)));
    }
  }
  // Where the value only changes its layout, it is read in the new one.
  SmallVector<ConvertLayoutOp> conversions;
  for (Operation *user : load->getUsers())
    if (auto convert = dyn_cast<ConvertLayoutOp>(user);
        convert && complete &&
        staysInBlock(convert.getType(), cast<MemDescType>(slot.getType())))
      conversions.push_back(convert);
  for (ConvertLayoutOp convert : conversions) {
    convert.replaceAllUsesWith(readAs(convert.getType()));
    onErase(convert);
    convert.erase();
  }
  if (load->use_empty())
    return;
  Value value = readAs(load->getResult(0).getType());
  if (!complete) {
    auto masked = cast<LoadOp>(load);
    // Buffers that fill together are read together, where the mask of a later
    // load may not be there yet.
    bool isEarly =
        last->getBlock() == load->getBlock() && last->isBeforeInBlock(load);
    builder.setInsertionPointAfter(isEarly ? load : last);
    value = created(arith::SelectOp::create(
        builder, load->getLoc(), masked.getMask(), value, masked.getOther()));
  }
  load->getResult(0).replaceAllUsesWith(value);
}
