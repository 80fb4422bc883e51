//===-- MapElementwiseOpToLLVM.cpp - The user's scalar code ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Conversion/TritonGPUToLLVM/ElementwisePattern.h"
#include "tile/Conversion/TritonGPUToLLVM/InlineRegion.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

namespace {
/// The registers, relative to the first one, that hold `pack` neighbours along
/// the last dimension. Nullopt if no thread holds these.
std::optional<SmallVector<int32_t>> getNeighbours(RankedTensorType type,
                                                  unsigned pack) {
  LinearLayout layout = toLinearLayout(type);
  unsigned last = type.getRank() - 1;
  SmallVector<int32_t> registers{0};
  for (int32_t distance = 1; distance < int32_t(pack); distance *= 2) {
    SmallVector<int32_t> step(type.getRank(), 0);
    step[last] = distance;
    unsigned bit = 0, bits = layout.getInDimSizeLog2(kRegister);
    while (bit < bits &&
           ArrayRef<int32_t>(layout.getBasis(kRegister, bit)) != ArrayRef(step))
      ++bit;
    if (bit == bits)
      return std::nullopt;
    for (int32_t r : SmallVector<int32_t>(registers))
      registers.push_back(r | 1 << bit);
  }
  return registers;
}

/// `pack` neighbours go through one copy of the region.
struct MapElementwisePattern : TargetPattern<MapElementwiseOp> {
  using TargetPattern::TargetPattern;

  LogicalResult
  matchAndRewrite(MapElementwiseOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    unsigned pack = op.getPack();
    auto type = cast<RankedTensorType>(op.getSrcs().front().getType());
    std::optional<SmallVector<int32_t>> neighbours = getNeighbours(type, pack);
    if (!neighbours)
      return op.emitOpError("expected a layout in which a thread holds ")
             << pack << " neighbours along the last dimension, found "
             << type.getEncoding();
    // Registers that repeat others take part only where they must.
    SmallVector<int32_t> first = getFirstRegisters(type);
    SmallVector<int32_t> starts;
    for (auto [r, same] : llvm::enumerate(first))
      if (static_cast<int32_t>(r) == same && !(r & neighbours->back()))
        starts.push_back(r);

    SmallVector<SmallVector<Value>> operands;
    for (auto [value, original] : llvm::zip(adaptor.getSrcs(), op.getSrcs()))
      operands.push_back(unpackElements(b, value, original.getType()));
    SmallVector<SmallVector<Value>> results(op.getNumResults(),
                                            SmallVector<Value>(first.size()));
    for (int32_t start : starts) {
      auto registers = llvm::map_to_vector(
          *neighbours, [&](int32_t r) { return start | r; });
      SmallVector<Value> args;
      for (const SmallVector<Value> &values : operands)
        for (int32_t r : registers)
          args.push_back(values[r]);
      SmallVector<Value> returned =
          inlineRegion(b, getConverter(), op.getScalarOp(), args);
      for (auto [i, values] : llvm::enumerate(results))
        for (auto [k, r] : llvm::enumerate(registers))
          values[r] = returned[i * pack + k];
    }
    SmallVector<Value> packed;
    for (auto [values, result] : llvm::zip(results, op.getResults())) {
      for (auto [r, same] : llvm::enumerate(first))
        values[r] = values[same];
      packed.push_back(
          packElements(b, getConverter(), values, result.getType()));
    }
    rewriter.replaceOp(op, packed);
    return success();
  }
};
} // namespace

void triton::populateMapElementwisePatterns(const LoweringContext &context) {
  context.add<MapElementwisePattern>();
}
