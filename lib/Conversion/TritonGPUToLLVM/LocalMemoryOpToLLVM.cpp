//===-- LocalMemoryOpToLLVM.cpp - Buffers in shared memory ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Conversion/TritonGPUToLLVM/Patterns.h"

#include "mlir/IR/Matchers.h"
#include "tile/Analysis/Allocation.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"
#include "tile/Dialect/TritonGPU/IR/SharedPlaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;

namespace {
bool isZero(Value value) {
  APInt constant;
  return matchPattern(value, m_ConstantInt(&constant)) && constant.isZero();
}
} // namespace

/// What the start of a view adds to `out`, an input of the layout of its
/// memory. `possible` receives the bits that it may set.
static Value emitViewStart(const LLVMBuilder &b, const MemDesc &desc,
                           gpu::MemDescType type, StringRef out,
                           uint32_t &possible) {
  LinearLayout memory = toLinearLayout(type);
  LinearLayout inverse = memory.pseudoinvert();
  unsigned rank = memory.getNumOutDims();
  ArrayRef<int64_t> shape = type.getShape().take_back(rank);
  ArrayRef<Value> offsets = ArrayRef(desc.offsets).take_back(rank);
  Value start;
  possible = 0;
  for (unsigned d = 0; d < rank; ++d) {
    if (isZero(offsets[d]))
      continue;
    SmallVector<int32_t> bases;
    for (unsigned i = 0, e = inverse.getInDimSizeLog2(kDim(d)); i < e; ++i) {
      bases.push_back(inverse.getBasis(kDim(d), i, out));
      // A view starts at a multiple of its size.
      if ((int64_t(1) << i) >= shape[d])
        possible |= bases.back();
      else
        bases.back() = 0;
    }
    if (Value part = evaluateLinear(b, offsets[d], bases))
      start = start ? b.xor_(start, part) : part;
  }
  return start;
}

Value triton::emitViewOffset(const LLVMBuilder &b, const MemDesc &desc,
                             gpu::MemDescType type, unsigned &zeroBits) {
  uint32_t possible;
  Value offset = emitViewStart(b, desc, type, kOffset, possible);
  zeroBits = possible ? llvm::countr_zero(possible) : 31;
  return offset;
}

Value triton::emitViewBlock(const LLVMBuilder &b, const MemDesc &desc,
                            gpu::MemDescType type) {
  uint32_t possible;
  return emitViewStart(b, desc, type, kBlock, possible);
}

LinearLayout triton::getOffsetLayout(RankedTensorType registers,
                                     gpu::MemDescType memory) {
  LinearLayout toOffset = gpu::getPlaces(registers, memory);
  return toOffset.sublayout(toOffset.getInDimNames(), {kOffset});
}

LinearLayout triton::getRowMajorOffsets(RankedTensorType registers) {
  SmallVector<StringRef> dims = standardOutDimNames(registers.getRank());
  std::reverse(dims.begin(), dims.end());
  return toLinearLayout(registers).transposeOuts(dims).reshapeOuts(
      {{kOffset, static_cast<int32_t>(registers.getNumElements())}});
}

SharedAccess
triton::makeSharedAccess(const LLVMBuilder &b, const TargetInfo &target,
                         const MemDesc &desc, gpu::MemDescType memory,
                         RankedTensorType registers, Type element) {
  SharedAccess access{target, getOffsetLayout(registers, memory), desc.base,
                      element};
  access.offset = emitViewOffset(b, desc, memory, access.offsetZeroBits);
  if (!gpu::staysInBlock(registers, memory)) {
    access.toOffset = gpu::getPlaces(registers, memory);
    access.block = emitViewBlock(b, desc, memory);
  }
  if (auto padded =
          dyn_cast<gpu::PaddedSharedEncodingAttr>(memory.getEncoding()))
    for (auto [interval, padding] :
         llvm::zip(padded.getIntervals(), padded.getPaddings()))
      access.paddings.push_back({interval, padding});
  return access;
}

namespace {
constexpr const char *kMissesCopies =
    "several blocks of the cluster hold copies of elements in shared memory "
    "that "
    "only one of them has in registers";

struct LocalAllocPattern : TargetPattern<gpu::LocalAllocOp> {
  using TargetPattern::TargetPattern;
  LogicalResult
  matchAndRewrite(gpu::LocalAllocOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!op.isSharedMemoryAlloc())
      return this->decline(op, "not in shared memory");
    auto offset = op->getAttrOfType<IntegerAttr>(kAllocationOffsetAttrName);
    if (!offset)
      return this->decline(op, "no shared memory allocated");
    LLVMBuilder b(op.getLoc(), rewriter);
    auto type = cast<gpu::MemDescType>(op.getType());
    MemDesc desc{getSharedMemoryAt(b, target, op, offset.getInt()), {}};
    desc.offsets.assign(type.getShape().size(), b.i32(0));
    if (op.getSrc()) {
      auto source = cast<RankedTensorType>(op.getSrc().getType());
      if (gpu::missesCopies(source, type))
        return this->decline(op, kMissesCopies);
      SmallVector<Value> values = unpackElements(b, adaptor.getSrc(), source);
      makeSharedAccess(b, target, desc, type, source, values[0].getType())
          .store(b, getThreadIndex(b, target, op), values);
    }
    rewriter.replaceOp(op, desc.pack(b));
    return success();
  }
};

struct LocalDeallocPattern : TargetPattern<gpu::LocalDeallocOp> {
  using TargetPattern::TargetPattern;
  LogicalResult
  matchAndRewrite(gpu::LocalDeallocOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.eraseOp(op);
    return success();
  }
};

struct LocalLoadPattern : TargetPattern<gpu::LocalLoadOp> {
  using TargetPattern::TargetPattern;
  LogicalResult
  matchAndRewrite(gpu::LocalLoadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    auto memory = cast<gpu::MemDescType>(op.getSrc().getType());
    auto result = cast<RankedTensorType>(op.getType());
    if (!isa_and_nonnull<gpu::SharedMemorySpaceAttr>(memory.getMemorySpace()))
      return this->decline(op, "not in shared memory");
    MemDesc desc = MemDesc::unpack(b, adaptor.getSrc(), memory);
    Type element = getConverter().convertType(result.getElementType());
    SmallVector<Value> values =
        makeSharedAccess(b, target, desc, memory, result, element)
            .load(b, getThreadIndex(b, target, op));
    rewriter.replaceOp(op, packElements(b, getConverter(), values, result));
    return success();
  }
};

struct LocalStorePattern : TargetPattern<gpu::LocalStoreOp> {
  using TargetPattern::TargetPattern;
  LogicalResult
  matchAndRewrite(gpu::LocalStoreOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    auto memory = cast<gpu::MemDescType>(op.getDst().getType());
    auto source = cast<RankedTensorType>(op.getSrc().getType());
    if (gpu::missesCopies(source, memory))
      return this->decline(op, kMissesCopies);
    MemDesc desc = MemDesc::unpack(b, adaptor.getDst(), memory);
    SmallVector<Value> values = unpackElements(b, adaptor.getSrc(), source);
    makeSharedAccess(b, target, desc, memory, source, values[0].getType())
        .store(b, getThreadIndex(b, target, op), values);
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void triton::populateLocalMemoryPatterns(const LoweringContext &context) {
  context.add<LocalAllocPattern, LocalDeallocPattern, LocalLoadPattern,
              LocalStorePattern>();
}
