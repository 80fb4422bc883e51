//===-- Fp4ToFpToLLVM.cpp - Numbers of four bits to 16 bits ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// There are eight magnitudes, and prmt looks four of them up at once in a table
// of eight bytes. As f16 their low bytes are zero; bf16 takes a second table.
//
//===----------------------------------------------------------------------===//

#include "nvidia/TritonNVIDIAGPUToLLVM/Patterns.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"

using namespace mlir;
using namespace mlir::triton;
namespace nvt = mlir::triton::nvidia;
namespace ttg = mlir::triton::gpu;

namespace {
/// Bytes of 0, 0.5, 1, 1.5, 2, 3, 4, 6, the first in the lowest byte.
struct Table {
  uint32_t low, high;
};
constexpr Table kHighOfF16 = {0x3E3C3800, 0x46444240};
constexpr Table kHighOfBF16 = {0x3F3F3F00, 0x40404040};
constexpr Table kLowOfBF16 = {0xC0800000, 0xC0804000};

struct Fp4ToFpPattern : TargetPattern<ttg::Fp4ToFpOp> {
  using TargetPattern::TargetPattern;

  LogicalResult
  matchAndRewrite(ttg::Fp4ToFpOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    auto sourceType = cast<RankedTensorType>(op.getSrc().getType());
    auto resultType = cast<RankedTensorType>(op.getType());
    Type element = resultType.getElementType();
    SmallVector<Value> bytes = unpackElements(b, adaptor.getSrc(), sourceType);
    unsigned count = bytes.size();
    // Four bytes, eight numbers at a time.
    bytes.resize(llvm::alignTo(count, 4), bytes.back());
    SmallVector<Value> numbers;
    for (unsigned i = 0; i < bytes.size(); i += 4) {
      Value word =
          b.bitcast(b.packVector(ArrayRef(bytes).slice(i, 4)), b.intTy(32));
      for (Value pair : extend(b, word, element.isBF16()))
        llvm::append_range(
            numbers, b.unpackVector(b.bitcast(pair, b.vecTy(element, 2))));
    }

    // Both numbers of a byte are in the byte's thread; in which registers, the
    // layouts say.
    LinearLayout source = toLinearLayout(sourceType);
    LinearLayout sourceRegisters =
        source.sublayout({kRegister}, source.getOutDimNames());
    RegisterTable table(toLinearLayout(resultType));
    llvm::DenseMap<int32_t, Value> valueAt;
    for (unsigned r = 0; r < count; ++r) {
      SmallVector<int32_t> coords(sourceType.getRank());
      for (auto [dim, at] :
           sourceRegisters.apply({{kRegister, static_cast<int32_t>(r)}}))
        coords[source.getOutDimIndex(dim)] = at;
      coords[op.getAxis()] *= 2;
      for (unsigned half : {0, 1}) {
        int32_t place = table.lookup(coords);
        if (place < 0)
          return this->decline(op, "the layout of the result puts a number "
                                   "into another thread");
        valueAt[place] = numbers[2 * r + half];
        ++coords[op.getAxis()];
      }
    }
    SmallVector<Value> results;
    LinearLayout result = toLinearLayout(resultType);
    LinearLayout resultRegisters =
        result.sublayout({kRegister}, result.getOutDimNames());
    for (int32_t r = 0, e = result.getInDimSize(kRegister); r < e; ++r) {
      SmallVector<int32_t> coords(resultType.getRank());
      for (auto [dim, at] : resultRegisters.apply({{kRegister, r}}))
        coords[result.getOutDimIndex(dim)] = at;
      Value value = valueAt.lookup(table.lookup(coords));
      if (!value)
        return this->decline(op, "a register has no source");
      results.push_back(value);
    }
    rewriter.replaceOp(op,
                       packElements(b, getConverter(), results, resultType));
    return success();
  }

private:
  static Value permute(const LLVMBuilder &b, Value low, Value high,
                       Value selector) {
    return b.create<NVVM::PermuteOp>(b.intTy(32), low, high, selector,
                                     NVVM::PermuteMode::DEFAULT);
  }

  /// Four words of two numbers each, from eight numbers in one word.
  static SmallVector<Value> extend(const LLVMBuilder &b, Value word,
                                   bool toBF16) {
    auto lookUp = [&](Table table, Value selector) {
      return permute(b, b.i32(static_cast<int32_t>(table.low)),
                     b.i32(static_cast<int32_t>(table.high)), selector);
    };
    SmallVector<Value> pairs;
    Value zero = b.i32(0);
    for (unsigned shift : {0, 16}) {
      Value four = shift ? b.lshr(word, b.i32(shift)) : word;
      Value magnitudes = b.and_(four, b.i32(0x7777));
      Value signs = b.and_(b.lshr(four, b.i32(3)), b.i32(0x1111));
      Value high = b.or_(lookUp(toBF16 ? kHighOfBF16 : kHighOfF16, magnitudes),
                         lookUp({0x8000, 0}, signs));
      Value low = toBF16 ? lookUp(kLowOfBF16, magnitudes) : zero;
      pairs.push_back(permute(b, low, high, b.i32(0x5140)));
      pairs.push_back(permute(b, low, high, b.i32(0x7362)));
    }
    return pairs;
  }
};
} // namespace

void nvt::populateFp4ToFpPatterns(const LoweringContext &context) {
  context.add<Fp4ToFpPattern>();
}
