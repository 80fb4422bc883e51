//===-- IndexedMemoryOpToLLVM.cpp - Buffers by index ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each thread computes where its elements are: a coordinate is that of the
// element in the tensor of indices, but for the axis, where it is the index. In
// a cluster this says also which block has it.
//
//===----------------------------------------------------------------------===//

#include "tile/Conversion/TritonGPUToLLVM/IndexedMemory.h"
#include "tile/Conversion/TritonGPUToLLVM/OwnedAccessPattern.h"

#include "tile/Dialect/TritonGPU/IR/IndexedOps.h"
#include "tile/Dialect/TritonGPU/IR/SharedPlaces.h"

using namespace mlir;
using namespace mlir::triton;

namespace {
constexpr const char *kMissesCopies =
    "several blocks of the cluster hold copies of elements in shared memory "
    "that "
    "only one of them has in registers";

/// An element of a buffer by its coordinates.
class Elements {
public:
  Elements(const LLVMBuilder &b, const TargetInfo &target, const MemDesc &desc,
           gpu::MemDescType memory, RankedTensorType registers, Type element,
           const ThreadIndex &thread)
      : b(b), target(target), inverse(toLinearLayout(memory).pseudoinvert()),
        access(makeSharedAccess(b, target, desc, memory, registers, element)),
        isDivided(!gpu::isInEachBlock(memory)) {
    if (!isDivided)
      return;
    block = emitViewBlock(b, desc, memory);
    // A block has copies of its own.
    if (uint32_t copies = gpu::getCopyBits(memory)) {
      Value own = b.and_(thread.block, b.i32(copies));
      block = block ? b.xor_(block, own) : own;
    }
  }

  Value getPointer(ArrayRef<Value> coords) const {
    Value offset = evaluate(coords, kOffset, access.offset);
    Value pointer =
        offset ? b.gep(access.base, getSharedElementType(access.element),
                       insertPaddings(b, access, offset))
               : access.base;
    if (!isDivided)
      return pointer;
    Value there = evaluate(coords, kBlock, block);
    return target.mapToBlock(b, pointer, there ? there : b.i32(0));
  }

private:
  /// What the coordinates add to `start`, of an input of the memory's layout.
  Value evaluate(ArrayRef<Value> coords, StringRef out, Value start) const {
    for (auto [d, coord] : llvm::enumerate(coords)) {
      SmallVector<int32_t> bases;
      for (unsigned i = 0, e = inverse.getInDimSizeLog2(kDim(d)); i < e; ++i)
        bases.push_back(inverse.getBasis(kDim(d), i, out));
      if (Value part = evaluateLinear(b, coord, bases))
        start = start ? b.xor_(start, part) : part;
    }
    return start;
  }

  const LLVMBuilder &b;
  const TargetInfo &target;
  LinearLayout inverse;
  SharedAccess access;
  /// Whether blocks of a cluster have parts of the buffer.
  bool isDivided;
  Value block;
};

/// True in one thread of those that hold the same element, in each block that
/// has a copy of it in its memory.
Value emitOwner(const LLVMBuilder &b, const LinearLayout &layout,
                gpu::MemDescType memory, ThreadIndex thread) {
  if (gpu::isInEachBlock(memory))
    thread.block = {};
  else if (uint32_t copies = gpu::getCopyBits(memory))
    thread.block = b.and_(thread.block, b.i32(~copies));
  return emitUniqueThreadPredicate(b, layout, thread);
}

/// Where the elements are that a tensor of indices names.
SmallVector<Value> emitPointers(const LLVMBuilder &b, const TargetInfo &target,
                                Operation *op, Value converted,
                                gpu::MemDescType memory, Value indices,
                                RankedTensorType indexType, unsigned axis,
                                Type element) {
  Elements elements(b, target, MemDesc::unpack(b, converted, memory), memory,
                    indexType, element, getThreadIndex(b, target, op));
  SmallVector<Value> pointers;
  for (auto [coords, index] :
       llvm::zip(emitIndices(b, target, op, toLinearLayout(indexType)),
                 unpackElements(b, indices, indexType))) {
    SmallVector<Value> at(coords);
    unsigned bits = index.getType().getIntOrFloatBitWidth();
    at[axis] = bits > 32   ? b.trunc(b.intTy(32), index)
               : bits < 32 ? b.zext(b.intTy(32), index)
                           : index;
    pointers.push_back(elements.getPointer(at));
  }
  return pointers;
}

struct LocalGatherPattern : TargetPattern<gpu::LocalGatherOp> {
  using TargetPattern::TargetPattern;
  LogicalResult
  matchAndRewrite(gpu::LocalGatherOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    gpu::MemDescType memory = op.getSrc().getType();
    LLVMBuilder b(op.getLoc(), rewriter);
    Type element = getConverter().convertType(memory.getElementType());
    Type stored = getSharedElementType(element);
    SmallVector<Value> results;
    for (Value pointer : emitPointers(
             b, target, op, adaptor.getSrc(), memory, adaptor.getIndices(),
             op.getIndices().getType(), op.getAxis(), element))
      results.push_back(fromSharedElement(
          b, target.loadShared(b, pointer, stored, 1, Value())[0], element));
    rewriter.replaceOp(op,
                       packElements(b, getConverter(), results, op.getType()));
    return success();
  }
};

struct LocalScatterPattern : TargetPattern<gpu::LocalScatterOp> {
  using TargetPattern::TargetPattern;
  LogicalResult
  matchAndRewrite(gpu::LocalScatterOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    gpu::MemDescType memory = op.getDst().getType();
    LLVMBuilder b(op.getLoc(), rewriter);
    RankedTensorType type = op.getIndices().getType();
    if (gpu::missesCopies(type, memory))
      return this->decline(op, kMissesCopies);
    Type element = getConverter().convertType(memory.getElementType());
    SmallVector<Value> values =
        unpackElements(b, adaptor.getValues(), op.getValues().getType());
    SmallVector<Value> pointers =
        emitPointers(b, target, op, adaptor.getDst(), memory,
                     adaptor.getIndices(), type, op.getAxis(), element);
    Value owner = emitOwner(b, toLinearLayout(type), memory,
                            getThreadIndex(b, target, op));
    for (ArrayRef<int32_t> group : groupAccess(type, 1).registers)
      target.storeShared(b, pointers[group.front()],
                         toSharedElement(b, values[group.front()]), owner);
    rewriter.eraseOp(op);
    return success();
  }
};

struct LocalAtomicScatterPattern
    : OwnedAccessPattern<gpu::LocalAtomicScatterRMWOp> {
  using OwnedAccessPattern::OwnedAccessPattern;
  LogicalResult
  matchAndRewrite(gpu::LocalAtomicScatterRMWOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    gpu::MemDescType memory = op.getDst().getType();
    RankedTensorType type = op.getIndices().getType();
    if (gpu::missesCopies(type, memory))
      return this->decline(op, kMissesCopies);
    if (failed(checkResult(op)))
      return failure();
    LLVMBuilder b(op.getLoc(), rewriter);
    Type element = getConverter().convertType(memory.getElementType());
    SmallVector<Value> values =
        unpackElements(b, adaptor.getValues(), op.getValues().getType());
    SmallVector<Value> masks;
    if (op.getMask())
      masks = unpackElements(b, adaptor.getMask(), op.getMask().getType());
    SmallVector<Value> pointers =
        emitPointers(b, target, op, adaptor.getDst(), memory,
                     adaptor.getIndices(), type, op.getAxis(), element);
    bool used = !op.getResult().use_empty();
    Value owner = emitOwner(b, toLinearLayout(type), memory,
                            getThreadIndex(b, target, op));
    AccessGroups groups = groupAccess(type, 1);
    SmallVector<Value> results(values.size());
    for (ArrayRef<int32_t> group : groups.registers) {
      int32_t r = group.front();
      Value pred = b.andPred(masks.empty() ? Value() : masks[r], owner);
      FailureOr<SmallVector<Value>> old =
          target.atomicRMW(b, op.getAtomicRmwOp(), pointers[r], values[r], pred,
                           MemSemantic::RELAXED, MemSyncScope::CTA,
                           EvictionPolicy::NORMAL, used);
      if (failed(old))
        return this->decline(
            op, "the target has no such atomic operation on this type");
      if (used)
        results[r] = old->front();
    }
    if (used)
      return replaceWithOwned(op, b, rewriter, groups, results, owner);
    rewriter.replaceOp(
        op, b.poison(this->getConverter().convertType(op.getType())));
    return success();
  }
};
} // namespace

void triton::populateIndexedMemoryPatterns(const LoweringContext &context) {
  context.add<LocalGatherPattern, LocalScatterPattern>();
  context.patterns.add<LocalAtomicScatterPattern>(context);
}
