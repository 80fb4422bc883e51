//===-- RewriteTensorPointer.cpp - Block pointers to pointers -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "BlockAccess.h"
#include "DecomposeTypes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/Triton/Transforms/Passes.h"

#define DEBUG_TYPE "triton-rewrite-tensor-pointer"

namespace mlir::triton {
#define GEN_PASS_DEF_TRITONREWRITETENSORPOINTER
#include "tile/Dialect/Triton/Transforms/Passes.h.inc"
} // namespace mlir::triton

using namespace mlir;
using namespace mlir::triton;

//===----------------------------------------------------------------------===//
// The parts of a block pointer
//===----------------------------------------------------------------------===//

namespace {

/// A block pointer as values: base, shape, strides, offsets. All but the base
/// are i64.
struct Parts : StridedParts {
  Parts(ValueRange values) : StridedParts(values, (values.size() - 1) / 3) {}
  ValueRange getOffsets() const { return getRest(); }
};

} // namespace

static std::optional<LogicalResult>
convertBlockPointer(PointerType type, SmallVectorImpl<Type> &types) {
  auto block = dyn_cast<RankedTensorType>(type.getPointeeType());
  if (!block)
    return std::nullopt;
  types.push_back(getBlockBaseType(type));
  types.append(3 * block.getRank(), IntegerType::get(type.getContext(), 64));
  return success();
}

/// The addresses that an access through a block pointer reads or writes.
static BlockAccess makeAccess(OpBuilder &builder, Location loc, Parts parts,
                              RankedTensorType block,
                              ArrayRef<int32_t> boundaryCheck) {
  SmallVector<BlockDim> dims;
  for (int32_t i = 0, e = block.getRank(); i < e; ++i)
    dims.push_back(
        {makeIndices(builder, loc, parts.getOffsets()[i], block.getDimSize(i)),
         parts.getStrides()[i],
         llvm::is_contained(boundaryCheck, i) ? parts.getShape()[i] : Value()});
  return makeBlockAccess(builder, loc, parts.getBase(), dims);
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {

struct RewriteMake : public OpConversionPattern<MakeTensorPtrOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(MakeTensorPtrOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> parts = {op.getBase()};
    llvm::append_range(parts, op.getShape());
    llvm::append_range(parts, op.getStrides());
    for (Value offset : op.getOffsets())
      parts.push_back(extendToI64(rewriter, op.getLoc(), offset));
    rewriter.replaceOpWithMultiple(op, {parts});
    return success();
  }
};

struct RewriteAdvance : public OpConversionPattern<AdvanceOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(AdvanceOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Parts old(adaptor.getPtr());
    SmallVector<Value> parts(adaptor.getPtr());
    parts.truncate(parts.size() - old.getOffsets().size());
    for (auto [offset, delta] :
         llvm::zip_equal(old.getOffsets(), op.getOffsets()))
      parts.push_back(rewriter.createOrFold<arith::AddIOp>(
          op.getLoc(), offset, extendToI64(rewriter, op.getLoc(), delta)));
    rewriter.replaceOpWithMultiple(op, {parts});
    return success();
  }
};

struct RewriteLoad : public OpConversionPattern<LoadOp> {
  RewriteLoad(const TypeConverter &converter, MLIRContext *context,
              PassStatistic &count)
      : OpConversionPattern(converter, context), count(count) {}

  LogicalResult
  matchAndRewrite(LoadOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto block = cast<RankedTensorType>(op.getType());
    if (block.getEncoding())
      return rewriter.notifyMatchFailure(op, "layouts have been chosen");
    BlockAccess access = makeAccess(rewriter, op.getLoc(), adaptor.getPtr(),
                                    block, op.getBoundaryCheck());
    // Elements behind the bounds are defined: zero unless padded otherwise.
    Value other;
    if (access.mask)
      other = makePadding(rewriter, op.getLoc(), block,
                          op.getPadding() == PaddingOption::PAD_NAN);
    auto load =
        LoadOp::create(rewriter, op.getLoc(), access.pointers, access.mask,
                       other, op.getCache(), op.getEvict(), op.getIsVolatile());
    load->setDiscardableAttrs(llvm::to_vector(op->getDiscardableAttrs()));
    rewriter.replaceOp(op, load);
    ++count;
    return success();
  }

  PassStatistic &count;
};

struct RewriteStore : public OpConversionPattern<StoreOp> {
  RewriteStore(const TypeConverter &converter, MLIRContext *context,
               PassStatistic &count)
      : OpConversionPattern(converter, context), count(count) {}

  LogicalResult
  matchAndRewrite(StoreOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto block = cast<RankedTensorType>(op.getValue().getType());
    if (block.getEncoding())
      return rewriter.notifyMatchFailure(op, "layouts have been chosen");
    BlockAccess access = makeAccess(rewriter, op.getLoc(), adaptor.getPtr(),
                                    block, op.getBoundaryCheck());
    auto store =
        StoreOp::create(rewriter, op.getLoc(), access.pointers, op.getValue(),
                        access.mask, op.getCache(), op.getEvict());
    store->setDiscardableAttrs(llvm::to_vector(op->getDiscardableAttrs()));
    rewriter.eraseOp(op);
    ++count;
    return success();
  }

  PassStatistic &count;
};

struct TritonRewriteTensorPointer
    : public triton::impl::TritonRewriteTensorPointerBase<
          TritonRewriteTensorPointer> {
  using Base::Base;

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    TypeConverter converter;
    converter.addConversion([](Type type) { return type; });
    converter.addConversion(convertBlockPointer);

    ConversionTarget target(*context);
    RewritePatternSet patterns(context);
    populateDecompositionPatterns(converter, patterns, target);
    patterns.add<RewriteMake, RewriteAdvance>(converter, context);
    patterns.add<RewriteLoad, RewriteStore>(converter, context, numAccesses);
    if (failed(applyDecomposition(getOperation(), target, std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
