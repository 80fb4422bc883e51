//===-- CollectiveOps.cpp - Reductions, scans, gathers, histograms --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mlir/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

static SmallVector<RankedTensorType> getTensorTypes(TypeRange types) {
  return llvm::map_to_vector(
      types, [](Type type) { return cast<RankedTensorType>(type); });
}

static SmallVector<Type> getElementTypesOf(TypeRange types) {
  return llvm::map_to_vector(
      types, [](Type type) { return getElementTypeOrSelf(type); });
}

/// Each type `count` times.
static SmallVector<Type> repeatEach(ArrayRef<Type> types, int64_t count) {
  SmallVector<Type> result;
  for (Type type : types)
    result.append(count, type);
  return result;
}

static LogicalResult verifyAxis(Operation *op, ValueRange srcs, int64_t axis) {
  int64_t rank = cast<RankedTensorType>(srcs[0].getType()).getRank();
  if (axis < 0 || axis >= rank)
    return op->emitOpError("expected an axis from 0 to ")
           << rank - 1 << ", found " << axis;
  return success();
}

/// Checks that a region takes and returns values of the given types.
static LogicalResult verifyScalarRegion(Operation *op, Region &region,
                                        TypeRange arguments,
                                        TypeRange results) {
  Block &entry = region.front();
  if (entry.getArgumentTypes() != arguments)
    return op->emitOpError("expected a region with arguments (")
           << arguments << "), found (" << entry.getArgumentTypes() << ")";
  for (Block &block : region) {
    Operation *terminator = block.getTerminator();
    // Only the terminators that leave the region matter.
    if (terminator->getNumSuccessors() != 0 ||
        terminator->getDialect() != op->getDialect())
      continue;
    if (terminator->getOperandTypes() != results)
      return op->emitOpError("expected a region that returns (")
             << results << "), found (" << terminator->getOperandTypes() << ")";
  }
  return success();
}

static LogicalResult verifyCombineRegion(Operation *op, Region &region,
                                         TypeRange srcs) {
  SmallVector<Type> elements = getElementTypesOf(srcs);
  SmallVector<Type> arguments(elements);
  llvm::append_range(arguments, elements);
  return verifyScalarRegion(op, region, arguments, elements);
}

//===----------------------------------------------------------------------===//
// ReduceOp
//===----------------------------------------------------------------------===//

LogicalResult ReduceOp::inferReturnTypes(MLIRContext *context,
                                         std::optional<Location> loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &inferred) {
  if (!adaptor.getAxisAttr())
    return emitOptionalError(loc, "'tt.reduce' op expected an axis");
  int64_t axis = adaptor.getAxis();
  for (Value src : adaptor.getSrcs()) {
    auto type = dyn_cast<RankedTensorType>(src.getType());
    if (!type)
      return emitOptionalError(loc, "expected tensors as operands, found ",
                               src.getType());
    if (axis < 0 || axis >= type.getRank())
      return emitOptionalError(loc,
                               "'tt.reduce' op expected an axis from 0 to ",
                               type.getRank() - 1, ", found ", axis);
    if (type.getRank() == 1) {
      inferred.push_back(type.getElementType());
      continue;
    }
    SmallVector<int64_t> shape(type.getShape());
    shape.erase(shape.begin() + axis);
    Attribute encoding = type.getEncoding();
    if (encoding) {
      const auto *interface = getInferLayoutInterface(encoding, loc);
      if (!interface)
        return failure();
      FailureOr<Attribute> result =
          interface->inferReduceLayout(encoding, axis, loc);
      if (failed(result))
        return failure();
      encoding = *result;
    }
    inferred.push_back(
        RankedTensorType::get(shape, type.getElementType(), encoding));
  }
  return success();
}

LogicalResult ReduceOp::verify() {
  return verifyAxis(*this, getSrcs(), getAxis());
}

LogicalResult ReduceOp::verifyRegions() {
  return verifyCombineRegion(*this, getCombineOp(), getSrcs().getTypes());
}

SmallVector<RankedTensorType> ReduceOp::getInputTypes() {
  return getTensorTypes(getSrcs().getTypes());
}

SmallVector<Type> ReduceOp::getElementTypes() {
  return getElementTypesOf(getSrcs().getTypes());
}

Operation *ReduceOp::getSingleCombiner() {
  Block &block = getCombineOp().front();
  if (getSrcs().size() != 1 || !getCombineOp().hasOneBlock() ||
      !llvm::hasNItems(block, 2))
    return nullptr;
  Operation *combiner = &block.front();
  auto returned = cast<ReduceReturnOp>(block.getTerminator());
  bool combinesArguments =
      combiner->getNumOperands() == 2 && combiner->getNumResults() == 1 &&
      returned.getResult()[0] == combiner->getResult(0) &&
      llvm::is_contained(combiner->getOperands(), block.getArgument(0)) &&
      llvm::is_contained(combiner->getOperands(), block.getArgument(1));
  return combinesArguments ? combiner : nullptr;
}

namespace {

/// A reduction along a dimension of size one combines nothing.
struct ReduceOfSizeOne : public OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReduceOp op,
                                PatternRewriter &rewriter) const override {
    RankedTensorType type = op.getInputTypes().front();
    if (type.getDimSize(op.getAxis()) != 1)
      return rewriter.notifyMatchFailure(op, "there is something to reduce");
    if (type.getEncoding() && type.getRank() != 1)
      return rewriter.notifyMatchFailure(
          op, "a reshape may not preserve the layout");
    SmallVector<Value> results;
    for (auto [src, result] : llvm::zip_equal(op.getSrcs(), op.getResult())) {
      if (type.getRank() == 1)
        results.push_back(UnsplatOp::create(rewriter, op.getLoc(), src));
      else
        results.push_back(ReshapeOp::create(
            rewriter, op.getLoc(), result.getType(), src,
            /*allow_reorder=*/false, /*efficient_layout=*/false));
    }
    rewriter.replaceOp(op, results);
    return success();
  }
};

} // namespace

void ReduceOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *context) {
  patterns.add<ReduceOfSizeOne>(context);
}

//===----------------------------------------------------------------------===//
// ScanOp
//===----------------------------------------------------------------------===//

LogicalResult ScanOp::inferReturnTypes(MLIRContext *context,
                                       std::optional<Location> loc,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &inferred) {
  llvm::append_range(inferred, adaptor.getSrcs().getTypes());
  return success();
}

LogicalResult ScanOp::verify() {
  return verifyAxis(*this, getSrcs(), getAxis());
}

LogicalResult ScanOp::verifyRegions() {
  return verifyCombineRegion(*this, getCombineOp(), getSrcs().getTypes());
}

SmallVector<RankedTensorType> ScanOp::getInputTypes() {
  return getTensorTypes(getSrcs().getTypes());
}

SmallVector<Type> ScanOp::getElementTypes() {
  return getElementTypesOf(getSrcs().getTypes());
}

LogicalResult ScanOp::fold(FoldAdaptor adaptor,
                           SmallVectorImpl<OpFoldResult> &results) {
  if (getInputTypes().front().getDimSize(getAxis()) != 1 ||
      getSrcs().getTypes() != getResult().getTypes())
    return failure();
  llvm::append_range(results, getSrcs());
  return success();
}

//===----------------------------------------------------------------------===//
// MapElementwiseOp
//===----------------------------------------------------------------------===//

LogicalResult MapElementwiseOp::verify() {
  int32_t pack = getPack();
  if (pack <= 0 || !llvm::isPowerOf2_32(pack))
    return emitOpError("expected pack to be a power of two, found ") << pack;
  auto type = cast<RankedTensorType>(getSrcs()[0].getType());
  if (type.getNumElements() % pack != 0)
    return emitOpError("expected a multiple of ")
           << pack << " elements, found " << type;
  return success();
}

LogicalResult MapElementwiseOp::verifyRegions() {
  if (getScalarOp().empty())
    return emitOpError("expected a region with a body");
  return verifyScalarRegion(
      *this, getScalarOp(),
      repeatEach(getElementTypesOf(getSrcs().getTypes()), getPack()),
      repeatEach(getElementTypesOf(getResult().getTypes()), getPack()));
}

//===----------------------------------------------------------------------===//
// GatherOp, HistogramOp
//===----------------------------------------------------------------------===//

LogicalResult GatherOp::inferReturnTypes(MLIRContext *context,
                                         std::optional<Location> loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &inferred) {
  if (adaptor.getOperands().size() != 2)
    return emitOptionalError(loc, "expected 2 operands, found ",
                             adaptor.getOperands().size());
  auto src = dyn_cast<RankedTensorType>(adaptor.getSrc().getType());
  auto indices = dyn_cast<RankedTensorType>(adaptor.getIndices().getType());
  if (!src || !indices)
    return emitOptionalError(loc, "expected tensors as operands");
  inferred.push_back(indices.clone(src.getElementType()));
  return success();
}

LogicalResult GatherOp::verify() {
  RankedTensorType src = getSrc().getType(), indices = getIndices().getType();
  int64_t rank = src.getRank(), axis = getAxis();
  if (indices.getRank() != rank)
    return emitOpError("expected indices of rank ")
           << rank << " like the operand, found " << indices;
  if (axis < 0 || axis >= rank)
    return emitOpError("expected an axis from 0 to ")
           << rank - 1 << ", found " << axis;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (dim != axis && src.getDimSize(dim) != indices.getDimSize(dim))
      return emitOpError("expected operand and indices of equal size in "
                         "dimension #")
             << dim << ", found " << src.getDimSize(dim) << " and "
             << indices.getDimSize(dim);
  return success();
}

LogicalResult HistogramOp::verify() {
  RankedTensorType src = getSrc().getType(), result = getType();
  if (src.getRank() != 1 || result.getRank() != 1)
    return emitOpError("expected a 1-D operand and result, found ")
           << src << " and " << result;
  return success();
}
