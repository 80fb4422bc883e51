//===-- OwnedAccessPattern.h - One thread acts, all learn -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Some accesses to global memory must be done once for each element, though
// several threads hold it: atomic operations, and reads of what others may
// write meanwhile. One thread acts, and the others learn the result through
// shared memory. The owner of a scalar is the first thread.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CONVERSION_TRITONGPUTOLLVM_OWNEDACCESSPATTERN_H
#define TILE_CONVERSION_TRITONGPUTOLLVM_OWNEDACCESSPATTERN_H

#include "tile/Analysis/Allocation.h"
#include "tile/Conversion/TritonGPUToLLVM/Elements.h"
#include "tile/Conversion/TritonGPUToLLVM/Patterns.h"
#include "tile/Conversion/TritonGPUToLLVM/SharedAccess.h"
#include "tile/Conversion/TritonGPUToLLVM/VectorizeAccess.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"

namespace mlir::triton {

template <typename OpT> struct OwnedAccessPattern : TargetPattern<OpT> {
  explicit OwnedAccessPattern(const LoweringContext &context)
      : TargetPattern<OpT>(context.converter, context.target, context.benefit),
        axisInfo(context.axisInfo) {}

protected:
  /// Declines what cannot be handed to all that hold an element.
  LogicalResult checkResult(OpT op) const {
    auto type = dyn_cast<RankedTensorType>(op.getType());
    if (op.getResult().use_empty())
      return success();
    if ((!type || repeatsAcrossThreads(type) || getSharingBlockBits(op)) &&
        !op->hasAttr(kAllocationOffsetAttrName))
      return this->decline(op, "no scratch memory allocated");
    return success();
  }

  /// Ends the lowering: all threads get what the owners of the elements got,
  /// and registers that repeat an element get that element's.
  LogicalResult replaceWithOwned(OpT op, const LLVMBuilder &b,
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
    if (repeatsAcrossThreads(type) || getSharingBlockBits(op))
      results = broadcastTensor(b, op, type, results);
    rewriter.replaceOp(
        op, packElements(b, this->getConverter(), results, op.getType()));
    return success();
  }

  const ModuleAxisInfoAnalysis &axisInfo;

private:
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

  /// What the owners of elements got, in all threads that hold copies, also in
  /// those of other blocks.
  SmallVector<Value> broadcastTensor(const LLVMBuilder &b, Operation *op,
                                     RankedTensorType type,
                                     ArrayRef<Value> values) const {
    ThreadIndex index = getThreadIndex(b, this->target, op);
    SharedAccess access{this->target, getRowMajorOffsets(type),
                        getScratchBase(b, this->target, op),
                        values.front().getType()};
    access.store(b, index, values);
    uint32_t sharing = getSharingBlockBits(op);
    if (!sharing) {
      this->blockBarrier(b, op);
      return access.load(b, index);
    }
    this->programBarrier(b, op);
    access.toOffset = inOwningBlock(access.toOffset, sharing);
    SmallVector<Value> results = access.load(b, index);
    // Other blocks must have read before this one goes on or ends.
    this->programBarrier(b, op);
    return results;
  }

  /// Of the blocks that share an element, the scratch memory of the one that
  /// acts.
  static LinearLayout inOwningBlock(const LinearLayout &offsets,
                                    uint32_t sharing) {
    LinearLayout::Bases bases = offsets.getBases();
    for (auto &[dim, ofDim] : bases)
      for (auto [i, basis] : llvm::enumerate(ofDim))
        basis.push_back(dim == kBlock && !(sharing >> i & 1) ? 1 << i : 0);
    LinearLayout::NamedSizes sizes = offsets.getOutDims();
    sizes.push_back({kBlock, offsets.getInDimSize(kBlock)});
    return LinearLayout(bases, sizes, /*requireSurjective=*/false);
  }
};

} // namespace mlir::triton

#endif // TILE_CONVERSION_TRITONGPUTOLLVM_OWNEDACCESSPATTERN_H
