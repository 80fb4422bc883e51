//===-- AtomicOpToLLVM.cpp - Atomic read-modify-write and swap ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each element is updated once, by one of the threads that hold it; on a scalar
// that is the first thread. Where others need the old value, too, they learn it
// through shared memory.
//
//===----------------------------------------------------------------------===//

#include "tile/Conversion/TritonGPUToLLVM/Patterns.h"
#include "tile/Conversion/TritonGPUToLLVM/VectorizeAccess.h"

#include "tile/Analysis/Allocation.h"
#include "tile/Analysis/AxisInfo.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"

using namespace mlir;
using namespace mlir::triton;

namespace {
bool releases(MemSemantic semantic) {
  return semantic == MemSemantic::RELEASE ||
         semantic == MemSemantic::ACQUIRE_RELEASE;
}
bool acquires(MemSemantic semantic) {
  return semantic == MemSemantic::ACQUIRE ||
         semantic == MemSemantic::ACQUIRE_RELEASE;
}

template <typename OpT> struct AtomicPattern : TargetPattern<OpT> {
  AtomicPattern(const LoweringContext &context)
      : TargetPattern<OpT>(context.converter, context.target, context.benefit),
        axisInfo(context.axisInfo) {}

  /// What the first thread got, in all threads.
  Value broadcastScalar(const LLVMBuilder &b, Operation *op, Value value,
                        Value isFirst) const {
    Value scratch = getScratchBase(b, this->target, op);
    this->target.storeShared(b, scratch, toSharedElement(b, value), isFirst);
    this->programBarrier(b, op);
    bool inCluster = gpu::lookupNumCTAs(op) > 1;
    if (inCluster)
      scratch = this->target.mapToBlock(b, scratch, b.i32(0));
    Type element = value.getType();
    Value loaded = this->target.loadShared(
        b, scratch, getSharedElementType(element), 1, Value())[0];
    // Other blocks must have read before this one goes on or ends.
    if (inCluster)
      this->programBarrier(b, op);
    return fromSharedElement(b, loaded, element);
  }

  /// What the owners of elements got, in all threads that hold copies.
  SmallVector<Value> broadcastTensor(const LLVMBuilder &b, Operation *op,
                                     RankedTensorType type,
                                     ArrayRef<Value> values) const {
    ThreadIndex index = getThreadIndex(b, this->target, op);
    SharedAccess access{this->target, getRowMajorOffsets(type),
                        getScratchBase(b, this->target, op),
                        values.front().getType()};
    access.store(b, index, values);
    this->blockBarrier(b, op);
    return access.load(b, index);
  }

  /// Ends the lowering where nobody asks for the old value.
  LogicalResult replaceUnused(OpT op, const LLVMBuilder &b,
                              ConversionPatternRewriter &rewriter) const {
    if (!isa<RankedTensorType>(op.getType()) && acquires(op.getSem()))
      this->programBarrier(b, op);
    Value dead = b.poison(this->getConverter().convertType(op.getType()));
    rewriter.replaceOp(op, dead);
    return success();
  }

  /// Ends the lowering: all threads get the old value of a scalar, and
  /// registers that repeat an element get that element's.
  LogicalResult replaceWithOldValues(OpT op, const LLVMBuilder &b,
                                     ConversionPatternRewriter &rewriter,
                                     const AccessGroups &groups,
                                     SmallVectorImpl<Value> &results,
                                     Value owner) const {
    auto type = dyn_cast<RankedTensorType>(op.getType());
    if (!type) {
      rewriter.replaceOp(op, broadcastScalar(b, op, results[0], owner));
      return success();
    }
    for (auto [r, same] : llvm::enumerate(groups.representative))
      if (!results[r])
        results[r] = results[same];
    if (repeatsAcrossThreads(type))
      results = broadcastTensor(b, op, type, results);
    rewriter.replaceOp(
        op, packElements(b, this->getConverter(), results, op.getType()));
    return success();
  }

  /// Declines what cannot be handed to all that hold an element.
  LogicalResult checkResult(OpT op) const {
    auto type = dyn_cast<RankedTensorType>(op.getType());
    if (op.getResult().use_empty())
      return success();
    if (type && gpu::lookupNumCTAs(op) > 1 &&
        toLinearLayout(type).getFreeVariableMask(kBlock))
      return this->decline(op, "the old values are used and several blocks of "
                               "a cluster hold the same elements");
    if ((!type || repeatsAcrossThreads(type)) &&
        !op->hasAttr("allocation.offset"))
      return this->decline(op, "no scratch memory allocated");
    return success();
  }

  const ModuleAxisInfoAnalysis &axisInfo;
};

struct RMWPattern : AtomicPattern<AtomicRMWOp> {
  using AtomicPattern::AtomicPattern;
  LogicalResult
  matchAndRewrite(AtomicRMWOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    Type type = op.getType();
    bool used = !op.getResult().use_empty();
    if (failed(checkResult(op)))
      return failure();
    bool scalar = !isa<RankedTensorType>(type);
    Type element = getConverter().convertType(getTensorElementOrSelf(type));
    unsigned bits = isa<LLVM::LLVMPointerType>(element)
                        ? 64
                        : element.getIntOrFloatBitWidth();
    unsigned vector = getAccessVector(
        axisInfo, op.getPtr(), op.getMask(), bits,
        bits * target.getMaxAtomicVector(op.getAtomicRmwOp(), element));
    AccessGroups groups = groupAccess(op.getPtr().getType(), vector);
    SmallVector<Value> ptrs =
        unpackElements(b, adaptor.getPtr(), op.getPtr().getType());
    SmallVector<Value> values =
        unpackElements(b, adaptor.getVal(), op.getVal().getType());
    SmallVector<Value> masks;
    if (op.getMask())
      masks = unpackElements(b, adaptor.getMask(), op.getMask().getType());
    Value owner = emitOwnerPredicate(b, target, op, type);
    // One thread speaks for the block: what the others did before must be done.
    if (scalar && releases(op.getSem()))
      programBarrier(b, op);

    SmallVector<Value> results(ptrs.size());
    for (ArrayRef<int32_t> group : groups.registers) {
      SmallVector<Value> operands;
      for (int32_t r : group)
        operands.push_back(values[r]);
      Value pred = masks.empty() ? Value() : masks[group.front()];
      FailureOr<SmallVector<Value>> old = target.atomicRMW(
          b, op.getAtomicRmwOp(), ptrs[group.front()], operands,
          b.andPred(pred, owner), op.getSem(), op.getScope(), used);
      if (failed(old))
        return this->decline(
            op, "the target has no such atomic operation on this type");
      for (auto [r, value] : llvm::zip(group, *old))
        results[r] = value;
    }
    if (!used)
      return replaceUnused(op, b, rewriter);
    return replaceWithOldValues(op, b, rewriter, groups, results, owner);
  }
};

struct CASPattern : AtomicPattern<AtomicCASOp> {
  using AtomicPattern::AtomicPattern;
  LogicalResult
  matchAndRewrite(AtomicCASOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    Type type = op.getType();
    bool used = !op.getResult().use_empty();
    if (failed(checkResult(op)))
      return failure();
    bool scalar = !isa<RankedTensorType>(type);
    AccessGroups groups = groupAccess(op.getPtr().getType(), 1);
    SmallVector<Value> ptrs =
        unpackElements(b, adaptor.getPtr(), op.getPtr().getType());
    SmallVector<Value> compares =
        unpackElements(b, adaptor.getCmp(), op.getCmp().getType());
    SmallVector<Value> values =
        unpackElements(b, adaptor.getVal(), op.getVal().getType());
    Value owner = emitOwnerPredicate(b, target, op, type);
    if (scalar && releases(op.getSem()))
      programBarrier(b, op);
    SmallVector<Value> results(ptrs.size());
    for (ArrayRef<int32_t> group : groups.registers) {
      int32_t r = group.front();
      FailureOr<Value> old =
          target.atomicCAS(b, ptrs[r], compares[r], values[r], owner,
                           op.getSem(), op.getScope());
      if (failed(old))
        return this->decline(op,
                             "the target has no compare-and-swap on this type");
      results[r] = *old;
    }
    if (!used)
      return replaceUnused(op, b, rewriter);
    return replaceWithOldValues(op, b, rewriter, groups, results, owner);
  }
};
} // namespace

void triton::populateAtomicPatterns(const LoweringContext &context) {
  context.patterns.add<RMWPattern, CASPattern>(context);
}
