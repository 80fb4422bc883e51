//===-- MemoryOps.cpp - Loads, stores and address arithmetic --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Dialect/Triton/IR/MemoryOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::triton;

using Effects =
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

/// Bounds are checked through block pointers only, and masks given otherwise.
static LogicalResult verifyBoundaryCheck(Operation *op, Type ptrType,
                                         Value mask,
                                         ArrayRef<int32_t> boundaryCheck) {
  if (!isBlockPointer(ptrType)) {
    if (!boundaryCheck.empty())
      return op->emitOpError(
                 "expected boundaryCheck only with a block pointer, "
                 "found ")
             << ptrType;
    return success();
  }
  if (mask)
    return op->emitOpError(
        "expected boundaryCheck instead of a mask with a block pointer");
  int64_t rank =
      cast<RankedTensorType>(triton::getPointeeType(ptrType)).getRank();
  llvm::SmallBitVector seen(rank);
  for (int32_t dim : boundaryCheck) {
    if (dim < 0 || dim >= rank)
      return op->emitOpError("expected dimensions from 0 to ")
             << rank - 1 << " in boundaryCheck, found " << dim;
    if (seen.test(dim))
      return op->emitOpError("expected each dimension once in boundaryCheck, "
                             "found ")
             << dim << " twice";
    seen.set(dim);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// AddPtrOp
//===----------------------------------------------------------------------===//

OpFoldResult AddPtrOp::fold(FoldAdaptor adaptor) {
  if (isConstantZero(getOffset()))
    return getPtr();
  return {};
}

//===----------------------------------------------------------------------===//
// LoadOp
//===----------------------------------------------------------------------===//

void LoadOp::build(OpBuilder &builder, OperationState &state, Value ptr,
                   CacheModifier cache, EvictionPolicy evict, bool isVolatile) {
  build(builder, state, ptr, /*mask=*/Value(), /*other=*/Value(), cache, evict,
        isVolatile);
}

void LoadOp::build(OpBuilder &builder, OperationState &state, Value ptr,
                   Value mask, CacheModifier cache, EvictionPolicy evict,
                   bool isVolatile) {
  build(builder, state, ptr, mask, /*other=*/Value(), cache, evict, isVolatile);
}

void LoadOp::build(OpBuilder &builder, OperationState &state, Value ptr,
                   Value mask, Value other, CacheModifier cache,
                   EvictionPolicy evict, bool isVolatile) {
  build(builder, state, getLoadedType(ptr.getType()), ptr, mask, other,
        /*boundaryCheck=*/ArrayRef<int32_t>(), /*padding=*/PaddingOptionAttr(),
        cache, evict, isVolatile);
}

void LoadOp::build(OpBuilder &builder, OperationState &state, Value ptr,
                   ArrayRef<int32_t> boundaryCheck,
                   std::optional<PaddingOption> padding, CacheModifier cache,
                   EvictionPolicy evict, bool isVolatile) {
  auto paddingAttr =
      padding ? PaddingOptionAttr::get(builder.getContext(), *padding)
              : PaddingOptionAttr();
  build(builder, state, getLoadedType(ptr.getType()), ptr, /*mask=*/Value(),
        /*other=*/Value(), boundaryCheck, paddingAttr, cache, evict,
        isVolatile);
}

bool triton::isFreshRead(LoadOp load) {
  return load.getIsVolatile() || load.getCache() == CacheModifier::CV;
}

void LoadOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getPtrMutable(),
                       GlobalMemory::get());
  // Such an access counts as observable: it is neither dropped nor merged.
  if (isFreshRead(*this))
    effects.emplace_back(MemoryEffects::Write::get(), &getPtrMutable(),
                         GlobalMemory::get());
}

LogicalResult LoadOp::verify() {
  Type ptrType = getPtr().getType();
  if (failed(
          verifyBoundaryCheck(*this, ptrType, getMask(), getBoundaryCheck())))
    return failure();
  if (getOther() && !getMask())
    return emitOpError("expected a mask beside the value for masked elements");
  if (!getPadding())
    return success();
  if (!isBlockPointer(ptrType))
    return emitOpError("expected padding only with a block pointer, found ")
           << ptrType;
  Type element = getElementTypeOrSelf(getType());
  if (*getPadding() == PaddingOption::PAD_NAN && !isa<FloatType>(element))
    return emitOpError("expected floating-point elements with NaN padding, "
                       "found ")
           << element;
  return success();
}

namespace {

/// A load whose mask is known: all true needs none, all false reads nothing.
struct LoadOfConstantMask : public OpRewritePattern<LoadOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(LoadOp op,
                                PatternRewriter &rewriter) const override {
    Value mask = op.getMask();
    if (!mask)
      return rewriter.notifyMatchFailure(op, "there is no mask");
    if (isConstantOne(mask)) {
      auto load =
          LoadOp::create(rewriter, op.getLoc(), op.getPtr(), op.getCache(),
                         op.getEvict(), op.getIsVolatile());
      load->setDiscardableAttrs(llvm::to_vector(op->getDiscardableAttrs()));
      rewriter.replaceOp(op, load);
      return success();
    }
    if (!isConstantZero(mask))
      return rewriter.notifyMatchFailure(op, "mask is not a constant");
    if (Value other = op.getOther()) {
      rewriter.replaceOp(op, other);
      return success();
    }
    // Without `other` any value will do; zero is one that is always the same.
    TypedAttr zero = rewriter.getZeroAttr(op.getType());
    if (!zero)
      return rewriter.notifyMatchFailure(op, "elements have no constants");
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, zero);
    return success();
  }
};

/// A store whose mask is known.
struct StoreOfConstantMask : public OpRewritePattern<StoreOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(StoreOp op,
                                PatternRewriter &rewriter) const override {
    Value mask = op.getMask();
    if (!mask)
      return rewriter.notifyMatchFailure(op, "there is no mask");
    if (isConstantZero(mask)) {
      rewriter.eraseOp(op);
      return success();
    }
    if (!isConstantOne(mask))
      return rewriter.notifyMatchFailure(op, "mask is not a constant");
    rewriter.modifyOpInPlace(op, [&] { op.getMaskMutable().clear(); });
    return success();
  }
};

} // namespace

void LoadOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                         MLIRContext *context) {
  patterns.add<LoadOfConstantMask>(context);
}

//===----------------------------------------------------------------------===//
// StoreOp
//===----------------------------------------------------------------------===//

void StoreOp::build(OpBuilder &builder, OperationState &state, Value ptr,
                    Value value, CacheModifier cache, EvictionPolicy evict) {
  build(builder, state, ptr, value, /*mask=*/Value(), cache, evict);
}

void StoreOp::build(OpBuilder &builder, OperationState &state, Value ptr,
                    Value value, Value mask, CacheModifier cache,
                    EvictionPolicy evict) {
  build(builder, state, ptr, value, mask, /*boundaryCheck=*/ArrayRef<int32_t>(),
        cache, evict);
}

void StoreOp::build(OpBuilder &builder, OperationState &state, Value ptr,
                    Value value, ArrayRef<int32_t> boundaryCheck,
                    CacheModifier cache, EvictionPolicy evict) {
  build(builder, state, ptr, value, /*mask=*/Value(), boundaryCheck, cache,
        evict);
}

void StoreOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Write::get(), &getPtrMutable(),
                       GlobalMemory::get());
}

LogicalResult StoreOp::verify() {
  return verifyBoundaryCheck(*this, getPtr().getType(), getMask(),
                             getBoundaryCheck());
}

void StoreOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                          MLIRContext *context) {
  patterns.add<StoreOfConstantMask>(context);
}
