//===-- ElementwisePattern.h - One template for all elementwise ops -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_CONVERSION_TRITONGPUTOLLVM_ELEMENTWISEPATTERN_H
#define TILE_CONVERSION_TRITONGPUTOLLVM_ELEMENTWISEPATTERN_H

#include "tile/Analysis/AxisInfo.h"
#include "tile/Conversion/TritonGPUToLLVM/Patterns.h"
#include <functional>

namespace mlir::triton {

/// Registers of a tensor type that repeat an earlier register. For each
/// register, the first that holds the same element. Or, as far as `info` (of
/// the value, may be null) tells, an element of the same value.
SmallVector<int32_t> getFirstRegisters(Type type,
                                       const AxisInfo *info = nullptr);

/// Lowers an operation on scalars or tensors by a function on elements. The
/// function gets the converted operands of one element and returns the value of
/// the result, or null if it cannot handle the types (another pattern may).
template <typename OpT> class ElementwisePattern : public TargetPattern<OpT> {
public:
  using Emit = std::function<Value(OpT op, const LLVMBuilder &b,
                                   Type resultType, ValueRange operands)>;

  ElementwisePattern(const LoweringContext &context, Emit emit)
      : TargetPattern<OpT>(context.converter, context.target, context.benefit),
        axisInfo(context.axisInfo), emit(std::move(emit)) {}

  LogicalResult
  matchAndRewrite(OpT op, typename OpT::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    Type type = op->getResult(0).getType();
    Type element =
        this->getConverter().convertType(getTensorElementOrSelf(type));
    if (!element)
      return this->decline(op, "result type has no LLVM type");
    SmallVector<SmallVector<Value>> operands;
    for (auto [value, original] :
         llvm::zip(adaptor.getOperands(), op->getOperandTypes()))
      operands.push_back(unpackElements(b, value, original));

    SmallVector<int32_t> first =
        getFirstRegisters(type, axisInfo.getAxisInfo(op->getResult(0)));
    SmallVector<Value> results(first.size());
    for (auto [i, same] : llvm::enumerate(first)) {
      if (static_cast<int32_t>(i) != same) {
        results[i] = results[same];
        continue;
      }
      SmallVector<Value> args;
      // Some operations mix a scalar (a select's condition) with tensors.
      for (const SmallVector<Value> &values : operands)
        args.push_back(values.size() == 1 ? values[0] : values[i]);
      results[i] = emit(op, b, element, args);
      if (!results[i])
        return this->decline(op, "unsupported element type");
    }
    rewriter.replaceOp(op,
                       packElements(b, this->getConverter(), results, type));
    return success();
  }

private:
  const ModuleAxisInfoAnalysis &axisInfo;
  Emit emit;
};

template <typename OpT>
void addElementwise(const LoweringContext &context,
                    typename ElementwisePattern<OpT>::Emit emit) {
  context.patterns.add<ElementwisePattern<OpT>>(context, std::move(emit));
}

} // namespace mlir::triton

#endif // TILE_CONVERSION_TRITONGPUTOLLVM_ELEMENTWISEPATTERN_H
