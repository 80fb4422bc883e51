//===-- ViewOpToLLVM.cpp - Operations that only rename elements -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// splat, make_range, expand_dims, broadcast, reshape, trans, join, split, cat:
// no element moves to another thread. Which register goes where follows from
// the layouts: the result's layout, carried over to the coordinates of the
// source, is matched with the source's.
//
//===----------------------------------------------------------------------===//

#include "tile/Conversion/TritonGPUToLLVM/Patterns.h"

#include "tile/Analysis/ConvertLayoutPlan.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"

#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace mlir;
using namespace mlir::triton;

namespace {

LinearLayout reshapeRowMajor(const LinearLayout &layout,
                             ArrayRef<int64_t> shape) {
  LinearLayout::NamedSizes dims;
  for (int i = shape.size() - 1; i >= 0; --i)
    dims.push_back({kDim(i), static_cast<int32_t>(shape[i])});
  return layout
      .transposeOuts([&] {
        SmallVector<StringRef> names =
            standardOutDimNames(layout.getNumOutDims());
        std::reverse(names.begin(), names.end());
        return names;
      }())
      .reshapeOuts(dims)
      .transposeOuts(standardOutDimNames(shape.size()));
}

struct SplatPattern : TargetPattern<SplatOp> {
  using TargetPattern::TargetPattern;
  LogicalResult
  matchAndRewrite(SplatOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    unsigned count = gpu::getTotalElemsPerThread(op.getType());
    SmallVector<Value> elements(count, adaptor.getSrc());
    rewriter.replaceOp(op,
                       packElements(b, getConverter(), elements, op.getType()));
    return success();
  }
};

struct UnsplatPattern : TargetPattern<UnsplatOp> {
  using TargetPattern::TargetPattern;
  LogicalResult
  matchAndRewrite(UnsplatOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    // One element, held by every thread.
    rewriter.replaceOp(
        op, unpackElements(b, adaptor.getSrc(), op.getSrc().getType())[0]);
    return success();
  }
};

/// Tensors of poison; upstream's pattern knows only scalars.
struct PoisonPattern : TargetPattern<ub::PoisonOp> {
  using TargetPattern::TargetPattern;
  LogicalResult
  matchAndRewrite(ub::PoisonOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Type type = getConverter().convertType(op.getType());
    if (!type || !isa<ub::PoisonAttr>(op.getValue()))
      return rewriter.notifyMatchFailure(op, "not plain poison");
    rewriter.replaceOpWithNewOp<LLVM::PoisonOp>(op, type);
    return success();
  }
};

struct MakeRangePattern : TargetPattern<MakeRangeOp> {
  using TargetPattern::TargetPattern;
  LogicalResult
  matchAndRewrite(MakeRangeOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    LinearLayout layout = toLinearLayout(cast<RankedTensorType>(op.getType()));
    SmallVector<Value> elements;
    for (SmallVector<Value> &index : emitIndices(b, target, op, layout))
      elements.push_back(op.getStart() ? b.add(index[0], b.i32(op.getStart()))
                                       : index[0]);
    rewriter.replaceOp(op,
                       packElements(b, getConverter(), elements, op.getType()));
    return success();
  }
};

/// Operations with one source whose result's coordinates determine those of the
/// source: `toSource` rewrites the result's layout accordingly.
template <typename OpT> struct RenamePattern : TargetPattern<OpT> {
  using TargetPattern<OpT>::TargetPattern;
  using OpAdaptor = typename OpT::Adaptor;

  static LinearLayout toSource(OpT op, LinearLayout result,
                               RankedTensorType sourceType);

  LogicalResult
  matchAndRewrite(OpT op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    auto sourceType = cast<RankedTensorType>(op.getSrc().getType());
    auto resultType = cast<RankedTensorType>(op.getType());
    LinearLayout source = toLinearLayout(sourceType);
    LinearLayout result = toSource(op, toLinearLayout(resultType), sourceType);
    std::optional<SmallVector<int32_t>> sources =
        getRegisterSources(source, result);
    if (!sources)
      return this->decline(op,
                           "the layouts would move elements between threads");
    SmallVector<Value> values = unpackElements(b, adaptor.getSrc(), sourceType);
    SmallVector<Value> elements;
    for (int32_t r : *sources)
      elements.push_back(values[r]);
    rewriter.replaceOp(
        op, packElements(b, this->getConverter(), elements, resultType));
    return success();
  }
};

template <>
LinearLayout
RenamePattern<ExpandDimsOp>::toSource(ExpandDimsOp op, LinearLayout result,
                                      RankedTensorType sourceType) {
  return reshapeRowMajor(result, sourceType.getShape());
}
template <>
LinearLayout RenamePattern<ReshapeOp>::toSource(ReshapeOp op,
                                                LinearLayout result,
                                                RankedTensorType sourceType) {
  return reshapeRowMajor(result, sourceType.getShape());
}
template <>
LinearLayout RenamePattern<TransOp>::toSource(TransOp op, LinearLayout result,
                                              RankedTensorType sourceType) {
  // Dimension i of the result is dimension order[i] of the source.
  unsigned rank = sourceType.getRank();
  LinearLayout renamed = result;
  for (unsigned i = 0; i < rank; ++i)
    renamed =
        renamed.renameOutDim(kDim(i), internDimName(("t" + Twine(i)).str()));
  for (unsigned i = 0; i < rank; ++i)
    renamed = renamed.renameOutDim(internDimName(("t" + Twine(i)).str()),
                                   kDim(op.getOrder()[i]));
  return renamed.transposeOuts(standardOutDimNames(rank));
}
template <>
LinearLayout RenamePattern<BroadcastOp>::toSource(BroadcastOp op,
                                                  LinearLayout result,
                                                  RankedTensorType sourceType) {
  for (auto [i, size] : llvm::enumerate(sourceType.getShape()))
    result = result.resizeOutDim(kDim(i), size);
  return result;
}

/// A reshape that may reorder elements keeps every register where it is.
struct ReorderingReshapePattern : TargetPattern<ReshapeOp> {
  using TargetPattern::TargetPattern;
  LogicalResult
  matchAndRewrite(ReshapeOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> values =
        unpackElements(b, adaptor.getSrc(), op.getSrc().getType());
    if (!op.getAllowReorder() ||
        values.size() != gpu::getTotalElemsPerThread(op.getType()))
      return this->decline(op, "elements have to keep their order");
    rewriter.replaceOp(op,
                       packElements(b, getConverter(), values, op.getType()));
    return success();
  }
};

/// The last dimension, of size two, as a register bit: for each register of the
/// joined layout, its half and the register inside that half.
std::optional<SmallVector<std::pair<int, int32_t>>>
splitRegisters(RankedTensorType joinedType, RankedTensorType halfType) {
  LinearLayout joined = toLinearLayout(joinedType);
  LinearLayout half = toLinearLayout(halfType);
  StringRef last = kDim(joinedType.getRank() - 1);
  for (StringRef dim : {StringRef(kLane), StringRef(kWarp), StringRef(kBlock)})
    if (joined.hasInDim(dim) && !joined.sublayoutIsZero({dim}, {last}))
      return std::nullopt;
  std::optional<SmallVector<int32_t>> sources =
      getRegisterSources(half, joined.removeOutDim(last));
  if (!sources)
    return std::nullopt;
  LinearLayout which = joined.sublayout({kRegister}, {last});
  SmallVector<std::pair<int, int32_t>> result;
  for (auto [r, source] : llvm::enumerate(*sources))
    result.push_back(
        {which.apply({{kRegister, static_cast<int32_t>(r)}})[0].second,
         source});
  return result;
}

struct JoinPattern : TargetPattern<JoinOp> {
  using TargetPattern::TargetPattern;
  LogicalResult
  matchAndRewrite(JoinOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    auto halfType = cast<RankedTensorType>(op.getLhs().getType());
    auto map = splitRegisters(cast<RankedTensorType>(op.getType()), halfType);
    if (!map)
      return this->decline(op,
                           "the layouts would move elements between threads");
    SmallVector<Value> halves[] = {
        unpackElements(b, adaptor.getLhs(), halfType),
        unpackElements(b, adaptor.getRhs(), halfType)};
    SmallVector<Value> elements;
    for (auto [half, r] : *map)
      elements.push_back(halves[half][r]);
    rewriter.replaceOp(op,
                       packElements(b, getConverter(), elements, op.getType()));
    return success();
  }
};

struct SplitPattern : TargetPattern<SplitOp> {
  using TargetPattern::TargetPattern;
  LogicalResult
  matchAndRewrite(SplitOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    auto joinedType = cast<RankedTensorType>(op.getSrc().getType());
    auto halfType = cast<RankedTensorType>(op.getOutLHS().getType());
    auto map = splitRegisters(joinedType, halfType);
    if (!map)
      return this->decline(op,
                           "the layouts would move elements between threads");
    SmallVector<Value> values = unpackElements(b, adaptor.getSrc(), joinedType);
    SmallVector<Value> halves[2];
    halves[0].resize(gpu::getTotalElemsPerThread(halfType));
    halves[1].resize(halves[0].size());
    for (auto [value, place] : llvm::zip(values, *map))
      if (!halves[place.first][place.second])
        halves[place.first][place.second] = value;
    // Registers of a half that nothing was matched with repeat earlier ones.
    LinearLayout half = toLinearLayout(halfType).sublayout(
        {kRegister}, toLinearLayout(halfType).getOutDimNames());
    for (SmallVector<Value> &elements : halves) {
      llvm::DenseMap<uint64_t, Value> at;
      for (auto [r, value] : llvm::enumerate(elements))
        if (value)
          at[half.applyFlat(r)] = value;
      for (auto [r, value] : llvm::enumerate(elements))
        if (!value)
          value = at.lookup(half.applyFlat(r));
      if (llvm::is_contained(elements, Value()))
        return this->decline(op, "a register has no source");
    }
    rewriter.replaceOp(op,
                       {packElements(b, getConverter(), halves[0], halfType),
                        packElements(b, getConverter(), halves[1], halfType)});
    return success();
  }
};

/// Elements may come in any order: each thread keeps its own.
struct CatPattern : TargetPattern<CatOp> {
  using TargetPattern::TargetPattern;
  LogicalResult
  matchAndRewrite(CatOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> elements =
        unpackElements(b, adaptor.getLhs(), op.getLhs().getType());
    llvm::append_range(
        elements, unpackElements(b, adaptor.getRhs(), op.getRhs().getType()));
    if (elements.size() != gpu::getTotalElemsPerThread(op.getType()))
      return this->decline(
          op, "a thread holds more or fewer elements of the result than of the "
              "operands together");
    rewriter.replaceOp(op,
                       packElements(b, getConverter(), elements, op.getType()));
    return success();
  }
};
} // namespace

void triton::populateViewPatterns(const LoweringContext &context) {
  context.add<SplatPattern, UnsplatPattern, PoisonPattern, MakeRangePattern,
              RenamePattern<ExpandDimsOp>, RenamePattern<TransOp>,
              RenamePattern<BroadcastOp>, RenamePattern<ReshapeOp>, JoinPattern,
              SplitPattern, CatPattern>();
  context.patterns.add<ReorderingReshapePattern>(
      context.converter, context.target, context.benefit.getBenefit() + 1);
}
