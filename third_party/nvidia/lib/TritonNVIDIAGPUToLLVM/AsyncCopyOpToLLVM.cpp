//===-- AsyncCopyOpToLLVM.cpp - cp.async ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A copy instruction moves 4, 8 or 16 bytes that are neighbours on both sides.
// Masked-off elements read as zero by a source size of zero; other values need
// a store instead of the copy. Where the layouts allow no instruction, the copy
// happens at once, through registers.
//
//===----------------------------------------------------------------------===//

#include "nvidia/TritonNVIDIAGPUToLLVM/CachePolicy.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/Patterns.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "tile/Analysis/AxisInfo.h"
#include "tile/Conversion/TritonGPUToLLVM/VectorizeAccess.h"
#include "tile/Dialect/TritonGPU/IR/SharedPlaces.h"

using namespace mlir;
using namespace mlir::triton;
namespace nvt = mlir::triton::nvidia;
namespace ttg = mlir::triton::gpu;

namespace {
Value makeToken(const LLVMBuilder &b) { return b.i32(0); }

bool isZeroSplat(Value value) {
  TypedAttr constant = value ? getSplatConstant(value) : TypedAttr();
  if (auto splat = dyn_cast_or_null<SplatElementsAttr>(constant)) {
    Attribute element = splat.getSplatValue<Attribute>();
    if (auto number = dyn_cast<FloatAttr>(element))
      return number.getValue().isPosZero();
    if (auto number = dyn_cast<IntegerAttr>(element))
      return number.getValue().isZero();
  }
  return false;
}

struct AsyncCopyPattern : TargetPattern<ttg::AsyncCopyGlobalToLocalOp> {
  AsyncCopyPattern(const LoweringContext &context,
                   const nvt::TargetInfo &target)
      : TargetPattern(context.converter, context.target, context.benefit),
        axisInfo(context.axisInfo), facts(target.getFacts()),
        sizes(target.getModel().getAsyncCopySizes()) {}

  LogicalResult
  matchAndRewrite(ttg::AsyncCopyGlobalToLocalOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    auto ptrType = cast<RankedTensorType>(op.getSrc().getType());
    auto memory = cast<ttg::MemDescType>(op.getResult().getType());
    if (!triton::gpu::staysInBlock(ptrType, memory))
      return this->decline(op, "elements go to the shared memory of another "
                               "block of the cluster");
    Type element = getConverter().convertType(memory.getElementType());
    unsigned bytes = getSharedElementBytes(element);
    unsigned widest = sizes.empty()
                          ? target.getModel().getMaxGlobalAccessBits() / 8
                          : sizes.back();
    unsigned vector = getAccessVector(axisInfo, op.getSrc(), op.getMask(),
                                      8 * bytes, 8 * widest);
    // What an earlier pass proved may be more than is visible here.
    unsigned promised = op.getContiguity();
    if (op.getMask())
      promised = std::min(promised, axisInfo.getMaskAlignment(op.getMask()));
    vector = std::max(vector, std::min(promised, widest / bytes));

    MemDesc desc = MemDesc::unpack(b, adaptor.getResult(), memory);
    SharedAccess access =
        makeSharedAccess(b, target, desc, memory, ptrType, element);
    access.maxVector = vector;
    // A vector's registers must be neighbours in global memory too: in a row.
    SmallVector<SmallVector<int32_t>> vectors = access.getVectors();
    bool inARow = llvm::all_of(vectors, [](ArrayRef<int32_t> registers) {
      for (auto [i, r] : llvm::enumerate(registers))
        if (r != registers.front() + static_cast<int32_t>(i))
          return false;
      return true;
    });
    if (!inARow)
      access.maxVector = 1;
    unsigned size = (inARow ? vectors.front().size() : 1) * bytes;

    SmallVector<Value> ptrs = unpackElements(b, adaptor.getSrc(), ptrType);
    SmallVector<Value> masks, others;
    if (op.getMask())
      masks = unpackElements(b, adaptor.getMask(), op.getMask().getType());
    if (op.getOther() && !isZeroSplat(op.getOther()))
      others = unpackElements(b, adaptor.getOther(), op.getOther().getType());
    ThreadIndex index = getThreadIndex(b, target, op);
    Value owner = access.emitOwner(b, index);
    bool useCopy = llvm::is_contained(sizes, size);
    TargetInfo::CacheHints hints{op.getCache(), op.getEvict(),
                                 op.getIsVolatile()};
    nvt::CachePolicy policy(b, facts,
                            useCopy ? op.getEvict() : EvictionPolicy::NORMAL);
    access.forEachVector(b, index, [&](Value dst, ArrayRef<int32_t> registers) {
      int32_t first = registers.front();
      Value mask = masks.empty() ? Value() : masks[first];
      SmallVector<Value> other;
      if (!others.empty())
        for (int32_t r : registers)
          other.push_back(toSharedElement(b, others[r]));
      if (!useCopy) {
        SmallVector<Value> loaded = target.loadGlobal(
            b, ptrs[first], getSharedElementType(element), registers.size(),
            b.andPred(mask, owner), other, hints);
        target.storeShared(b, dst, loaded, owner);
        return;
      }
      if (!other.empty()) {
        copy(b, dst, ptrs[first], size, Value(), b.andPred(mask, owner),
             op.getCache(), policy);
        target.storeShared(b, dst, other, b.andPred(b.not_(mask), owner));
        return;
      }
      copy(b, dst, ptrs[first], size, mask, owner, op.getCache(), policy);
    });
    rewriter.replaceOp(op, makeToken(b));
    return success();
  }

private:
  /// What a copy reads: nothing without the condition. LLVM makes a chain of
  /// selections of a condition that is a conjunction; ptxas makes a predicate
  /// of one selection only, and the copy takes that.
  static Value getReadSize(const LLVMBuilder &b, Value read, unsigned size) {
    nvt::PTXAsm ptx(b);
    auto result = ptx.output("r"), condition = ptx.input(read, "b");
    ptx << "selp.b32 " << result << ", " << std::to_string(size) << ", 0, "
        << condition << ";";
    return ptx.emit({b.intTy(32)}, nvt::PTXAsm::Pure).front();
  }

  /// `read`: whether there is anything to read; `pred`: whether to copy at all.
  void copy(const LLVMBuilder &b, Value dst, Value src, unsigned size,
            Value read, Value pred, CacheModifier cache,
            const nvt::CachePolicy &policy) const {
    bool bypassL1 = size == 16 && cache != CacheModifier::CA;
    Value readSize = read ? getReadSize(b, read, size) : Value();
    if (!pred && !policy) {
      b.create<NVVM::CpAsyncOp>(
          dst, src, b.getBuilder().getI32IntegerAttr(size),
          NVVM::LoadCacheModifierKindAttr::get(
              b.getContext(), bypassL1 ? NVVM::LoadCacheModifierKind::CG
                                       : NVVM::LoadCacheModifierKind::CA),
          readSize);
      return;
    }
    nvt::PTXAsm ptx(b);
    auto to = ptx.input(dst, "r"), from = ptx.input(src, "l");
    if (pred)
      ptx << "@" << ptx.input(pred, "b") << " ";
    ptx << "cp.async." << (bypassL1 ? "cg" : "ca") << ".shared.global"
        << policy.getQualifier() << " [" << to << "], [" << from << "], "
        << std::to_string(size);
    if (readSize)
      ptx << ", " << ptx.input(readSize, "r");
    policy.append(ptx);
    ptx << ";";
    ptx.emit({}, nvt::PTXAsm::SideEffects);
  }

  const ModuleAxisInfoAnalysis &axisInfo;
  const NVIDIATarget &facts;
  ArrayRef<unsigned> sizes;
};

struct CommitPattern : TargetPattern<ttg::AsyncCommitGroupOp> {
  CommitPattern(const LoweringContext &context, const nvt::TargetInfo &target)
      : TargetPattern(context.converter, context.target, context.benefit),
        facts(target.getFacts()) {}
  LogicalResult
  matchAndRewrite(ttg::AsyncCommitGroupOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    if (facts.hasAsyncCopy)
      b.create<NVVM::CpAsyncCommitGroupOp>();
    rewriter.replaceOp(op, makeToken(b));
    return success();
  }
  const NVIDIATarget &facts;
};

struct WaitPattern : TargetPattern<ttg::AsyncWaitOp> {
  WaitPattern(const LoweringContext &context, const nvt::TargetInfo &target)
      : TargetPattern(context.converter, context.target, context.benefit),
        facts(target.getFacts()) {}
  LogicalResult
  matchAndRewrite(ttg::AsyncWaitOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    if (facts.hasAsyncCopy)
      b.create<NVVM::CpAsyncWaitGroupOp>(
          b.getBuilder().getI32IntegerAttr(op.getNum()));
    rewriter.replaceOp(op, makeToken(b));
    return success();
  }
  const NVIDIATarget &facts;
};
} // namespace

void nvt::populateAsyncCopyPatterns(const LoweringContext &context,
                                    const TargetInfo &target) {
  context.patterns.add<AsyncCopyPattern, CommitPattern, WaitPattern>(context,
                                                                     target);
}
