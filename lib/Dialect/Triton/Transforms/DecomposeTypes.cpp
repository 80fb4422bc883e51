//===-- DecomposeTypes.cpp - Values that become several -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "DecomposeTypes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Transforms/RegionUtils.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;

bool triton::isSplit(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && !tensor.getEncoding() &&
         llvm::any_of(tensor.getShape(), [](int64_t extent) {
           return !llvm::isPowerOf2_64(extent);
         });
}

bool triton::hasValueOfType(Operation *root, function_ref<bool(Type)> isSuch) {
  return root
      ->walk([&](Operation *op) {
        bool found = llvm::any_of(op->getResultTypes(), isSuch);
        for (Region &region : op->getRegions())
          for (Block &block : region)
            found |= llvm::any_of(block.getArgumentTypes(), isSuch);
        return found ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

static SmallVector<Value> flatten(ArrayRef<ValueRange> values) {
  SmallVector<Value> result;
  for (ValueRange range : values)
    llvm::append_range(result, range);
  return result;
}

namespace {

struct DecomposeFunc : public OpConversionPattern<FuncOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(FuncOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    FunctionType type = op.getFunctionType();
    TypeConverter::SignatureConversion arguments(type.getNumInputs());
    SmallVector<Type> results;
    if (failed(getTypeConverter()->convertSignatureArgs(type.getInputs(),
                                                        arguments)) ||
        failed(getTypeConverter()->convertTypes(type.getResults(), results)))
      return rewriter.notifyMatchFailure(op, "signature has no conversion");
    if (!op.isExternal() &&
        failed(rewriter.convertRegionTypes(&op.getBody(), *getTypeConverter(),
                                           &arguments)))
      return rewriter.notifyMatchFailure(op, "body has no conversion");
    SmallVector<Attribute> argAttrs =
        spread(op.getArgAttrsAttr(), type.getInputs());
    SmallVector<Attribute> resAttrs =
        spread(op.getResAttrsAttr(), type.getResults());
    rewriter.modifyOpInPlace(op, [&] {
      op.setFunctionType(
          rewriter.getFunctionType(arguments.getConvertedTypes(), results));
      if (op.getArgAttrsAttr())
        op.setArgAttrsAttr(rewriter.getArrayAttr(argAttrs));
      if (op.getResAttrsAttr())
        op.setResAttrsAttr(rewriter.getArrayAttr(resAttrs));
    });
    return success();
  }

private:
  /// The attributes of values that stay one; what is noted of a value that
  /// becomes several is true of none of them.
  SmallVector<Attribute> spread(ArrayAttr attrs, TypeRange types) const {
    SmallVector<Attribute> result;
    if (!attrs)
      return result;
    for (auto [attr, type] : llvm::zip_equal(attrs, types)) {
      SmallVector<Type> converted;
      (void)getTypeConverter()->convertType(type, converted);
      if (converted.size() == 1)
        result.push_back(attr);
      else
        result.append(converted.size(), DictionaryAttr::get(getContext()));
    }
    return result;
  }
};

struct DecomposeCall : public OpConversionPattern<CallOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(CallOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    SmallVector<size_t> sizes;
    for (Type type : op.getResultTypes()) {
      size_t before = types.size();
      if (failed(getTypeConverter()->convertType(type, types)))
        return rewriter.notifyMatchFailure(op, "result has no conversion");
      sizes.push_back(types.size() - before);
    }
    auto call = CallOp::create(rewriter, op.getLoc(), op.getCallee(), types,
                               flatten(adaptor.getOperands()));
    call->setDiscardableAttrs(llvm::to_vector(op->getDiscardableAttrs()));
    SmallVector<ValueRange> results;
    size_t start = 0;
    for (size_t size : sizes) {
      results.push_back(call.getResults().slice(start, size));
      start += size;
    }
    rewriter.replaceOpWithMultiple(op, results);
    return success();
  }
};

struct DecomposeReturn : public OpConversionPattern<ReturnOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(ReturnOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<ReturnOp>(op, flatten(adaptor.getOperands()));
    return success();
  }
};

struct DecomposeBranch : public OpConversionPattern<cf::BranchOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(cf::BranchOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<cf::BranchOp>(op, op.getDest(),
                                              flatten(adaptor.getOperands()));
    return success();
  }
};

struct DecomposeCondBranch : public OpConversionPattern<cf::CondBranchOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(cf::CondBranchOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<cf::CondBranchOp>(
        op, op.getCondition(), op.getTrueDest(),
        flatten(adaptor.getTrueDestOperands()), op.getFalseDest(),
        flatten(adaptor.getFalseDestOperands()));
    return success();
  }
};

struct DecomposeSelect : public OpConversionPattern<arith::SelectOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(arith::SelectOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    // One condition for all parts, or one for each.
    ValueRange conditions = adaptor.getCondition();
    SmallVector<Value> parts;
    for (auto [part, ifTrue, ifFalse] :
         llvm::enumerate(adaptor.getTrueValue(), adaptor.getFalseValue()))
      parts.push_back(rewriter.createOrFold<arith::SelectOp>(
          op.getLoc(), conditions[conditions.size() == 1 ? 0 : part], ifTrue,
          ifFalse));
    rewriter.replaceOpWithMultiple(op, {parts});
    return success();
  }
};

/// The front end returns poison from code that is never reached.
struct DecomposePoison : public OpConversionPattern<ub::PoisonOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(ub::PoisonOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertType(op.getType(), types)))
      return rewriter.notifyMatchFailure(op, "type has no conversion");
    auto parts = llvm::map_to_vector(types, [&](Type type) -> Value {
      return ub::PoisonOp::create(rewriter, op.getLoc(), type, op.getValue());
    });
    rewriter.replaceOpWithMultiple(op, {parts});
    return success();
  }
};

} // namespace

void triton::populateDecompositionPatterns(const TypeConverter &converter,
                                           RewritePatternSet &patterns,
                                           ConversionTarget &target) {
  patterns.add<DecomposeFunc, DecomposeCall, DecomposeReturn, DecomposeBranch,
               DecomposeCondBranch, DecomposeSelect, DecomposePoison>(
      converter, patterns.getContext());
  target.markUnknownOpDynamicallyLegal(
      [&converter](Operation *op) { return converter.isLegal(op); });
  target.addDynamicallyLegalOp<FuncOp>([&converter](FuncOp op) {
    return converter.isSignatureLegal(op.getFunctionType()) &&
           converter.isLegal(&op.getBody());
  });
  scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                       target);
}

LogicalResult triton::applyDecomposition(Operation *op,
                                         const ConversionTarget &target,
                                         RewritePatternSet &&patterns) {
  IRRewriter rewriter(op->getContext());
  (void)eraseUnreachableBlocks(rewriter, op->getRegions());
  return applyPartialConversion(op, target, std::move(patterns));
}
