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

#include "mlir/Dialect/Arith/IR/Arith.h"
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
    SmallVector<Conjunct> conjuncts;
    if (op.getMask())
      addConjuncts(b, rewriter, op.getMask(), adaptor.getMask(), size / bytes,
                   conjuncts);
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
      copy(b, dst, ptrs[first], size,
           emitReadSize(b, conjuncts, registers, size), owner, op.getCache(),
           policy);
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

  /// One of the masks whose conjunction is the mask of a copy.
  struct Conjunct {
    SmallVector<Value> elements;
    /// How many neighbours share one value.
    unsigned uniform;
  };

  /// Rows and columns come apart so: what all rows have in common is computed
  /// once. A mask that `length` neighbours share stays whole.
  void addConjuncts(const LLVMBuilder &b, ConversionPatternRewriter &rewriter,
                    Value mask, Value converted, unsigned length,
                    SmallVectorImpl<Conjunct> &conjuncts) const {
    auto both = mask.getDefiningOp<arith::AndIOp>();
    if (both && axisInfo.getMaskAlignment(mask) < length) {
      for (Value part : both->getOperands())
        addConjuncts(b, rewriter, part, rewriter.getRemappedValue(part), length,
                     conjuncts);
      return;
    }
    conjuncts.push_back({unpackElements(b, converted, mask.getType()),
                         axisInfo.getMaskAlignment(mask)});
  }

  /// How many bytes a copy reads, null for all. Where neighbours have different
  /// masks, those that it reads are the first ones.
  static Value emitReadSize(const LLVMBuilder &b, ArrayRef<Conjunct> conjuncts,
                            ArrayRef<int32_t> registers, unsigned size) {
    if (conjuncts.empty())
      return {};
    unsigned numRegisters = registers.size(), uniform = numRegisters;
    for (const Conjunct &conjunct : conjuncts)
      uniform = std::min(uniform, conjunct.uniform);
    // Whether something is read, and which parts may be.
    Value any;
    SmallVector<Value> parts(numRegisters / uniform);
    for (const Conjunct &conjunct : conjuncts) {
      if (conjunct.uniform >= numRegisters) {
        any = b.andPred(any, conjunct.elements[registers.front()]);
        continue;
      }
      for (auto [i, part] : llvm::enumerate(parts))
        part = b.andPred(part, conjunct.elements[registers[i * uniform]]);
    }
    Value bytes;
    if (uniform < numRegisters)
      for (Value part : parts) {
        Value ofPart = emitSelection(b, part, {}, size / parts.size());
        bytes = bytes ? b.add(bytes, ofPart) : ofPart;
      }
    return any ? emitSelection(b, any, bytes, size) : bytes;
  }

  /// `value`, or `constant` if that is null, where a condition holds, and zero
  /// elsewhere. LLVM makes a chain of selections of a condition that is a
  /// conjunction; ptxas makes a predicate of one selection only, and the copy
  /// takes that.
  static Value emitSelection(const LLVMBuilder &b, Value condition, Value value,
                             unsigned constant) {
    nvt::PTXAsm ptx(b);
    auto result = ptx.output("r");
    ptx << "selp.b32 " << result << ", ";
    if (value)
      ptx << ptx.input(value, "r");
    else
      ptx << std::to_string(constant);
    ptx << ", 0, " << ptx.input(condition, "b") << ";";
    return ptx.emit({b.intTy(32)}, nvt::PTXAsm::Pure).front();
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
