//===-- ConvertLayoutOpToLLVM.cpp - Conversions by exchanges of lanes -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// v_permlane32_swap and v_permlane16_swap exchange the upper half of one
// register with the lower half of another: a bit of the register's number and
// one of the lane's change places.
//
//===----------------------------------------------------------------------===//

#include "amd/TritonAMDGPUToLLVM/Patterns.h"

#include "tile/Analysis/ConvertLayoutPlan.h"
#include "tile/Conversion/TritonGPUToLLVM/Elements.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;

namespace {
/// Two registers of the source, of which the lanes whose bit is set hold in the
/// first what the others need, and the other way around; and where that goes.
struct Exchange {
  uint64_t sources[2], results[2];
};

/// A plan that is nothing but exchanges of lanes that differ in one bit.
struct ExchangePlan {
  unsigned laneBit;
  SmallVector<Exchange> exchanges;
};

/// The only column that is not zero, if there is one, has a single bit there.
std::optional<std::pair<unsigned, uint64_t>>
findOnlyBit(const F2Matrix &matrix) {
  std::optional<std::pair<unsigned, uint64_t>> found;
  for (auto [i, column] : llvm::enumerate(matrix.columns())) {
    if (!column)
      continue;
    if (found || !llvm::isPowerOf2_64(column))
      return std::nullopt;
    found.emplace(i, column);
  }
  return found;
}

std::optional<ExchangePlan> match(const ShufflePlan &plan) {
  auto sent = findOnlyBit(plan.srcSelect), stored = findOnlyBit(plan.dstSelect);
  if (!sent || !stored || sent->first != stored->first || !plan.isButterfly() ||
      llvm::any_of(plan.srcSelectRest.columns(),
                   [](uint64_t column) { return column != 0; }) ||
      plan.numSrcRegs != plan.numKeptDstRegs ||
      plan.numDstRegs != plan.numKeptDstRegs)
    return std::nullopt;
  ExchangePlan result{sent->first, {}};
  for (const ShufflePlan::Round &stays : plan.rounds) {
    if (stays.laneXor != 0)
      continue;
    auto moves = llvm::find_if(plan.rounds, [&](const auto &round) {
      return round.dstReg == (stays.dstReg ^ stored->second);
    });
    if (moves == plan.rounds.end() ||
        moves->laneXor != uint64_t(1) << result.laneBit ||
        moves->srcReg != (stays.srcReg ^ sent->second))
      return std::nullopt;
    result.exchanges.push_back(
        {{stays.srcReg, moves->srcReg}, {stays.dstReg, moves->dstReg}});
  }
  if (2 * result.exchanges.size() != plan.rounds.size())
    return std::nullopt;
  return result;
}

/// Bits of registers' numbers: of the result and of the source.
using RegisterBits = std::pair<unsigned, unsigned>;

struct ConvertLayoutPattern : TargetPattern<gpu::ConvertLayoutOp> {
  using TargetPattern::TargetPattern;

  LogicalResult
  matchAndRewrite(gpu::ConvertLayoutOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto sourceType = cast<RankedTensorType>(op.getSrc().getType());
    ConvertLayoutPlan plan = ConvertLayoutPlan::of(op);
    if (plan.route != ConvertLayoutPlan::Route::Shuffle)
      return failure();
    std::optional<ExchangePlan> exchange = match(*plan.shuffles);
    Type element = getConverter().convertType(sourceType.getElementType());
    if (!exchange || !element.isIntOrFloat() ||
        element.getIntOrFloatBitWidth() > kWordBits ||
        element.getIntOrFloatBitWidth() < 8)
      return failure();
    StringRef name;
    if (exchange->laneBit == 5)
      name = "llvm.amdgcn.permlane32.swap";
    else if (exchange->laneBit == 4)
      name = "llvm.amdgcn.permlane16.swap";
    else
      return failure();

    // Narrow elements travel together.
    SmallVector<RegisterBits> together;
    unsigned width = element.getIntOrFloatBitWidth();
    for (RegisterBits bits : plan.shuffles->getPackableBits())
      if (width << (together.size() + 1) <= kWordBits)
        together.push_back(bits);

    LLVMBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> values =
        removeBroadcastedRegisters(plan.source)
            .apply(unpackElements(b, adaptor.getSrc(), sourceType));
    SmallVector<Value> results(values.size());
    for (const Exchange &one : exchange->exchanges) {
      if (llvm::any_of(together, [&](RegisterBits bits) {
            return one.results[0] >> bits.first & 1;
          }))
        continue; // travels with another
      exchangeWords(b, name, one, together, values, results);
    }
    results = broadcastRegisters<Value>(results, plan.result);
    rewriter.replaceOp(op,
                       packElements(b, getConverter(), results, op.getType()));
    return success();
  }

private:
  static constexpr unsigned kWordBits = 32;

  static void exchangeWords(const LLVMBuilder &b, StringRef name,
                            const Exchange &one,
                            ArrayRef<RegisterBits> together,
                            ArrayRef<Value> values,
                            MutableArrayRef<Value> results) {
    Type i32 = b.intTy(kWordBits);
    Type element = values.front().getType();
    unsigned count = 1u << together.size();
    auto getRegister = [&](uint64_t reg, unsigned index, bool isResult) {
      for (auto [i, bits] : llvm::enumerate(together))
        if (index >> i & 1)
          reg ^= uint64_t(1) << (isResult ? bits.first : bits.second);
      return reg;
    };
    unsigned width = count * element.getIntOrFloatBitWidth();
    SmallVector<Value> words;
    for (uint64_t source : one.sources) {
      SmallVector<Value> elements;
      for (unsigned i = 0; i < count; ++i)
        elements.push_back(values[getRegister(source, i, false)]);
      words.push_back(
          b.zext(i32, b.bitcast(b.packVector(elements), b.intTy(width))));
    }
    Type pair = LLVM::LLVMStructType::getLiteral(i32.getContext(), {i32, i32});
    Value exchanged = b.intrinsic(
        pair, name, ValueRange{words[0], words[1], b.i1(false), b.i1(false)});
    for (auto [at, result] : llvm::enumerate(one.results)) {
      Value word = b.trunc(b.intTy(width), b.extractVal(exchanged, at));
      Type packed = count == 1 ? element : LLVMBuilder::vecTy(element, count);
      for (auto [i, value] :
           llvm::enumerate(b.unpackVector(b.bitcast(word, packed))))
        results[getRegister(result, i, true)] = value;
    }
  }
};
} // namespace

void amd::populateConvertLayoutPatterns(const LoweringContext &context,
                                        const TargetInfo &target) {
  if (target.getFacts().hasLaneSwaps)
    context.add<ConvertLayoutPattern>();
}
