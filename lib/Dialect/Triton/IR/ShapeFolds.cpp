//===-- ShapeFolds.cpp - Folds and patterns of the shape operations -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mlir/IR/PatternMatch.h"
#include "tile/Dialect/Triton/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton;

/// The same elements, in row-major order, as a constant of another shape.
static OpFoldResult reshapeConstant(Attribute src, RankedTensorType type) {
  auto elements = dyn_cast_if_present<DenseElementsAttr>(src);
  if (!elements)
    return {};
  if (elements.isSplat())
    return elements.resizeSplat(type);
  if (elements.getNumElements() != type.getNumElements())
    return {};
  return elements.reshape(type);
}

static OpFoldResult resizeSplat(Attribute src, RankedTensorType type) {
  if (auto splat = dyn_cast_if_present<SplatElementsAttr>(src))
    return splat.resizeSplat(type);
  return {};
}

namespace {

/// op(splat x) -> splat x, for an operation that only moves elements.
template <typename OpT> struct MoveOfSplat : public OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    auto splat = op.getSrc().template getDefiningOp<SplatOp>();
    if (!splat)
      return rewriter.notifyMatchFailure(op, "operand is not a splat");
    rewriter.replaceOpWithNewOp<SplatOp>(op, op.getType(), splat.getSrc());
    return success();
  }
};

/// expand_dims(broadcast x) -> broadcast(expand_dims x): the smaller tensor is
/// the one to reshape.
struct ExpandDimsOfBroadcast : public OpRewritePattern<ExpandDimsOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ExpandDimsOp op,
                                PatternRewriter &rewriter) const override {
    auto broadcast = op.getSrc().getDefiningOp<BroadcastOp>();
    if (!broadcast)
      return rewriter.notifyMatchFailure(op, "operand is not a broadcast");
    SmallVector<int64_t> shape(broadcast.getSrc().getType().getShape());
    shape.insert(shape.begin() + op.getAxis(), 1);
    RankedTensorType type = op.getType().clone(shape);
    Value expanded = ExpandDimsOp::create(rewriter, op.getLoc(), type,
                                          broadcast.getSrc(), op.getAxis());
    rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), expanded);
    return success();
  }
};

struct BroadcastOfBroadcast : public OpRewritePattern<BroadcastOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(BroadcastOp op,
                                PatternRewriter &rewriter) const override {
    auto inner = op.getSrc().getDefiningOp<BroadcastOp>();
    if (!inner)
      return rewriter.notifyMatchFailure(op, "operand is not a broadcast");
    rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), inner.getSrc());
    return success();
  }
};

struct ReshapeOfReshape : public OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReshapeOp op,
                                PatternRewriter &rewriter) const override {
    auto inner = op.getSrc().getDefiningOp<ReshapeOp>();
    if (!inner)
      return rewriter.notifyMatchFailure(op, "operand is not a reshape");
    // All users of a reordered tensor must see the same order.
    if (inner.getAllowReorder() && !inner->hasOneUse())
      return rewriter.notifyMatchFailure(op,
                                         "reordered operand has other uses");
    if (op.getEfficientLayout() || inner.getEfficientLayout())
      return rewriter.notifyMatchFailure(op, "layout was chosen on purpose");
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), inner.getSrc(),
                                           op.getAllowReorder() ||
                                               inner.getAllowReorder(),
                                           /*efficient_layout=*/false);
    return success();
  }
};

struct TransOfTrans : public OpRewritePattern<TransOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(TransOp op,
                                PatternRewriter &rewriter) const override {
    auto inner = op.getSrc().getDefiningOp<TransOp>();
    if (!inner)
      return rewriter.notifyMatchFailure(op, "operand is not a transposition");
    auto order = llvm::map_to_vector(
        op.getOrder(), [&](int32_t dim) { return inner.getOrder()[dim]; });
    rewriter.replaceOpWithNewOp<TransOp>(op, op.getType(), inner.getSrc(),
                                         order);
    return success();
  }
};

/// join(splat x, splat x) -> splat x
struct JoinOfSplats : public OpRewritePattern<JoinOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(JoinOp op,
                                PatternRewriter &rewriter) const override {
    auto lhs = op.getLhs().getDefiningOp<SplatOp>();
    auto rhs = op.getRhs().getDefiningOp<SplatOp>();
    if (!lhs || !rhs || lhs.getSrc() != rhs.getSrc())
      return rewriter.notifyMatchFailure(op, "operands are not one splat");
    rewriter.replaceOpWithNewOp<SplatOp>(op, op.getType(), lhs.getSrc());
    return success();
  }
};

/// split(splat x) -> splat x, splat x
struct SplitOfSplat : public OpRewritePattern<SplitOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SplitOp op,
                                PatternRewriter &rewriter) const override {
    auto splat = op.getSrc().getDefiningOp<SplatOp>();
    if (!splat)
      return rewriter.notifyMatchFailure(op, "operand is not a splat");
    Value half = SplatOp::create(rewriter, op.getLoc(),
                                 op.getOutLHS().getType(), splat.getSrc());
    rewriter.replaceOp(op, {half, half});
    return success();
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Making tensors
//===----------------------------------------------------------------------===//

OpFoldResult MakeRangeOp::fold(FoldAdaptor adaptor) {
  if (getType().getNumElements() != 1)
    return {};
  return DenseElementsAttr::get(getType(),
                                APInt(32, getStart(), /*isSigned=*/true));
}

OpFoldResult SplatOp::fold(FoldAdaptor adaptor) {
  Attribute src = adaptor.getSrc();
  if (!isa_and_present<IntegerAttr, FloatAttr>(src))
    return {};
  return SplatElementsAttr::get(getType(), src);
}

OpFoldResult UnsplatOp::fold(FoldAdaptor adaptor) {
  if (auto elements = dyn_cast_if_present<DenseElementsAttr>(adaptor.getSrc()))
    return *elements.value_begin<Attribute>();
  if (auto splat = getSrc().getDefiningOp<SplatOp>())
    return splat.getSrc();
  return {};
}

//===----------------------------------------------------------------------===//
// Changing shape
//===----------------------------------------------------------------------===//

OpFoldResult ExpandDimsOp::fold(FoldAdaptor adaptor) {
  // Inductor sums a block of one row along its dimension of size one, and adds
  // the result to another such row.
  auto reshape = getSrc().getDefiningOp<ReshapeOp>();
  if (reshape && !reshape.getAllowReorder() &&
      reshape.getSrc().getType() == getType())
    return reshape.getSrc();
  return reshapeConstant(adaptor.getSrc(), getType());
}

void ExpandDimsOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                               MLIRContext *context) {
  patterns.add<MoveOfSplat<ExpandDimsOp>, ExpandDimsOfBroadcast>(context);
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getSrc().getType() == getType())
    return getSrc();
  return resizeSplat(adaptor.getSrc(), getType());
}

void BroadcastOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *context) {
  patterns.add<MoveOfSplat<BroadcastOp>, BroadcastOfBroadcast>(context);
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  // A reorder may as well keep the order.
  if (getSrc().getType() == getType())
    return getSrc();
  auto expand = getSrc().getDefiningOp<ExpandDimsOp>();
  if (expand && expand.getSrc().getType() == getType())
    return expand.getSrc();
  return reshapeConstant(adaptor.getSrc(), getType());
}

void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *context) {
  patterns.add<MoveOfSplat<ReshapeOp>, ReshapeOfReshape>(context);
}

OpFoldResult TransOp::fold(FoldAdaptor adaptor) {
  if (getSrc().getType() == getType() &&
      llvm::equal(getOrder(), llvm::seq<int32_t>(getType().getRank())))
    return getSrc();
  return resizeSplat(adaptor.getSrc(), getType());
}

void TransOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                          MLIRContext *context) {
  patterns.add<MoveOfSplat<TransOp>, TransOfTrans>(context);
}

//===----------------------------------------------------------------------===//
// Putting tensors together
//===----------------------------------------------------------------------===//

OpFoldResult JoinOp::fold(FoldAdaptor adaptor) {
  auto split = getLhs().getDefiningOp<SplitOp>();
  if (split && getLhs() == split.getOutLHS() && getRhs() == split.getOutRHS() &&
      split.getSrc().getType() == getType())
    return split.getSrc();
  if (adaptor.getLhs() == adaptor.getRhs())
    return resizeSplat(adaptor.getLhs(), getType());
  return {};
}

void JoinOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                         MLIRContext *context) {
  patterns.add<JoinOfSplats>(context);
}

LogicalResult SplitOp::fold(FoldAdaptor adaptor,
                            SmallVectorImpl<OpFoldResult> &results) {
  auto join = getSrc().getDefiningOp<JoinOp>();
  if (join && join.getLhs().getType() == getOutLHS().getType()) {
    results.push_back(join.getLhs());
    results.push_back(join.getRhs());
    return success();
  }
  OpFoldResult half = resizeSplat(adaptor.getSrc(), getOutLHS().getType());
  if (!half)
    return failure();
  results.append(2, half);
  return success();
}

void SplitOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                          MLIRContext *context) {
  patterns.add<SplitOfSplat>(context);
}
