//===-- IndexedMemoryOpToLLVM.cpp - Buffers by index ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each thread computes where its elements are: a coordinate is that of the
// element in the tensor of indices, but for the axis, where it is the index.
//
//===----------------------------------------------------------------------===//

#include "tile/Conversion/TritonGPUToLLVM/IndexedMemory.h"
#include "tile/Conversion/TritonGPUToLLVM/OwnedAccessPattern.h"

#include "tile/Dialect/TritonGPU/IR/IndexedOps.h"

using namespace mlir;
using namespace mlir::triton;

namespace {
constexpr const char *kOtherBlock =
    "elements may be in the shared memory of another block of the cluster";

/// An element of a buffer by its coordinates.
class Elements {
public:
  Elements(const LLVMBuilder &b, const TargetInfo &target, const MemDesc &desc,
           gpu::MemDescType memory, RankedTensorType registers, Type element)
      : b(b), inverse(toLinearLayout(memory).pseudoinvert()),
        access(makeSharedAccess(b, target, desc, memory, registers, element)) {}

  /// Whether all blocks of a cluster have all elements in their own memory.
  static bool areInBlock(gpu::MemDescType memory) {
    LinearLayout layout = toLinearLayout(memory);
    for (unsigned i = 0, e = layout.getInDimSizeLog2(kBlock); i < e; ++i)
      if (layout.getFlatBasis(kBlock, i) != 0)
        return false;
    return true;
  }

  Value getPointer(ArrayRef<Value> coords) const {
    Value offset = access.offset;
    for (auto [d, coord] : llvm::enumerate(coords)) {
      SmallVector<int32_t> bases;
      for (unsigned i = 0, e = inverse.getInDimSizeLog2(kDim(d)); i < e; ++i)
        bases.push_back(inverse.getBasis(kDim(d), i, kOffset));
      if (Value part = evaluateLinear(b, coord, bases))
        offset = offset ? b.xor_(offset, part) : part;
    }
    if (!offset)
      return access.base;
    return b.gep(access.base, getSharedElementType(access.element),
                 insertPaddings(b, access, offset));
  }

private:
  const LLVMBuilder &b;
  LinearLayout inverse;
  SharedAccess access;
};

/// Where the elements are that a tensor of indices names.
SmallVector<Value> emitPointers(const LLVMBuilder &b, const TargetInfo &target,
                                Operation *op, Value converted,
                                gpu::MemDescType memory, Value indices,
                                RankedTensorType indexType, unsigned axis,
                                Type element) {
  Elements elements(b, target, MemDesc::unpack(b, converted, memory), memory,
                    indexType, element);
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
    if (!Elements::areInBlock(memory))
      return this->decline(op, kOtherBlock);
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
    if (!Elements::areInBlock(memory))
      return this->decline(op, kOtherBlock);
    LLVMBuilder b(op.getLoc(), rewriter);
    RankedTensorType type = op.getIndices().getType();
    LinearLayout layout = toLinearLayout(type);
    if (layout.getFreeVariableMask(kBlock) == 0 && gpu::lookupNumCTAs(op) > 1)
      return this->decline(op, kOtherBlock);
    Type element = getConverter().convertType(memory.getElementType());
    SmallVector<Value> values =
        unpackElements(b, adaptor.getValues(), op.getValues().getType());
    SmallVector<Value> pointers =
        emitPointers(b, target, op, adaptor.getDst(), memory,
                     adaptor.getIndices(), type, op.getAxis(), element);
    // Each block writes to its own memory.
    ThreadIndex thread = getThreadIndex(b, target, op);
    thread.block = {};
    Value owner = emitUniqueThreadPredicate(b, layout, thread);
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
    if (gpu::lookupNumCTAs(op) > 1)
      return this->decline(op, kOtherBlock);
    if (failed(checkResult(op)))
      return failure();
    LLVMBuilder b(op.getLoc(), rewriter);
    RankedTensorType type = op.getIndices().getType();
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
    Value owner = emitOwnerPredicate(b, target, op, type);
    AccessGroups groups = groupAccess(type, 1);
    SmallVector<Value> results(values.size());
    for (ArrayRef<int32_t> group : groups.registers) {
      int32_t r = group.front();
      Value pred = b.andPred(masks.empty() ? Value() : masks[r], owner);
      FailureOr<SmallVector<Value>> old =
          target.atomicRMW(b, op.getAtomicRmwOp(), pointers[r], values[r], pred,
                           MemSemantic::RELAXED, MemSyncScope::CTA, used);
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
