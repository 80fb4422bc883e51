//===-- AsyncCopyOpToLLVM.cpp - cp.async ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A copy instruction moves 4, 8 or 16 bytes that are neighbours on both sides.
// The source size says how many of them it reads. The others become zero, as
// masked-off elements do. Other values need a store instead of the copy. Where
// the layouts allow no instruction, the copy happens at once, through
// registers.
//
//===----------------------------------------------------------------------===//

#include "nvidia/TritonNVIDIAGPUToLLVM/CachePolicy.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/Patterns.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "tile/Analysis/AxisInfo.h"
#include "tile/Analysis/MaskTrend.h"
#include "tile/Conversion/TritonGPUToLLVM/VectorizeAccess.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/SharedPlaces.h"

using namespace mlir;
using namespace mlir::triton;
namespace nvt = mlir::triton::nvidia;
namespace ttg = mlir::triton::gpu;

namespace {
Value makeToken(const LLVMBuilder &b) { return b.i32(0); }

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
    MemDesc desc = MemDesc::unpack(b, adaptor.getResult(), memory);
    SharedAccess access =
        makeSharedAccess(b, target, desc, memory, ptrType, element);
    access.maxVector = getVector(op, bytes, /*mayCut=*/true);
    unsigned size = limitToRows(access) * bytes;
    bool useCopy = llvm::is_contained(sizes, size);
    if (!useCopy) {
      // Registers are loaded where the mask holds for all of them.
      access.maxVector = getVector(op, bytes, /*mayCut=*/false);
      limitToRows(access);
    }
    SmallVector<Value> ptrs = unpackElements(b, adaptor.getSrc(), ptrType);
    SmallVector<Value> masks, others;
    if (op.getMask())
      masks = unpackElements(b, adaptor.getMask(), op.getMask().getType());
    if (op.getOther() && !isConstantZero(op.getOther()))
      others = unpackElements(b, adaptor.getOther(), op.getOther().getType());
    ThreadIndex index = getThreadIndex(b, target, op);
    Value owner = access.emitOwner(b, index);
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
      Value readSize;
      if (!masks.empty())
        readSize = getReadSize(b, getMasks(op, masks, registers), size);
      copy(b, dst, ptrs[first], size, readSize, owner, op.getCache(), policy);
    });
    rewriter.replaceOp(op, makeToken(b));
    return success();
  }

private:
  /// How many neighbours an access of one thread may take. `mayCut`: whether
  /// the mask may end inside of them.
  unsigned getVector(ttg::AsyncCopyGlobalToLocalOp op, unsigned bytes,
                     bool mayCut) const {
    unsigned widest = sizes.empty()
                          ? target.getModel().getMaxGlobalAccessBits() / 8
                          : sizes.back();
    Value mask = op.getMask();
    unsigned vector = getAccessVector(
        axisInfo, op.getSrc(), mayCut ? Value() : mask, 8 * bytes, 8 * widest);
    // What an earlier pass proved may be more than is visible here.
    unsigned promised = std::min(op.getContiguity(), widest / bytes);
    if (mask && !mayCut)
      promised = std::min(promised, axisInfo.getMaskAlignment(mask));
    vector = std::max(vector, promised);
    return mayCut ? getCopiedNeighbours(axisInfo, vector, mask, op.getOther())
                  : vector;
  }

  /// Has vectors be registers in a row, as they are in global memory; returns
  /// their length.
  static unsigned limitToRows(SharedAccess &access) {
    SmallVector<SmallVector<int32_t>> vectors = access.getVectors();
    bool inARow = llvm::all_of(vectors, [](ArrayRef<int32_t> registers) {
      for (auto [i, r] : llvm::enumerate(registers))
        if (r != registers.front() + static_cast<int32_t>(i))
          return false;
      return true;
    });
    if (!inARow)
      access.maxVector = 1;
    return inARow ? vectors.front().size() : 1;
  }

  /// The masks of the parts of a vector that a mask may leave out.
  SmallVector<Value> getMasks(ttg::AsyncCopyGlobalToLocalOp op,
                              ArrayRef<Value> masks,
                              ArrayRef<int32_t> registers) const {
    SmallVector<Value> result;
    unsigned uniform = axisInfo.getMaskAlignment(op.getMask());
    for (size_t i = 0; i < registers.size(); i += uniform)
      result.push_back(masks[registers[i]]);
    return result;
  }

  /// How many bytes a copy reads: those of the parts whose condition in `read`
  /// holds. They are the first ones. LLVM makes a chain of selections of a
  /// condition that is a conjunction; ptxas makes a predicate of one selection
  /// only, and the copy takes that.
  static Value getReadSize(const LLVMBuilder &b, ArrayRef<Value> read,
                           unsigned size) {
    Value sum;
    for (Value part : read) {
      nvt::PTXAsm ptx(b);
      auto result = ptx.output("r"), condition = ptx.input(part, "b");
      ptx << "selp.b32 " << result << ", " << std::to_string(size / read.size())
          << ", 0, " << condition << ";";
      Value bytes = ptx.emit({b.intTy(32)}, nvt::PTXAsm::Pure).front();
      sum = sum ? b.add(sum, bytes) : bytes;
    }
    return sum;
  }

  /// `readSize`: how many bytes to read, null for all; `pred`: whether to copy
  /// at all.
  void copy(const LLVMBuilder &b, Value dst, Value src, unsigned size,
            Value readSize, Value pred, CacheModifier cache,
            const nvt::CachePolicy &policy) const {
    bool bypassL1 = size == 16 && cache != CacheModifier::CA;
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
