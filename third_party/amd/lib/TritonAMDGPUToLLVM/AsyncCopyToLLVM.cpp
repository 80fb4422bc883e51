//===-- AsyncCopyToLLVM.cpp - Loads straight into LDS ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The lanes of a wave write side by side, from an address on that is the same
// for all of them (in M0); on gfx1250 each says where it writes. Masked-off
// elements lie behind the end of the buffer and become zero, or get zeros from
// registers. Where the layouts allow no such instruction, or there are other
// values for masked-off elements, the copy happens at once, through registers.
//
//===----------------------------------------------------------------------===//

#include "BufferPattern.h"
#include "amd/TritonAMDGPUToLLVM/DirectLoads.h"

#include "tile/Conversion/TritonGPUToLLVM/Predicate.h"
#include "tile/Conversion/TritonGPUToLLVM/SharedAccess.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::triton;
namespace ttg = mlir::triton::gpu;

namespace {
Value makeToken(const LLVMBuilder &b) { return b.i32(0); }

/// Waits until at most `count` loads are under way, of those that the machine
/// counts.
void waitForLoads(const LLVMBuilder &b, const amd::AMDTarget &facts,
                  unsigned count) {
  constexpr unsigned kMost = 63;
  count = std::min(count, kMost);
  if (facts.hasAsyncLDSLoads) {
    b.intrinsic({}, "llvm.amdgcn.s.wait.asynccnt",
                ValueRange{b.intVal(16, count)});
    return;
  }
  // All ones but for vmcnt, whose upper two bits lie at the top.
  constexpr int32_t kOthers = 0x0f70;
  int32_t bits = kOthers | (count & 15) | (count >> 4) << 14;
  b.intrinsic({}, "llvm.amdgcn.s.waitcnt", ValueRange{b.i32(bits)});
}

/// Whether the elements of each vector are neighbours in the registers.
bool areInARow(const SharedAccess &access) {
  return llvm::all_of(access.getVectors(), [](ArrayRef<int32_t> registers) {
    for (auto [i, r] : llvm::enumerate(registers))
      if (r != registers.front() + static_cast<int32_t>(i))
        return false;
    return true;
  });
}

/// The same of vectors that are as long as they may be.
bool isInRows(const SharedAccess &access) {
  return access.getVectors().front().size() == access.maxVector &&
         areInARow(access);
}

/// Whether each wave writes all that its lanes have of a vector side by side,
/// and no other wave the same.
bool areLanesSideBySide(const SharedAccess &access) {
  const LinearLayout &layout = access.toOffset;
  int32_t vector = access.maxVector;
  if (layout.hasOutDim(kBlock) || !isInRows(access))
    return false;
  int32_t lanesLog2 = layout.getInDimSizeLog2(kLane);
  for (int32_t i = 0; i < lanesLog2; ++i)
    if (layout.getBasis(kLane, i, kOffset) != vector << i)
      return false;
  // Other bits must not change the order of the lanes.
  int32_t ofWave = vector << lanesLog2;
  for (StringRef dim : {kRegister, kWarp})
    for (int32_t i = 0, e = layout.getInDimSizeLog2(dim); i < e; ++i) {
      int32_t basis = layout.getBasis(dim, i, kOffset);
      bool isInVector = dim == kRegister && basis < vector;
      if (basis == 0 || (!isInVector && basis % ofWave != 0))
        return false;
    }
  if (access.offset &&
      access.offsetZeroBits < static_cast<unsigned>(llvm::Log2_32(ofWave)))
    return false;
  return llvm::all_of(access.paddings, [&](auto padding) {
    return static_cast<int32_t>(padding.first) >= ofWave;
  });
}

/// Neighbours that memory has together.
unsigned getMostTogether(amdgpu::BufferLoadToLocalOp op, Type element,
                         const ModuleAxisInfoAnalysis &axisInfo) {
  unsigned promised = op.getContiguity();
  if (op.getMask())
    promised = std::min(promised, axisInfo.getMaskAlignment(op.getMask()));
  return std::max(promised,
                  amd::getBufferVector(axisInfo, op, element, op.getMask(),
                                       amd::kMaxAccessBits));
}
unsigned getMostTogether(ttg::AsyncCopyGlobalToLocalOp op, Type element,
                         const ModuleAxisInfoAnalysis &axisInfo) {
  return getAccessVector(axisInfo, op.getSrc(), op.getMask(),
                         8 * getSharedElementBytes(element),
                         amd::kMaxAccessBits);
}

/// Values for what is masked off that are not zero.
bool hasOthers(Value others) { return others && !isConstantZero(others); }

bool mayBeDirect(amdgpu::BufferLoadToLocalOp op, const amd::AMDTarget &) {
  return !hasOthers(op.getOther());
}
bool mayBeDirect(ttg::AsyncCopyGlobalToLocalOp op,
                 const amd::AMDTarget &facts) {
  // Where lanes write side by side, nothing would make masked-off elements
  // zero.
  return !op.getIsVolatile() &&
         (facts.hasAsyncLDSLoads ? !hasOthers(op.getOther()) : !op.getMask());
}

/// The bytes that a lane may load at once.
ArrayRef<unsigned> getDirectSizes(const amd::AMDTarget &facts) {
  static constexpr unsigned ofLane[] = {16, 8, 4, 1}, ofWave[] = {16, 4};
  return facts.hasAsyncLDSLoads ? ArrayRef(ofLane) : ArrayRef(ofWave);
}

ttg::MemDescType getMemory(amdgpu::BufferLoadToLocalOp op) {
  return cast<ttg::MemDescType>(op.getDest().getType());
}
ttg::MemDescType getMemory(ttg::AsyncCopyGlobalToLocalOp op) {
  return cast<ttg::MemDescType>(op.getResult().getType());
}
RankedTensorType getRegisters(amdgpu::BufferLoadToLocalOp op) {
  return cast<RankedTensorType>(op.getOffsets().getType());
}
RankedTensorType getRegisters(ttg::AsyncCopyGlobalToLocalOp op) {
  return cast<RankedTensorType>(op.getSrc().getType());
}

/// Whether `access` is one of instructions that write to LDS; says how wide it
/// is either way.
template <typename OpT>
bool chooseVector(OpT op, SharedAccess &access,
                  const ModuleAxisInfoAnalysis &axisInfo,
                  const amd::AMDTarget &facts) {
  unsigned most =
      getMostTogether(op, getSharedElementType(access.element), axisInfo);
  // What was promised to waits, which count the instructions.
  if (auto decided =
          op->template getAttrOfType<IntegerAttr>(amd::kDirectVectorAttrName))
    most = decided.getInt();
  unsigned bytes = getSharedElementBytes(access.element);
  for (unsigned size : getDirectSizes(facts)) {
    if (!mayBeDirect(op, facts) ||
        size > static_cast<unsigned>(facts.directLoadBytes) || size % bytes ||
        size / bytes > most)
      continue;
    access.maxVector = size / bytes;
    if (facts.hasAsyncLDSLoads ? isInRows(access) : areLanesSideBySide(access))
      return true;
  }
  access.maxVector = most;
  if (!areInARow(access))
    access.maxVector = 1;
  return false;
}

template <typename OpT>
std::optional<amd::DirectLoads>
planDirectLoads(OpT op, const ModuleAxisInfoAnalysis &axisInfo,
                const amd::TargetInfo &target) {
  ttg::MemDescType memory = getMemory(op);
  unsigned rank = memory.getShape().size();
  // Lanes that each say where they write may all be masked off: then there is
  // no instruction.
  if (target.getFacts().hasAsyncLDSLoads)
    return std::nullopt;
  // Of part of a buffer, only the lowering knows where it starts.
  if (isa<ttg::PaddedSharedEncodingAttr>(memory.getEncoding()) ||
      memory.getAllocShape().take_back(rank) != memory.getShape())
    return std::nullopt;
  SharedAccess access{target, getOffsetLayout(getRegisters(op), memory),
                      /*base=*/Value(), memory.getElementType()};
  if (!chooseVector(op, access, axisInfo, target.getFacts()))
    return std::nullopt;
  return amd::DirectLoads{access.maxVector,
                          static_cast<unsigned>(access.getVectors().size())};
}

template <typename OpT> struct CopyPattern : amd::BufferPattern<OpT> {
  CopyPattern(const LoweringContext &context, const amd::TargetInfo &target)
      : amd::BufferPattern<OpT>(context, target), amdTarget(target) {}

protected:
  /// Where the wave is, so that addresses are the same in all lanes.
  ThreadIndex getWaveIndex(const LLVMBuilder &b, OpT op) const {
    ThreadIndex index = getThreadIndex(b, this->target, op);
    Value first =
        b.intrinsic(b.intTy(32), "llvm.amdgcn.readfirstlane", index.thread);
    index.thread = b.and_(first, b.i32(-facts.waveSize));
    return index;
  }

  /// Copies through registers.
  void copyAtOnce(const LLVMBuilder &b, OpT op, const SharedAccess &access,
                  ArrayRef<Value> ptrs, ArrayRef<Value> masks,
                  ArrayRef<Value> others, CacheModifier cache) const {
    const TargetInfo &target = this->target;
    ThreadIndex index = getThreadIndex(b, target, op);
    Value owner = access.emitOwner(b, index);
    TargetInfo::CacheHints hints{cache, EvictionPolicy::NORMAL,
                                 /*isVolatile=*/false};
    access.forEachVector(b, index, [&](Value dst, ArrayRef<int32_t> registers) {
      int32_t first = registers.front();
      Value mask = masks.empty() ? Value() : masks[first];
      SmallVector<Value> other;
      if (!others.empty())
        for (int32_t r : registers)
          other.push_back(toSharedElement(b, others[r]));
      SmallVector<Value> loaded = target.loadGlobal(
          b, ptrs[first], getSharedElementType(access.element),
          registers.size(), b.andPred(mask, owner), other, hints);
      target.storeShared(b, dst, loaded, owner);
    });
  }

  /// Those that are not zero.
  SmallVector<Value> getOthers(const LLVMBuilder &b, Value converted,
                               Value original) const {
    if (!hasOthers(original))
      return {};
    return unpackElements(b, converted, original.getType());
  }

  using amd::BufferPattern<OpT>::facts;
  const amd::TargetInfo &amdTarget;
};

struct BufferCopyPattern : CopyPattern<amdgpu::BufferLoadToLocalOp> {
  using CopyPattern::CopyPattern;
  LogicalResult
  matchAndRewrite(amdgpu::BufferLoadToLocalOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (failed(checkTarget(op)))
      return failure();
    LLVMBuilder b(op.getLoc(), rewriter);
    RankedTensorType type = getRegisters(op);
    ttg::MemDescType memory = getMemory(op);
    Type element = getConverter().convertType(memory.getElementType());
    Type memElement = getSharedElementType(element);
    SharedAccess access = makeSharedAccess(
        b, target, MemDesc::unpack(b, adaptor.getDest(), memory), memory, type,
        element);
    SmallVector<Value> offsets =
        unpack(b, adaptor.getOffsets(), op.getOffsets());
    SmallVector<Value> masks = unpack(b, adaptor.getMask(), op.getMask());
    SmallVector<Value> others = getOthers(b, adaptor.getOther(), op.getOther());
    if (!chooseVector(op, access, axisInfo, facts)) {
      SmallVector<Value> ptrs;
      for (Value offset : offsets)
        ptrs.push_back(b.gep(adaptor.getPtr(), memElement, offset));
      copyAtOnce(b, op, access, ptrs, masks, others, op.getCache());
      rewriter.replaceOp(op, makeToken(b));
      return success();
    }
    amdTarget.finishAccessesBefore(b, op);
    Buffer buffer = makeBuffer(b, rewriter, op, adaptor.getPtr(), memElement);
    unsigned size = access.maxVector * getSharedElementBytes(element);
    access.forEachVector(
        b, getWaveIndex(b, op), [&](Value dst, ArrayRef<int32_t> registers) {
          int32_t first = registers.front();
          Value offset = getByteOffset(b, offsets[first], memElement,
                                       masks.empty() ? Value() : masks[first]);
          b.intrinsic({}, "llvm.amdgcn.raw.ptr.buffer.load.lds",
                      ValueRange{buffer.descriptor, dst, b.i32(size), offset,
                                 buffer.scalarOffset, b.i32(0),
                                 getPolicy(b, op.getCache())});
        });
    rewriter.replaceOp(op, makeToken(b));
    return success();
  }
};

struct PointerCopyPattern : CopyPattern<ttg::AsyncCopyGlobalToLocalOp> {
  using CopyPattern::CopyPattern;
  LogicalResult
  matchAndRewrite(ttg::AsyncCopyGlobalToLocalOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    RankedTensorType type = getRegisters(op);
    ttg::MemDescType memory = getMemory(op);
    Type element = getConverter().convertType(memory.getElementType());
    SharedAccess access = makeSharedAccess(
        b, target, MemDesc::unpack(b, adaptor.getResult(), memory), memory,
        type, element);
    unsigned bytes = getSharedElementBytes(element);
    SmallVector<Value> ptrs = unpackElements(b, adaptor.getSrc(), type);
    SmallVector<Value> masks = unpack(b, adaptor.getMask(), op.getMask());
    SmallVector<Value> others = getOthers(b, adaptor.getOther(), op.getOther());
    if (!chooseVector(op, access, axisInfo, facts)) {
      copyAtOnce(b, op, access, ptrs, masks, others, op.getCache());
    } else if (facts.hasAsyncLDSLoads) {
      copyByLanes(b, op, access, ptrs, masks);
    } else {
      amdTarget.finishAccessesBefore(b, op);
      unsigned size = access.maxVector * bytes;
      access.forEachVector(
          b, getWaveIndex(b, op), [&](Value dst, ArrayRef<int32_t> registers) {
            b.intrinsic({}, "llvm.amdgcn.global.load.lds",
                        ValueRange{ptrs[registers.front()], dst, b.i32(size),
                                   b.i32(0), getPolicy(b, op.getCache())});
          });
    }
    rewriter.replaceOp(op, makeToken(b));
    return success();
  }

private:
  /// Each lane says where it writes; what is masked off gets zeros.
  void copyByLanes(const LLVMBuilder &b, ttg::AsyncCopyGlobalToLocalOp op,
                   const SharedAccess &access, ArrayRef<Value> ptrs,
                   ArrayRef<Value> masks) const {
    Type element = getSharedElementType(access.element);
    unsigned bits = 8 * access.maxVector * getSharedElementBytes(element);
    std::string name =
        ("llvm.amdgcn.global.load.async.to.lds.b" + Twine(bits)).str();
    ThreadIndex index = getThreadIndex(b, target, op);
    Value owner = access.emitOwner(b, index);
    amdTarget.finishAccessesBefore(b, op);
    access.forEachVector(b, index, [&](Value dst, ArrayRef<int32_t> registers) {
      int32_t first = registers.front();
      Value mask = masks.empty() ? Value() : masks[first];
      underPredicate(b, b.andPred(mask, owner), [&] {
        b.intrinsic({}, name,
                    ValueRange{ptrs[first], dst, /*offset=*/b.i32(0),
                               getPolicy(b, op.getCache())});
      });
      if (!mask)
        return;
      SmallVector<Value> zeros(registers.size(), b.zero(element));
      Value isOff = b.xor_(mask, b.i1(true));
      target.storeShared(b, dst, zeros, b.andPred(isOff, owner));
    });
  }
};

struct CommitPattern : TargetPattern<ttg::AsyncCommitGroupOp> {
  using TargetPattern::TargetPattern;
  LogicalResult
  matchAndRewrite(ttg::AsyncCommitGroupOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, makeToken(LLVMBuilder(op.getLoc(), rewriter)));
    return success();
  }
};

/// How many loads may be under way behind a wait: none, where it still counts
/// groups, which the machine does not.
unsigned getMostUnderWay(ttg::AsyncWaitOp) { return 0; }
unsigned getMostUnderWay(amdgpu::AsyncWaitOp op) { return op.getNumInst(); }

template <typename OpT> struct WaitPattern : TargetPattern<OpT> {
  WaitPattern(const LoweringContext &context, const amd::TargetInfo &target)
      : TargetPattern<OpT>(context.converter, context.target, context.benefit),
        facts(target.getFacts()) {}
  LogicalResult
  matchAndRewrite(OpT op, typename OpT::Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    if (facts.directLoadBytes)
      waitForLoads(b, facts, getMostUnderWay(op));
    rewriter.replaceOp(op, makeToken(b));
    return success();
  }
  const amd::AMDTarget &facts;
};
} // namespace

std::optional<amd::DirectLoads>
amd::planDirectLoads(Operation *copy, const ModuleAxisInfoAnalysis &axisInfo,
                     const TargetInfo &target) {
  return llvm::TypeSwitch<Operation *, std::optional<DirectLoads>>(copy)
      .Case<amdgpu::BufferLoadToLocalOp, ttg::AsyncCopyGlobalToLocalOp>(
          [&](auto op) { return ::planDirectLoads(op, axisInfo, target); })
      .Default([](Operation *) { return std::nullopt; });
}

void amd::populateAsyncCopyPatterns(const LoweringContext &context,
                                    const TargetInfo &target) {
  context.patterns
      .add<BufferCopyPattern, PointerCopyPattern, WaitPattern<ttg::AsyncWaitOp>,
           WaitPattern<amdgpu::AsyncWaitOp>>(context, target);
  context.add<CommitPattern>();
}
