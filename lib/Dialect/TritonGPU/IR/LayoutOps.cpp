//===-- LayoutOps.cpp - convert_layout and fp4_to_fp ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"
#include "tile/Dialect/TritonGPU/IR/SharedPlaces.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

//===----------------------------------------------------------------------===//
// ConvertLayoutOp
//===----------------------------------------------------------------------===//

LayoutRole ConvertLayoutOp::getLayoutRole() { return LayoutRole::Neutral; }

LogicalResult ConvertLayoutOp::verify() {
  if (!getSrc().getType().getEncoding())
    return emitOpError() << "expected the source to have an encoding, found "
                         << getSrc().getType();
  if (!getType().getEncoding())
    return emitOpError() << "expected the result to have an encoding, found "
                         << getType();
  return success();
}

OpFoldResult ConvertLayoutOp::fold(FoldAdaptor adaptor) {
  if (getSrc().getType() == getType())
    return getSrc();
  // All elements of a splat are equal wherever they are.
  if (auto splat = dyn_cast_or_null<SplatElementsAttr>(adaptor.getSrc()))
    return splat.resizeSplat(getType());
  return {};
}

namespace {

/// The source of a conversion knows how to produce the target encoding itself.
struct ConvertOfProducer : public OpRewritePattern<ConvertLayoutOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConvertLayoutOp op,
                                PatternRewriter &rewriter) const override {
    Operation *producer = op.getSrc().getDefiningOp();
    if (!producer)
      return rewriter.notifyMatchFailure(op, "the source is an argument");
    RankedTensorType type = op.getType();

    if (auto convert = dyn_cast<ConvertLayoutOp>(producer)) {
      rewriter.replaceOpWithNewOp<ConvertLayoutOp>(op, type, convert.getSrc());
      return success();
    }
    if (auto splat = dyn_cast<SplatOp>(producer)) {
      rewriter.replaceOpWithNewOp<SplatOp>(op, type, splat.getSrc());
      return success();
    }
    if (auto range = dyn_cast<MakeRangeOp>(producer)) {
      rewriter.replaceOpWithNewOp<MakeRangeOp>(op, type, range.getStart(),
                                               range.getEnd());
      return success();
    }
    // A reshape that may reorder elements has no reason to put them anywhere
    // else than where they are wanted, unless its layout was chosen on purpose.
    if (auto reshape = dyn_cast<ReshapeOp>(producer)) {
      if (!reshape.getAllowReorder() || reshape.getEfficientLayout())
        return rewriter.notifyMatchFailure(op, "the reshape fixes the layout");
      rewriter.replaceOpWithNewOp<ReshapeOp>(op, type, reshape.getSrc(),
                                             /*allowReorder=*/true);
      return success();
    }
    return rewriter.notifyMatchFailure(op, "the source cannot be recomputed");
  }
};

/// Reads from shared memory straight into the wanted layout. Only where the
/// conversion is the single use: otherwise this would be a second read.
struct ConvertOfLocalLoad : public OpRewritePattern<ConvertLayoutOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConvertLayoutOp op,
                                PatternRewriter &rewriter) const override {
    auto load = op.getSrc().getDefiningOp<LocalLoadOp>();
    if (!load || !load->hasOneUse())
      return rewriter.notifyMatchFailure(op, "not the only use of a load");
    if (!staysInBlock(op.getType(), load.getSrc().getType()))
      return rewriter.notifyMatchFailure(op, "a block does not have it all");
    // The new load stands where the old one does: a store may follow it.
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(load);
    auto newLoad = LocalLoadOp::create(rewriter, load.getLoc(), op.getType(),
                                       load.getSrc(), load.getToken());
    rewriter.replaceOp(op, newLoad);
    rewriter.eraseOp(load);
    return success();
  }
};

} // namespace

void ConvertLayoutOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                  MLIRContext *context) {
  patterns.add<ConvertOfProducer, ConvertOfLocalLoad>(context);
}

//===----------------------------------------------------------------------===//
// Fp4ToFpOp
//===----------------------------------------------------------------------===//

FailureOr<Attribute>
Fp4ToFpOp::inferResultEncoding(RankedTensorType srcType, unsigned axis,
                               std::optional<Location> loc) {
  Attribute src = srcType.getEncoding();
  if (!src)
    return Attribute();
  MLIRContext *context = src.getContext();
  if (auto blocked = dyn_cast<BlockedEncodingAttr>(src)) {
    SmallVector<unsigned> sizePerThread(blocked.getSizePerThread());
    sizePerThread[axis] *= 2;
    return Attribute(BlockedEncodingAttr::get(
        context, sizePerThread, blocked.getThreadsPerWarp(),
        blocked.getWarpsPerCTA(), blocked.getOrder(), blocked.getCTALayout()));
  }
  if (auto dot = dyn_cast<DotOperandEncodingAttr>(src)) {
    unsigned rank = srcType.getRank();
    unsigned k = dot.getOpIdx() == 0 ? rank - 1 : rank - 2;
    if (axis == k && dot.getKWidth() != 0)
      return Attribute(DotOperandEncodingAttr::get(
          context, dot.getOpIdx(), dot.getParent(), dot.getKWidth() * 2));
  }
  auto emitAtLoc = [&] { return mlir::emitError(*loc); };
  FailureOr<LinearLayout> layout =
      loc ? tryToLinearLayout(srcType.getShape(), src, emitAtLoc)
          : tryToLinearLayout(srcType.getShape(), src);
  if (failed(layout))
    return failure();
  // The lowest bit along the axis chooses one of the two numbers in a byte.
  LinearLayout unpacked =
      (LinearLayout::identity1D(2, kRegister, kDim(axis)) * *layout)
          .transposeOuts(layout->getOutDimNames());
  SmallVector<int64_t> shape(srcType.getShape());
  shape[axis] *= 2;
  return nameLinearLayout(context, shape, unpacked);
}

LogicalResult Fp4ToFpOp::verify() {
  RankedTensorType srcType = getSrc().getType(), type = getType();
  int64_t rank = srcType.getRank();
  if (type.getRank() != rank)
    return emitOpError() << "expected a result of rank " << rank
                         << ", like the source, found " << type.getRank();
  if (int64_t(getAxis()) >= rank)
    return emitOpError()
           << "expected 'axis' to be below the rank of the source, " << rank
           << ", found " << getAxis();
  SmallVector<int64_t> expected(srcType.getShape());
  expected[getAxis()] *= 2;
  if (type.getShape() != ArrayRef(expected))
    return emitOpError() << "expected a result of shape [" << expected
                         << "], found [" << type.getShape() << "]";
  if (!srcType.getEncoding() != !type.getEncoding())
    return emitOpError() << "expected source and result to have an encoding, "
                            "or neither, found "
                         << srcType << " and " << type;
  if (!srcType.getEncoding())
    return success();
  FailureOr<Attribute> encoding =
      inferResultEncoding(srcType, getAxis(), getLoc());
  if (failed(encoding))
    return failure();
  if (!areLayoutsEquivalent(expected, *encoding, type.getEncoding()))
    return emitOpError() << "expected a result with an encoding equivalent to "
                         << *encoding << ", found " << type.getEncoding();
  return success();
}
