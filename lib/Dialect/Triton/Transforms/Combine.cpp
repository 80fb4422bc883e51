//===-- Combine.cpp - Merge neighbouring operations -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/Triton/Transforms/Passes.h"

#define DEBUG_TYPE "triton-combine"

namespace mlir::triton {
#define GEN_PASS_DEF_TRITONCOMBINE
#include "tile/Dialect/Triton/Transforms/Passes.h.inc"
} // namespace mlir::triton

using namespace mlir;
using namespace mlir::triton;

/// True for 0 and, in floating point, -0: x + -0 is x, and what x + 0 adds to
/// x = -0 is no more than its sign.
static bool isZeroAccumulator(Value value) {
  if (isConstantZero(value))
    return true;
  auto splat = dyn_cast_if_present<SplatElementsAttr>(getSplatConstant(value));
  return splat && isa<FloatType>(splat.getElementType()) &&
         splat.getSplatValue<APFloat>().isZero();
}

namespace {

/// A pattern that counts how often it is applied.
template <typename OpT> struct CountingPattern : public OpRewritePattern<OpT> {
  CountingPattern(MLIRContext *context, PassStatistic &count)
      : OpRewritePattern<OpT>(context), count(count) {}

  PassStatistic &count;
};

//===----------------------------------------------------------------------===//
// dot(a, b, 0) + c -> dot(a, b, c)
//===----------------------------------------------------------------------===//

template <typename AddT, typename DotT>
struct AddOfDot : public CountingPattern<AddT> {
  using CountingPattern<AddT>::CountingPattern;

  LogicalResult matchAndRewrite(AddT op,
                                PatternRewriter &rewriter) const override {
    for (auto [dotValue, addend] : {std::pair(op.getLhs(), op.getRhs()),
                                    std::pair(op.getRhs(), op.getLhs())}) {
      auto dot = dotValue.template getDefiningOp<DotT>();
      // The addend may be made after the dot, so the dot moves here; but not
      // into a loop, where it would be computed again and again.
      if (!dot || !dot->hasOneUse() || !isZeroAccumulator(dot.getC()) ||
          limitsImprecision(dot) || dot->getBlock() != op->getBlock())
        continue;
      rewriter.moveOpBefore(dot, op);
      rewriter.modifyOpInPlace(dot, [&] { dot.getCMutable().assign(addend); });
      rewriter.replaceOp(op, dot);
      ++this->count;
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no dot with a zero accumulator");
  }

private:
  static bool limitsImprecision(DotOp dot) {
    return dot.getMaxNumImpreciseAcc() != 0;
  }
  static bool limitsImprecision(DotScaledOp) { return false; }
};

//===----------------------------------------------------------------------===//
// select(cond, load(p, splat cond), x) -> load(p, splat cond, x)
//===----------------------------------------------------------------------===//

struct SelectOfMaskedLoad : public CountingPattern<arith::SelectOp> {
  using CountingPattern::CountingPattern;

  LogicalResult matchAndRewrite(arith::SelectOp op,
                                PatternRewriter &rewriter) const override {
    auto load = op.getTrueValue().getDefiningOp<LoadOp>();
    if (!load || !load->hasOneUse() || !load.getMask())
      return rewriter.notifyMatchFailure(op, "no masked load to select");
    // Where the mask is false, `other` is dropped by the select.
    Value mask = load.getMask(), condition = op.getCondition();
    auto splat = mask.getDefiningOp<SplatOp>();
    if (mask != condition && !(splat && splat.getSrc() == condition))
      return rewriter.notifyMatchFailure(op, "condition is not the mask");
    // Loads stay in order, so the value for masked elements must be there.
    Value other = op.getFalseValue();
    Operation *producer = other.getDefiningOp();
    Operation *user = other.getParentBlock()->findAncestorOpInBlock(*load);
    if (!user || (producer && !producer->isBeforeInBlock(user)))
      return rewriter.notifyMatchFailure(op, "value may come after the load");
    rewriter.modifyOpInPlace(load,
                             [&] { load.getOtherMutable().assign(other); });
    rewriter.replaceOp(op, load);
    ++count;
    return success();
  }
};

//===----------------------------------------------------------------------===//
// addptr(addptr(p, a), b) -> addptr(p, a + b)
//===----------------------------------------------------------------------===//

struct AddPtrOfAddPtr : public CountingPattern<AddPtrOp> {
  using CountingPattern::CountingPattern;

  LogicalResult matchAndRewrite(AddPtrOp op,
                                PatternRewriter &rewriter) const override {
    auto inner = op.getPtr().getDefiningOp<AddPtrOp>();
    if (!inner || inner.getOffset().getType() != op.getOffset().getType())
      return rewriter.notifyMatchFailure(op, "no pair with one offset type");
    if (!canAdd(inner.getOffset(), op.getOffset()))
      return rewriter.notifyMatchFailure(op, "the sum might overflow");
    Value offset = rewriter.createOrFold<arith::AddIOp>(
        op.getLoc(), inner.getOffset(), op.getOffset());
    rewriter.replaceOpWithNewOp<AddPtrOp>(op, op.getType(), inner.getPtr(),
                                          offset);
    ++count;
    return success();
  }

private:
  /// Addresses have 64 bits, so a sum of that width wraps as they do.
  static bool canAdd(Value lhs, Value rhs) {
    if (getElementTypeOrSelf(lhs).isInteger(64))
      return true;
    APInt a, b;
    if (!matchPattern(lhs, m_ConstantInt(&a)) ||
        !matchPattern(rhs, m_ConstantInt(&b)))
      return false;
    bool overflow = false;
    (void)a.sadd_ov(b, overflow);
    return !overflow;
  }
};

//===----------------------------------------------------------------------===//
// sum(broadcast(a) * broadcast(b)) -> dot(a, b)
//===----------------------------------------------------------------------===//

/// reduce<1>(broadcast(expand_dims<2>(a)) * broadcast(expand_dims<0>(b)))
struct SumOfProducts : public CountingPattern<ReduceOp> {
  using CountingPattern::CountingPattern;

  LogicalResult matchAndRewrite(ReduceOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getSrcs().size() != 1 || op.getAxis() != 1 ||
        op.getInputTypes()[0].getRank() != 3 ||
        !op.getElementTypes()[0].isF32() || op.getInputTypes()[0].getEncoding())
      return rewriter.notifyMatchFailure(op, "not a sum over the middle of 3 "
                                             "fp32 dimensions");
    if (!isa_and_present<arith::AddFOp>(op.getSingleCombiner()))
      return rewriter.notifyMatchFailure(op, "not a sum");
    auto product = op.getSrcs()[0].getDefiningOp<arith::MulFOp>();
    if (!product || !product->hasOneUse())
      return rewriter.notifyMatchFailure(op, "not a sum of products alone");
    Value a = getMatrix(product.getLhs(), 2),
          b = getMatrix(product.getRhs(), 0);
    if (!a || !b) {
      a = getMatrix(product.getRhs(), 2);
      b = getMatrix(product.getLhs(), 0);
    }
    if (!a || !b)
      return rewriter.notifyMatchFailure(op, "factors are not broadcasts");
    // Tensor cores and their like have no use for anything smaller.
    for (int64_t size : op.getInputTypes()[0].getShape())
      if (size < 16)
        return rewriter.notifyMatchFailure(op, "too small for a dot");
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    Value zero = arith::ConstantOp::create(rewriter, op.getLoc(),
                                           rewriter.getZeroAttr(type));
    rewriter.replaceOpWithNewOp<DotOp>(op, type, a, b, zero,
                                       InputPrecision::IEEE,
                                       /*maxNumImpreciseAcc=*/0);
    ++count;
    return success();
  }

private:
  /// The matrix whose elements are repeated along `axis`, and along nothing
  /// else.
  static Value getMatrix(Value factor, int32_t axis) {
    auto broadcast = factor.getDefiningOp<BroadcastOp>();
    if (!broadcast)
      return {};
    auto expand = broadcast.getSrc().getDefiningOp<ExpandDimsOp>();
    if (!expand || expand.getAxis() != axis)
      return {};
    for (auto [i, from, to] :
         llvm::enumerate(broadcast.getSrc().getType().getShape(),
                         broadcast.getType().getShape()))
      if (int64_t(i) != axis && from != to)
        return {};
    return expand.getSrc();
  }
};

//===----------------------------------------------------------------------===//
// reshape(descriptor_load) -> descriptor_load
//===----------------------------------------------------------------------===//

/// Whether a reshape between these types drops, or adds, leading dimensions of
/// size one alone, and a matrix is left.
bool differInLeadingOnes(RankedTensorType larger, RankedTensorType smaller) {
  int64_t more = larger.getRank() - smaller.getRank();
  return more > 0 && smaller.getRank() > 1 &&
         larger.getShape().drop_front(more) == smaller.getShape() &&
         llvm::all_of(larger.getShape().take_front(more),
                      [](int64_t size) { return size == 1; });
}

/// A matrix of a batch is a matrix from the start: dots read it from where
/// it was copied to.
struct ReshapeOfDescriptorLoad : public CountingPattern<ReshapeOp> {
  using CountingPattern::CountingPattern;

  LogicalResult matchAndRewrite(ReshapeOp op,
                                PatternRewriter &rewriter) const override {
    auto load = op.getSrc().getDefiningOp<DescriptorLoadOp>();
    if (!load || !load->hasOneUse() || load.getType().getEncoding() ||
        !differInLeadingOnes(load.getType(), op.getType()))
      return rewriter.notifyMatchFailure(op, "no block with leading ones");
    // Where the block was read; a store may come before the reshape.
    rewriter.setInsertionPoint(load);
    auto matrix = DescriptorLoadOp::create(
        rewriter, load.getLoc(), op.getType(), load.getDesc(),
        load.getIndices(), load.getCache(), load.getEvict());
    rewriter.replaceOp(op, matrix);
    rewriter.eraseOp(load);
    ++count;
    return success();
  }
};

/// The same for blocks that are written.
struct DescriptorStoreOfReshape : public CountingPattern<DescriptorStoreOp> {
  using CountingPattern::CountingPattern;

  LogicalResult matchAndRewrite(DescriptorStoreOp op,
                                PatternRewriter &rewriter) const override {
    auto reshape = op.getSrc().getDefiningOp<ReshapeOp>();
    if (!reshape || reshape.getType().getEncoding() ||
        !differInLeadingOnes(reshape.getType(), reshape.getSrc().getType()))
      return rewriter.notifyMatchFailure(op, "no block with leading ones");
    rewriter.modifyOpInPlace(
        op, [&] { op.getSrcMutable().assign(reshape.getSrc()); });
    ++count;
    return success();
  }
};

struct TritonCombine : public triton::impl::TritonCombineBase<TritonCombine> {
  using Base::Base;

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    patterns.add<AddOfDot<arith::AddFOp, DotOp>, AddOfDot<arith::AddIOp, DotOp>,
                 AddOfDot<arith::AddFOp, DotScaledOp>>(context, numDots);
    patterns.add<SelectOfMaskedLoad>(context, numLoads);
    patterns.add<AddPtrOfAddPtr>(context, numAddPtrs);
    patterns.add<SumOfProducts>(context, numReductions);
    patterns.add<ReshapeOfDescriptorLoad, DescriptorStoreOfReshape>(context,
                                                                    numBlocks);
    LoadOp::getCanonicalizationPatterns(patterns, context);
    StoreOp::getCanonicalizationPatterns(patterns, context);
    BroadcastOp::getCanonicalizationPatterns(patterns, context);
    ExpandDimsOp::getCanonicalizationPatterns(patterns, context);
    // A long program may need more rounds than the driver makes: whatever is
    // left then is as valid, and no error.
    (void)applyPatternsGreedily(getOperation(), std::move(patterns));
  }
};

} // namespace
