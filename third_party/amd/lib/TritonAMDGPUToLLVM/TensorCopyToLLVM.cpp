//===-- TensorCopyToLLVM.cpp - Tiles of tensors to and from LDS -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each wave has a part of the block copied: the waves share it along its
// outermost dimensions, so that a part is one piece of LDS. Rows with numbers
// are copied some at a time, by one wave after the other.
//
//===----------------------------------------------------------------------===//

#include "TileDescriptor.h"

#include "amd/IR/Dialect.h"
#include "amd/TritonAMDGPUToLLVM/Patterns.h"

#include "tile/Conversion/TritonGPUToLLVM/Predicate.h"
#include "tile/Conversion/TritonGPUToLLVM/SharedAccess.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::triton;
namespace ttg = mlir::triton::gpu;

namespace {
/// The values that a descriptor stands for.
struct Tensor {
  Value base;                       ///< i64
  SmallVector<Value> shape, stride; ///< i64, innermost first
};

/// Which block of a tensor a copy is about.
struct BlockPlace {
  Value desc;
  SmallVector<Value> indices; ///< i32
  Value pred;                 ///< null: always
};

/// A buffer as the machine sees it.
struct Buffer : amd::TensorBuffer {
  Value base; ///< i32
  SmallVector<int64_t> shape;
  unsigned elementBytes;

  /// The address of the element that so many come before.
  Value getAddress(const LLVMBuilder &b, Value numBefore) const {
    Value bytes = b.mul(numBefore, b.i32(elementBytes));
    if (gap)
      bytes =
          b.add(bytes, b.mul(b.lshr(numBefore, b.i32(llvm::Log2_32(interval))),
                             b.i32(gap * elementBytes)));
    return b.add(base, bytes);
  }
};

template <typename OpT> struct TensorPattern : TargetPattern<OpT> {
  TensorPattern(const LoweringContext &context, const amd::TargetInfo &target)
      : TargetPattern<OpT>(context.converter, context.target, context.benefit),
        amdTarget(target), facts(target.getFacts()) {}

protected:
  /// What `op` and the updates of its descriptor say together.
  FailureOr<BlockPlace> getPlace(const LLVMBuilder &b,
                                 ConversionPatternRewriter &rewriter, OpT op,
                                 ValueRange indices, Value pred) const {
    BlockPlace place{op.getDesc(), llvm::to_vector(indices), pred};
    while (
        auto update =
            place.desc
                .template getDefiningOp<amdgpu::UpdateTensorDescriptorOp>()) {
      if (!update.getAddOffsets().empty() && !update.getClampBounds())
        return this->decline(
            op, "its descriptor moves together with the end of the tensor");
      for (auto [i, offset] : llvm::enumerate(update.getAddOffsets())) {
        Value moved = rewriter.getRemappedValue(offset);
        if (i < place.indices.size())
          place.indices[i] = b.add(place.indices[i], moved);
        else
          place.indices.push_back(moved);
      }
      if (update.getPred() && !place.pred)
        place.pred =
            b.icmp(LLVM::ICmpPredicate::ne,
                   rewriter.getRemappedValue(update.getPred()), b.i32(0));
      place.desc = update.getDesc();
    }
    place.indices.resize(op.getDesc().getType().getBlockType().getRank(),
                         b.i32(0));
    return place;
  }

  FailureOr<Tensor> getTensor(const LLVMBuilder &b,
                              ConversionPatternRewriter &rewriter, OpT op,
                              Value desc) const {
    auto make = desc.getDefiningOp<MakeTensorDescOp>();
    if (!make)
      return this->decline(op, "the descriptor is not made by "
                               "tt.make_tensor_descriptor in this function");
    Type i64 = b.intTy(64);
    Tensor tensor;
    tensor.base = b.create<LLVM::PtrToIntOp>(
        i64, rewriter.getRemappedValue(make.getBase()));
    for (Value size : llvm::reverse(make.getShape()))
      tensor.shape.push_back(b.sext(i64, rewriter.getRemappedValue(size)));
    for (Value stride : llvm::reverse(make.getStrides()))
      tensor.stride.push_back(rewriter.getRemappedValue(stride));
    return tensor;
  }

  FailureOr<Buffer> getBuffer(const LLVMBuilder &b, OpT op,
                              ttg::MemDescType type, Value converted) const {
    std::optional<amd::TensorBuffer> plain = amd::getTensorBuffer(type);
    if (!plain)
      return this->decline(op, "the buffer does not hold the rows of a block "
                               "one after the other");
    MemDesc memory = MemDesc::unpack(b, converted, type);
    unsigned zeroBits;
    if (emitViewOffset(b, memory, type, zeroBits))
      return this->decline(op, "the buffer is a part of another one");
    Buffer buffer{*plain};
    buffer.base = b.create<LLVM::PtrToIntOp>(b.intTy(32), memory.base);
    llvm::append_range(buffer.shape, type.getShape());
    buffer.elementBytes = type.getElementTypeBitWidth() / 8;
    return buffer;
  }

  /// The number of the wave, as a scalar.
  Value getWave(const LLVMBuilder &b, OpT op) const {
    Value thread = getThreadIndex(b, this->target, op).thread;
    Value first = b.intrinsic(b.intTy(32), "llvm.amdgcn.readfirstlane", thread);
    return b.lshr(first, b.i32(llvm::Log2_32(facts.waveSize)));
  }

  /// Starts the copy of what lies at `indices` of the tensor.
  LogicalResult copyBlock(const LLVMBuilder &b,
                          ConversionPatternRewriter &rewriter, OpT op,
                          ValueRange indices, ttg::MemDescType type,
                          Value memory, Value pred, bool isStored) const {
    FailureOr<BlockPlace> place = getPlace(b, rewriter, op, indices, pred);
    if (failed(place))
      return failure();
    FailureOr<Tensor> tensor = getTensor(b, rewriter, op, place->desc);
    FailureOr<Buffer> buffer = getBuffer(b, op, type, memory);
    if (failed(tensor) || failed(buffer))
      return failure();
    pred = place->pred;
    Type i64 = b.intTy(64);
    SmallVector<int64_t> tile(llvm::reverse(buffer->shape));
    unsigned rank = tile.size(), bytes = buffer->elementBytes;
    // The machine stores without gaps. Those behind rows are columns, to it,
    // that the tensor does not have.
    bool skipsColumns = isStored && buffer->gap;
    if (skipsColumns && buffer->interval != tile[0])
      return this->decline(op, "gaps in the buffer are not behind whole rows");

    // Gaps count from the first element of a part, which is no shorter than 16
    // bytes.
    constexpr unsigned kLeastBytes = 16;
    int64_t least =
                std::max<int64_t>({kLeastBytes / bytes, buffer->interval, 1}),
            all = llvm::product_of(tile);
    unsigned numWaves = ttg::lookupNumWarps(op), left = numWaves;
    while (left > 1 && all / left < least)
      left /= 2;
    Value wave = getWave(b, op);
    if (left < numWaves) {
      Value isFirst = b.slt(wave, b.i32(left));
      pred = pred ? b.and_(pred, isFirst) : isFirst;
      wave = b.and_(wave, b.i32(left - 1));
    }

    amd::TileDescriptor descriptor(b);
    descriptor.setPredicate(pred);
    descriptor.setSharedAddress(
        buffer->getAddress(b, b.mul(wave, b.i32(all / left))));
    descriptor.setElementBytes(bytes);
    if (!isStored)
      descriptor.setGaps(*buffer, bytes);
    Value address = tensor->base;
    for (int dim = rank - 1; dim >= 0; --dim) {
      // Waves that share this dimension are neighbours.
      unsigned share = std::min<int64_t>(left, tile[dim]);
      left /= share;
      tile[dim] /= share;
      Value part =
          b.and_(b.lshr(wave, b.i32(llvm::Log2_32(left))), b.i32(share - 1));
      Value index = b.sext(i64, place->indices[rank - 1 - dim]);
      Value at = b.add(index, b.zext(i64, b.mul(part, b.i32(tile[dim]))));
      // Nothing of a block that starts before the tensor is in it.
      Value inside =
          b.create<LLVM::SMaxOp>(b.sub(tensor->shape[dim], at), b.i64(0));
      int64_t skipped = dim == 0 && skipsColumns ? buffer->gap : 0;
      if (skipped)
        inside = b.create<LLVM::SMinOp>(inside, b.i64(tile[dim]));
      descriptor.setTensorSize(
          dim, b.select(b.slt(index, b.i64(0)), b.i64(0), inside));
      descriptor.setTileSize(dim, tile[dim] + skipped);
      if (dim)
        descriptor.setStride(dim, tensor->stride[dim]);
      address =
          b.add(address, b.mul(b.mul(at, tensor->stride[dim]), b.i64(bytes)));
    }
    descriptor.setGlobalAddress(address);
    amdTarget.finishAccessesBefore(b, op);
    descriptor.emitCopy(isStored ? "store.from.lds" : "load.to.lds", rank);
    return success();
  }

  /// Starts copies of rows with the given numbers.
  LogicalResult copyRows(const LLVMBuilder &b,
                         ConversionPatternRewriter &rewriter, OpT op,
                         Value convertedRows, ttg::MemDescType type,
                         Value memory, bool isStored) const {
    RankedTensorType rowsType = op.getRows().getType();
    FailureOr<SmallVector<Value>> rows =
        getScalars(b, op, convertedRows, rowsType);
    FailureOr<Tensor> tensor = getTensor(b, rewriter, op, op.getDesc());
    FailureOr<Buffer> buffer = getBuffer(b, op, type, memory);
    if (failed(rows) || failed(tensor) || failed(buffer))
      return failure();
    if (buffer->gap && isStored)
      return this->decline(op, "there are gaps in the buffer");
    unsigned bits = rowsType.getElementTypeBitWidth();
    unsigned atOnce = amd::TileDescriptor::kRowBits / bits;
    int64_t width = buffer->shape[1];
    if (buffer->gap && width * atOnce % buffer->interval)
      return this->decline(op, "gaps are further apart than rows that are "
                               "copied at once");
    Value wave = getWave(b, op);
    unsigned numWaves = ttg::lookupNumWarps(op);
    amdTarget.finishAccessesBefore(b, op);
    for (unsigned first = 0, turn = 0; first < rows->size();
         first += atOnce, ++turn) {
      ArrayRef<Value> some = ArrayRef(*rows).slice(first).take_front(atOnce);
      amd::TileDescriptor descriptor(b);
      descriptor.setPredicate(b.eq(wave, b.i32(turn % numWaves)));
      descriptor.setSharedAddress(buffer->getAddress(b, b.i32(first * width)));
      descriptor.setGlobalAddress(tensor->base);
      descriptor.setElementBytes(buffer->elementBytes);
      descriptor.setGaps(*buffer, buffer->elementBytes);
      for (unsigned dim : {0, 1})
        descriptor.setTensorSize(
            dim, b.create<LLVM::SMaxOp>(tensor->shape[dim], b.i64(0)));
      descriptor.setTileSize(0, width);
      descriptor.setTileSize(1, some.size());
      descriptor.setStride(1, tensor->stride[1]);
      descriptor.gatherRows(some, bits);
      descriptor.emitCopy(isStored ? "store.from.lds" : "load.to.lds",
                          /*rank=*/2);
    }
    return success();
  }

  const amd::TargetInfo &amdTarget;
  const amd::AMDTarget &facts;

private:
  /// The elements of a tensor that each wave holds.
  FailureOr<SmallVector<Value>> getScalars(const LLVMBuilder &b, OpT op,
                                           Value converted,
                                           RankedTensorType type) const {
    LinearLayout layout = toLinearLayout(type);
    for (int32_t i = 0, e = layout.getInDimSizeLog2(kWarp); i < e; ++i)
      if (layout.getBasis(kWarp, i, kDim(0)) != 0)
        return this->decline(op, "a wave does not have all numbers of rows");
    SmallVector<Value> registers = unpackElements(b, converted, type);
    LinearLayout places = layout.pseudoinvert();
    SmallVector<Value> scalars;
    for (int32_t i = 0, e = type.getDimSize(0); i < e; ++i) {
      int32_t inRegister = 0, inLane = 0;
      for (const auto &[name, at] : places.apply({{kDim(0), i}}))
        if (name == kRegister)
          inRegister = at;
        else if (name == kLane)
          inLane = at;
      Value word = b.zext(b.intTy(32), registers[inRegister]);
      scalars.push_back(b.intrinsic(b.intTy(32), "llvm.amdgcn.readlane",
                                    ValueRange{word, b.i32(inLane)}));
    }
    return scalars;
  }
};

struct LoadPattern : TensorPattern<amdgpu::AsyncTDMCopyGlobalToLocalOp> {
  using TensorPattern::TensorPattern;
  LogicalResult
  matchAndRewrite(amdgpu::AsyncTDMCopyGlobalToLocalOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    if (op.getBarrier())
      return decline(op, "barriers in LDS have no lowering yet");
    bool always = op.getPred() && matchPattern(op.getPred(), m_One());
    if (failed(copyBlock(b, rewriter, op, adaptor.getIndices(),
                         op.getResult().getType(), adaptor.getResult(),
                         always ? Value() : adaptor.getPred(),
                         /*isStored=*/false)))
      return failure();
    rewriter.replaceOp(op, b.i32(0));
    return success();
  }
};

struct StorePattern : TensorPattern<amdgpu::AsyncTDMCopyLocalToGlobalOp> {
  using TensorPattern::TensorPattern;
  LogicalResult
  matchAndRewrite(amdgpu::AsyncTDMCopyLocalToGlobalOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    if (failed(copyBlock(b, rewriter, op, adaptor.getIndices(),
                         op.getSrc().getType(), adaptor.getSrc(),
                         /*pred=*/Value(), /*isStored=*/true)))
      return failure();
    rewriter.replaceOp(op, b.i32(0));
    return success();
  }
};

struct GatherPattern : TensorPattern<amdgpu::AsyncTDMGatherOp> {
  using TensorPattern::TensorPattern;
  LogicalResult
  matchAndRewrite(amdgpu::AsyncTDMGatherOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    if (failed(copyRows(b, rewriter, op, adaptor.getRows(),
                        op.getDst().getType(), adaptor.getDst(),
                        /*isStored=*/false)))
      return failure();
    rewriter.replaceOp(op, b.i32(0));
    return success();
  }
};

struct ScatterPattern : TensorPattern<amdgpu::AsyncTDMScatterOp> {
  using TensorPattern::TensorPattern;
  LogicalResult
  matchAndRewrite(amdgpu::AsyncTDMScatterOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    if (failed(copyRows(b, rewriter, op, adaptor.getRows(),
                        op.getSrc().getType(), adaptor.getSrc(),
                        /*isStored=*/true)))
      return failure();
    rewriter.replaceOp(op, b.i32(0));
    return success();
  }
};

/// Each thread asks for pieces of rows. What is not in the tensor is left out,
/// so that there is nothing to speculate on.
struct PrefetchPattern : TensorPattern<amdgpu::TDMPrefetchOp> {
  using TensorPattern::TensorPattern;
  LogicalResult
  matchAndRewrite(amdgpu::TDMPrefetchOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    FailureOr<Tensor> tensor = getTensor(b, rewriter, op, op.getDesc());
    if (failed(tensor))
      return failure();
    RankedTensorType block = op.getDesc().getType().getBlockType();
    int64_t bytes = std::max(1u, block.getElementTypeBitWidth() / 8);
    SmallVector<int64_t> pieces(llvm::reverse(block.getShape()));
    constexpr int64_t kPieceBytes = 128;
    int64_t step = std::clamp<int64_t>(kPieceBytes / bytes, 1, pieces[0]);
    pieces[0] /= step;
    int64_t all = llvm::product_of(pieces);
    Value thread = getThreadIndex(b, target, op).thread;
    int64_t threads = ttg::lookupNumWarps(op) * facts.waveSize;
    for (int64_t first = 0; first < all; first += threads) {
      Value rest = b.add(thread, b.i32(first)), address = tensor->base;
      Value pred = adaptor.getPred();
      if (first + threads > all)
        pred = b.and_(pred, b.slt(rest, b.i32(all)));
      for (auto [dim, size] : llvm::enumerate(pieces)) {
        Value index = b.and_(rest, b.i32(size - 1));
        rest = b.lshr(rest, b.i32(llvm::Log2_64(size)));
        if (dim == 0)
          index = b.mul(index, b.i32(step));
        Type i64 = b.intTy(64);
        Value start =
            b.sext(i64, adaptor.getIndices()[pieces.size() - 1 - dim]);
        Value at = b.add(start, b.zext(i64, index));
        // Without a sign, what is before the tensor is behind it, too.
        pred = b.and_(pred,
                      b.icmp(LLVM::ICmpPredicate::ult, at, tensor->shape[dim]));
        address =
            b.add(address, b.mul(b.mul(at, tensor->stride[dim]), b.i64(bytes)));
      }
      underPredicate(b, pred, [&] {
        constexpr int kScopeOfShaderEngine = 1 << 3;
        Value at = b.create<LLVM::IntToPtrOp>(b.ptrTy(1), address);
        b.intrinsic({}, "llvm.amdgcn.global.prefetch",
                    ValueRange{at, b.i32(kScopeOfShaderEngine)});
      });
    }
    rewriter.eraseOp(op);
    return success();
  }
};

unsigned getMostUnderWay(amdgpu::AsyncTDMWaitOp op) { return op.getNum(); }
unsigned getMostUnderWay(amdgpu::AsyncTDMIntrinsicWaitOp op) {
  return op.getCount();
}

/// Each copy is at least one instruction of each wave.
template <typename OpT> struct WaitPattern : TargetPattern<OpT> {
  using TargetPattern<OpT>::TargetPattern;
  LogicalResult
  matchAndRewrite(OpT op, typename OpT::Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    constexpr unsigned kMost = 63;
    b.intrinsic({}, "llvm.amdgcn.s.wait.tensorcnt",
                ValueRange{b.intVal(16, std::min(getMostUnderWay(op), kMost))});
    rewriter.replaceOp(op, b.i32(0));
    return success();
  }
};

/// What a descriptor stands for is in the operands of who makes it, and moves
/// it.
template <typename OpT> struct DescriptorPattern : TargetPattern<OpT> {
  using TargetPattern<OpT>::TargetPattern;
  LogicalResult
  matchAndRewrite(OpT op, typename OpT::Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    Type type = this->getTypeConverter()->convertType(op.getType());
    rewriter.replaceOp(op, b.poison(type));
    return success();
  }
};
} // namespace

void amd::populateTensorCopyPatterns(const LoweringContext &context,
                                     const TargetInfo &target) {
  context.patterns.add<LoadPattern, StorePattern, GatherPattern, ScatterPattern,
                       PrefetchPattern>(context, target);
  context.add<WaitPattern<amdgpu::AsyncTDMWaitOp>,
              WaitPattern<amdgpu::AsyncTDMIntrinsicWaitOp>,
              DescriptorPattern<MakeTensorDescOp>,
              DescriptorPattern<amdgpu::UpdateTensorDescriptorOp>>();
}
