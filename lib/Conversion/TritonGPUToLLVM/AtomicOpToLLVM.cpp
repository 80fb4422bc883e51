//===-- AtomicOpToLLVM.cpp - Atomic read-modify-write and swap ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each element is updated once, by one of the threads that hold it; on a scalar
// that is the first thread. Where others need the old value, too, they learn it
// through shared memory.
//
//===----------------------------------------------------------------------===//

#include "tile/Conversion/TritonGPUToLLVM/OwnedAccessPattern.h"

#include "tile/Analysis/AxisInfo.h"
#include "tile/Conversion/TritonGPUToLLVM/LLVMAtomics.h"
#include "tile/Conversion/TritonGPUToLLVM/Predicate.h"
#include "tile/Dialect/Triton/IR/HintAttributes.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"

#include "mlir/IR/Matchers.h"

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

/// Whether `op` writes what it reads, on integers.
bool isIdempotent(AtomicRMWOp op) {
  APInt value;
  if (!matchPattern(op.getVal(), m_ConstantInt(&value)))
    return false;
  switch (op.getAtomicRmwOp()) {
  case RMWOp::ADD:
  case RMWOp::OR:
  case RMWOp::XOR:
  case RMWOp::UMAX:
    return value.isZero();
  case RMWOp::AND:
  case RMWOp::UMIN:
    return value.isAllOnes();
  case RMWOp::MAX:
    return value.isMinSignedValue();
  case RMWOp::MIN:
    return value.isMaxSignedValue();
  case RMWOp::FADD:
  case RMWOp::XCHG:
    return false;
  }
  llvm_unreachable("unknown atomic operation");
}

template <typename OpT> struct AtomicPattern : OwnedAccessPattern<OpT> {
  using OwnedAccessPattern<OpT>::OwnedAccessPattern;

  /// Ends the lowering where nobody asks for the old value.
  LogicalResult replaceUnused(OpT op, const LLVMBuilder &b,
                              ConversionPatternRewriter &rewriter) const {
    if (!isa<RankedTensorType>(op.getType()) && acquires(op.getSem()))
      this->programBarrier(b, op);
    Value dead = b.poison(this->getConverter().convertType(op.getType()));
    rewriter.replaceOp(op, dead);
    return success();
  }
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

    // Nobody can tell a load from a write of what is there: threads that wait
    // for others do not keep them off the memory.
    bool load = used && !releases(op.getSem()) && isIdempotent(op);
    SmallVector<Value> results(ptrs.size());
    for (ArrayRef<int32_t> group : groups.registers) {
      Value pred =
          b.andPred(masks.empty() ? Value() : masks[group.front()], owner);
      if (load) {
        for (int32_t r : group)
          results[r] = loadAtomically(op, b, ptrs[r], element, pred);
        continue;
      }
      SmallVector<Value> operands;
      for (int32_t r : group)
        operands.push_back(values[r]);
      FailureOr<SmallVector<Value>> old = target.atomicRMW(
          b, op.getAtomicRmwOp(), ptrs[group.front()], operands, pred,
          op.getSem(), op.getScope(), getEviction(op), used);
      if (failed(old))
        return this->decline(
            op, "the target has no such atomic operation on this type");
      for (auto [r, value] : llvm::zip(group, *old))
        results[r] = value;
    }
    if (!used)
      return replaceUnused(op, b, rewriter);
    return replaceWithOwned(op, b, rewriter, groups, results, owner);
  }

private:
  Value loadAtomically(AtomicRMWOp op, const LLVMBuilder &b, Value ptr,
                       Type element, Value pred) const {
    return underPredicate(b, pred, b.zero(element), [&]() -> Value {
      return b.create<LLVM::LoadOp>(
          element, ptr, /*alignment=*/element.getIntOrFloatBitWidth() / 8,
          /*isVolatile=*/false, /*isNonTemporal=*/false, /*isInvariant=*/false,
          /*isInvariantGroup=*/false, getLLVMOrdering(op.getSem()),
          target.getSyncScope(b, op.getScope()));
    });
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
    return replaceWithOwned(op, b, rewriter, groups, results, owner);
  }
};
} // namespace

void triton::populateAtomicPatterns(const LoweringContext &context) {
  context.patterns.add<RMWPattern, CASPattern>(context);
}
