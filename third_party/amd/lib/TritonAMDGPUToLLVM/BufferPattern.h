//===-- BufferPattern.h - Accesses through descriptors ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef AMD_TRITONAMDGPUTOLLVM_BUFFERPATTERN_H
#define AMD_TRITONAMDGPUTOLLVM_BUFFERPATTERN_H

#include "amd/IR/AttributeNames.h"
#include "amd/IR/Dialect.h"
#include "amd/TritonAMDGPUToLLVM/Patterns.h"

#include "tile/Analysis/AxisInfo.h"
#include "tile/Conversion/TritonGPUToLLVM/CutVectors.h"
#include "tile/Conversion/TritonGPUToLLVM/OwnedAccessPattern.h"

namespace mlir::triton::amd {

constexpr unsigned kMaxAccessBits = 128;

/// Neighbours that are accessed at once.
template <typename OpT>
unsigned getBufferVector(const ModuleAxisInfoAnalysis &axisInfo, OpT op,
                         Type element, Value mask, unsigned maxBits) {
  unsigned bits = element.getIntOrFloatBitWidth();
  const AxisInfo *base = axisInfo.getAxisInfo(op.getPtr());
  int64_t aligned =
      base ? std::max<int64_t>(1, base->getDivisibility(0) * 8 / bits) : 1;
  unsigned vector =
      getAccessVector(axisInfo, op.getOffsets(), mask, bits, maxBits);
  return std::min<int64_t>(vector, aligned & -aligned);
}

template <typename OpT> struct BufferPattern : OwnedAccessPattern<OpT> {
  BufferPattern(const LoweringContext &context, const TargetInfo &target)
      : OwnedAccessPattern<OpT>(context), facts(target.getFacts()) {}

protected:
  LogicalResult checkTarget(OpT op) const {
    return facts.bufferFlags ? success()
                             : this->decline(op, "the target's buffer "
                                                 "descriptors are not built");
  }

  /// Where accesses go: a descriptor, and the offset that all lanes share.
  struct Buffer {
    Value descriptor, scalarOffset;
  };

  /// The buffer is empty where the scalar `condition`, if given, is false.
  Buffer makeBuffer(const LLVMBuilder &b, ConversionPatternRewriter &rewriter,
                    OpT op, Value base, Type element,
                    Value condition = {}) const {
    if (op->hasAttr(kDivergentBaseAttrName))
      // Otherwise LLVM makes a loop over the lanes.
      base = b.intrinsic(base.getType(), "llvm.amdgcn.readfirstlane", base);
    else if (auto step = op.getPtr().template getDefiningOp<AddPtrOp>();
             step && op->hasAttr(amdgpu::kScalarOffsetAttrName))
      return {makeDescriptor(b, rewriter.getRemappedValue(step.getPtr()),
                             condition),
              getScalarOffset(b, rewriter.getRemappedValue(step.getOffset()),
                              element, condition, isMasked(op))};
    return {makeDescriptor(b, base, condition), b.i32(0)};
  }

  /// In bytes; behind the end where `pred`, if given, is false.
  static Value getByteOffset(const LLVMBuilder &b, Value offset, Type element,
                             Value pred) {
    unsigned bytes = element.getIntOrFloatBitWidth() / 8;
    Value inside = b.mul(offset, b.i32(bytes));
    return pred ? b.select(pred, inside, b.i32(-amdgpu::kBufferBytes)) : inside;
  }

  /// Which vectors of elements are accessed.
  VectorPlan planVectors(OpT op, Type element) const {
    return triton::planVectors(
        this->axisInfo, op.getOffsets(), op.getMask(),
        getVector(op, element, /*mask=*/Value(), kMaxAccessBits));
  }

  unsigned getVector(OpT op, Type element, Value mask, unsigned maxBits) const {
    return getBufferVector(this->axisInfo, op, element, mask, maxBits);
  }

  /// How `count` elements travel.
  static Type getAccessType(const LLVMBuilder &b, Type element,
                            unsigned count) {
    unsigned bits = element.getIntOrFloatBitWidth() * count;
    return bits <= 32 ? Type(b.intTy(bits))
                      : LLVMBuilder::vecTy(b.intTy(32), bits / 32);
  }

  SmallVector<Value> unpack(const LLVMBuilder &b, Value converted,
                            Value original) const {
    if (!converted)
      return {};
    return unpackElements(b, converted, original.getType());
  }

  Value getPolicy(const LLVMBuilder &b, CacheModifier cache) const {
    return b.i32(cache == CacheModifier::CS ? facts.streamedPolicy : 0);
  }

  const AMDTarget &facts;

private:
  static bool isMasked(OpT op) {
    if constexpr (std::is_same_v<OpT, amdgpu::BufferAtomicCASOp>)
      return false;
    else
      return op.getMask() != nullptr;
  }

  Value makeDescriptor(const LLVMBuilder &b, Value base,
                       Value condition) const {
    constexpr unsigned resourceSpace = 8;
    Value bytes = b.i64(amdgpu::kBufferBytes);
    if (condition)
      bytes = b.select(condition, bytes, b.i64(0));
    return b.intrinsic(b.ptrTy(resourceSpace), "llvm.amdgcn.make.buffer.rsrc",
                       ValueRange{base, /*stride=*/b.intVal(16, 0), bytes,
                                  b.i32(facts.bufferFlags)});
  }

  /// In bytes. Where nothing is accessed, it may be more than the buffer has:
  /// it is kept inside, so that what lanes have behind the end stays there.
  static Value getScalarOffset(const LLVMBuilder &b, Value offset, Type element,
                               Value condition, bool isMasked) {
    Value bytes = b.mul(b.trunc(b.intTy(32), offset),
                        b.i32(element.getIntOrFloatBitWidth() / 8));
    if (condition)
      return b.select(condition, bytes, b.i32(0));
    return isMasked
               ? b.create<LLVM::UMinOp>(bytes, b.i32(-amdgpu::kBufferBytes))
                     .getResult()
               : bytes;
  }
};

} // namespace mlir::triton::amd

#endif // AMD_TRITONAMDGPUTOLLVM_BUFFERPATTERN_H
