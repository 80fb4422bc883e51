//===-- RegisterOpsToLLVM.cpp - Elements inside a thread ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "amd/IR/Dialect.h"
#include "amd/TritonAMDGPUToLLVM/Patterns.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::amdgpu;

namespace {
SmallVector<int64_t> getOffsets(InThreadTransposeOp op) {
  return SmallVector<int64_t>(op.getType().getRank(), 0);
}
SmallVector<int64_t> getOffsets(ExtractSliceOp op) {
  return llvm::to_vector(op.getStaticOffsets());
}

/// Operations whose result is among the elements of one source.
template <typename OpT> struct SlicePattern : TargetPattern<OpT> {
  using TargetPattern<OpT>::TargetPattern;
  LogicalResult
  matchAndRewrite(OpT op, typename OpT::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    auto from = cast<RankedTensorType>(op->getOperand(0).getType());
    auto registers = getSliceRegisters(from, op.getType(), getOffsets(op));
    if (!registers)
      return this->decline(op, "the layouts would move elements between "
                               "threads");
    SmallVector<Value> values =
        unpackElements(b, adaptor.getOperands()[0], from);
    SmallVector<Value> elements;
    for (int32_t r : *registers)
      elements.push_back(values[r]);
    rewriter.replaceOp(
        op, packElements(b, this->getConverter(), elements, op.getType()));
    return success();
  }
};

struct ConcatPattern : TargetPattern<ConcatOp> {
  using TargetPattern::TargetPattern;
  LogicalResult
  matchAndRewrite(ConcatOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    RankedTensorType type = op.getType();
    SmallVector<Value> elements(gpu::getTotalElemsPerThread(type));
    for (auto [i, source] : llvm::enumerate(op.getSources())) {
      auto part = cast<RankedTensorType>(source.getType());
      auto registers = getSliceRegisters(type, part, op.getOffsets(i));
      if (!registers)
        return decline(op, "the layouts would move elements between threads");
      SmallVector<Value> values =
          unpackElements(b, adaptor.getSources()[i], part);
      for (auto [value, r] : llvm::zip(values, *registers))
        elements[r] = value;
    }
    // Registers that repeat others have their value.
    auto whole =
        getSliceRegisters(type, type, SmallVector<int64_t>(type.getRank(), 0));
    for (auto [r, same] : llvm::enumerate(*whole))
      elements[r] = elements[same];
    rewriter.replaceOp(op, packElements(b, getConverter(), elements, type));
    return success();
  }
};
} // namespace

void amd::populateRegisterPatterns(const LoweringContext &context) {
  context.add<SlicePattern<InThreadTransposeOp>, SlicePattern<ExtractSliceOp>,
              ConcatPattern>();
}
