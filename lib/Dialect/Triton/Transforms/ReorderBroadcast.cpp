//===-- ReorderBroadcast.cpp - Compute before broadcasting ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/Triton/Transforms/Passes.h"

#define DEBUG_TYPE "triton-reorder-broadcast"

namespace mlir::triton {
#define GEN_PASS_DEF_TRITONREORDERBROADCAST
#include "tile/Dialect/Triton/Transforms/Passes.h.inc"
} // namespace mlir::triton

using namespace mlir;
using namespace mlir::triton;

/// True for operations that may be done on fewer elements.
static bool isMovable(Operation *op) {
  if (!op->hasTrait<mlir::OpTrait::Elementwise>() || op->getNumResults() == 0 ||
      op->getNumOperands() == 0 || op->getNumRegions() != 0 ||
      !isMemoryEffectFree(op))
    return false;
  // Packed elements come from tensors, several at a time.
  auto inlineAsm = dyn_cast<ElementwiseInlineAsmOp>(op);
  return !inlineAsm || inlineAsm.getPackedElement() == 1;
}

/// The constant that all elements of `value` equal, as a scalar; null if
/// `value` is not a constant tensor of equal elements.
static TypedAttr getScalarConstant(Value value) {
  if (value.getDefiningOp<SplatOp>())
    return {};
  auto splat = dyn_cast_if_present<SplatElementsAttr>(getSplatConstant(value));
  return splat ? dyn_cast<TypedAttr>(splat.getSplatValue<Attribute>())
               : TypedAttr();
}

/// Makes `op` again on other operands, with results in the shape of `like`
/// (scalars if it is null).
static Operation *cloneWithShape(PatternRewriter &rewriter, Operation *op,
                                 ValueRange operands, RankedTensorType like) {
  OperationState state(op->getLoc(), op->getName());
  state.addOperands(operands);
  for (Type type : op->getResultTypes()) {
    Type element = getElementTypeOrSelf(type);
    state.addTypes(like ? Type(like.clone(element)) : element);
  }
  // Facts noted on a tensor (`tt.divisibility`, one entry per dimension) do not
  // carry over to another shape.
  if (Attribute properties = op->getPropertiesAsAttribute())
    state.propertiesAttr = properties;
  return rewriter.create(state);
}

namespace {

/// f(splat a, splat b) -> splat f(a, b)
struct MoveAfterSplat : public RewritePattern {
  MoveAfterSplat(MLIRContext *context, PassStatistic &count)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context),
        count(count) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!isMovable(op))
      return rewriter.notifyMatchFailure(op,
                                         "not a pure elementwise operation");
    // With constants alone there is nothing to gain, folders do that.
    if (llvm::none_of(op->getOperands(), [](Value operand) {
          return operand.getDefiningOp<SplatOp>() != nullptr;
        }))
      return rewriter.notifyMatchFailure(op, "no operand is a splat");
    // A pattern that declines must leave nothing behind, or it would be tried
    // again forever.
    if (llvm::any_of(op->getOperands(), [](Value operand) {
          return isa<RankedTensorType>(operand.getType()) &&
                 !operand.getDefiningOp<SplatOp>() &&
                 !getScalarConstant(operand);
        }))
      return rewriter.notifyMatchFailure(op, "an operand is not a splat");
    SmallVector<Value> scalars;
    for (Value operand : op->getOperands()) {
      if (auto splat = operand.getDefiningOp<SplatOp>())
        scalars.push_back(splat.getSrc());
      else if (!isa<RankedTensorType>(operand.getType()))
        scalars.push_back(operand);
      else
        scalars.push_back(arith::ConstantOp::create(
            rewriter, op->getLoc(), getScalarConstant(operand)));
    }
    Operation *scalarOp = cloneWithShape(rewriter, op, scalars, {});
    SmallVector<Value> results;
    for (auto [type, scalar] :
         llvm::zip_equal(op->getResultTypes(), scalarOp->getResults()))
      results.push_back(SplatOp::create(rewriter, op->getLoc(), type, scalar));
    rewriter.replaceOp(op, results);
    ++count;
    return success();
  }

  PassStatistic &count;
};

/// f(broadcast a, broadcast b, splat c) -> broadcast f(a, b, splat c)
struct MoveAfterBroadcast : public RewritePattern {
  MoveAfterBroadcast(MLIRContext *context, PassStatistic &count)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context),
        count(count) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!isMovable(op))
      return rewriter.notifyMatchFailure(op,
                                         "not a pure elementwise operation");
    RankedTensorType small;
    for (Value operand : op->getOperands()) {
      if (auto broadcast = operand.getDefiningOp<BroadcastOp>()) {
        RankedTensorType type = broadcast.getSrc().getType();
        if (small && (small.getShape() != type.getShape() ||
                      small.getEncoding() != type.getEncoding()))
          return rewriter.notifyMatchFailure(op, "broadcasts of other shapes");
        small = type;
        continue;
      }
      if (isa<RankedTensorType>(operand.getType()) &&
          !operand.getDefiningOp<SplatOp>() && !getScalarConstant(operand))
        return rewriter.notifyMatchFailure(op, "an operand is no broadcast");
    }
    if (!small)
      return rewriter.notifyMatchFailure(op, "no operand is a broadcast");

    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(shrink(rewriter, op->getLoc(), operand, small));
    Operation *smallOp = cloneWithShape(rewriter, op, operands, small);
    SmallVector<Value> results;
    for (auto [type, result] :
         llvm::zip_equal(op->getResultTypes(), smallOp->getResults()))
      results.push_back(
          BroadcastOp::create(rewriter, op->getLoc(), type, result));
    rewriter.replaceOp(op, results);
    ++count;
    return success();
  }

  PassStatistic &count;

private:
  /// The operand in the shape of the sources of the broadcasts.
  static Value shrink(PatternRewriter &rewriter, Location loc, Value operand,
                      RankedTensorType small) {
    if (!isa<RankedTensorType>(operand.getType()))
      return operand;
    if (auto broadcast = operand.getDefiningOp<BroadcastOp>())
      return broadcast.getSrc();
    RankedTensorType type = small.clone(getElementTypeOrSelf(operand));
    if (auto splat = operand.getDefiningOp<SplatOp>())
      return SplatOp::create(rewriter, loc, type, splat.getSrc());
    return arith::ConstantOp::create(
        rewriter, loc,
        SplatElementsAttr::get(type, getScalarConstant(operand)));
  }
};

struct TritonReorderBroadcast
    : public triton::impl::TritonReorderBroadcastBase<TritonReorderBroadcast> {
  using Base::Base;

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    patterns.add<MoveAfterSplat>(context, numSplats);
    patterns.add<MoveAfterBroadcast>(context, numBroadcasts);
    BroadcastOp::getCanonicalizationPatterns(patterns, context);
    ExpandDimsOp::getCanonicalizationPatterns(patterns, context);
    // A long program may need more rounds than the driver makes: whatever is
    // left then is as valid, and no error.
    (void)applyPatternsGreedily(getOperation(), std::move(patterns));
  }
};

} // namespace
