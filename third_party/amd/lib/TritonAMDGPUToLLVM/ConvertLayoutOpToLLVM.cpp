//===-- ConvertLayoutOpToLLVM.cpp - Conversions by exchanges of lanes -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// v_permlane32_swap and v_permlane16_swap exchange the upper half of one
// register with the lower half of another: a bit of the register's number and
// one of the lane's change places. Conversions that permute such bits are one
// exchange, or one for each of the two bits of the lane.
//
//===----------------------------------------------------------------------===//

#include "amd/TritonAMDGPUToLLVM/Patterns.h"

#include "tile/Analysis/ConvertLayoutPlan.h"
#include "tile/Conversion/TritonGPUToLLVM/Elements.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace mlir::triton;

namespace {
constexpr unsigned kWordBits = 32;

/// A bit of the register's number and one of the lane's change places.
struct Swap {
  unsigned registerBit, laneBit;
};

/// A conversion that permutes bits of the register's and the lane's numbers.
struct SwapPlan {
  SmallVector<Swap> swaps;
  /// For each register bit of the result, that of the source where its content
  /// is after the swaps.
  SmallVector<unsigned> registerBits;
};

/// A bit of the register's number, or one of the lane's.
struct LayoutBit {
  bool isLane;
  unsigned bit;
  bool operator==(const LayoutBit &other) const {
    return isLane == other.isLane && bit == other.bit;
  }
  bool operator!=(const LayoutBit &other) const { return !(*this == other); }
};

/// The places of a wave, but for those of copies, with what they stand for in
/// the tensor.
SmallVector<std::pair<LayoutBit, uint64_t>>
getPlaces(const LinearLayout &layout) {
  SmallVector<std::pair<LayoutBit, uint64_t>> places;
  for (bool isLane : {false, true}) {
    StringRef dim = isLane ? kLane : kRegister;
    for (unsigned bit = 0; bit < layout.getInDimSizeLog2(dim); ++bit)
      if (uint64_t basis = layout.getFlatBasis(dim, bit))
        places.push_back({{isLane, bit}, basis});
  }
  return places;
}

/// Where the source has what each place of the result stands for.
std::optional<SmallVector<std::pair<LayoutBit, LayoutBit>>>
findPermutation(const LinearLayout &source, const LinearLayout &result) {
  for (StringRef dim : {kWarp, kBlock}) {
    if (source.getInDimSizeLog2(dim) != result.getInDimSizeLog2(dim))
      return std::nullopt;
    for (unsigned bit = 0; bit < source.getInDimSizeLog2(dim); ++bit)
      if (source.getFlatBasis(dim, bit) != result.getFlatBasis(dim, bit))
        return std::nullopt;
  }
  auto sources = getPlaces(source);
  SmallVector<std::pair<LayoutBit, LayoutBit>> found;
  for (auto [place, basis] : getPlaces(result)) {
    auto *same = llvm::find_if(sources, [basis = basis](const auto &other) {
      return other.second == basis;
    });
    if (same == sources.end())
      return std::nullopt;
    found.emplace_back(place, same->first);
  }
  return found;
}

/// A bit of the lane is exchanged as soon as a register has what belongs there:
/// another one may have to come first, so that it does.
std::optional<SwapPlan> findSwaps(const LinearLayout &source,
                                  const LinearLayout &result) {
  auto wanted = findPermutation(source, result);
  if (!wanted)
    return std::nullopt;
  SwapPlan plan;
  auto isDue = [](const std::pair<LayoutBit, LayoutBit> &one) {
    return one.first.isLane && !one.second.isLane;
  };
  for (auto *due = llvm::find_if(*wanted, isDue); due != wanted->end();
       due = llvm::find_if(*wanted, isDue)) {
    LayoutBit lane = due->first, reg = due->second;
    plan.swaps.push_back({reg.bit, lane.bit});
    for (auto &[place, current] : *wanted)
      if (current == reg)
        current = lane;
      else if (current == lane)
        current = reg;
  }
  for (auto [place, current] : *wanted) {
    if (place.isLane ? place != current : current.isLane)
      return std::nullopt;
    if (!place.isLane)
      plan.registerBits.push_back(current.bit);
  }
  return plan;
}

StringRef getIntrinsic(unsigned laneBit) {
  switch (laneBit) {
  case 5:
    return "llvm.amdgcn.permlane32.swap";
  case 4:
    return "llvm.amdgcn.permlane16.swap";
  default:
    return {};
  }
}

struct ConvertLayoutPattern : TargetPattern<gpu::ConvertLayoutOp> {
  using TargetPattern::TargetPattern;

  LogicalResult
  matchAndRewrite(gpu::ConvertLayoutOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto sourceType = cast<RankedTensorType>(op.getSrc().getType());
    ConvertLayoutPlan route = ConvertLayoutPlan::of(op);
    if (route.route != ConvertLayoutPlan::Route::Shuffle)
      return failure();
    ColumnAction distinct = removeBroadcastedRegisters(route.source);
    std::optional<SwapPlan> plan =
        findSwaps(distinct.apply(route.source),
                  removeBroadcastedRegisters(route.result).apply(route.result));
    Type element = getConverter().convertType(sourceType.getElementType());
    if (!plan || !element.isIntOrFloat() ||
        element.getIntOrFloatBitWidth() > kWordBits ||
        element.getIntOrFloatBitWidth() < 8 ||
        llvm::any_of(plan->swaps, [](Swap swap) {
          return getIntrinsic(swap.laneBit).empty();
        }))
      return failure();

    LLVMBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> values =
        distinct.apply(unpackElements(b, adaptor.getSrc(), sourceType));
    values = exchange(b, *plan, values);
    SmallVector<Value> results;
    for (uint64_t r = 0, e = 1 << plan->registerBits.size(); r < e; ++r) {
      uint64_t from = 0;
      for (auto [i, bit] : llvm::enumerate(plan->registerBits))
        from |= (r >> i & 1) << bit;
      results.push_back(values[from]);
    }
    results = broadcastRegisters<Value>(results, route.result);
    rewriter.replaceOp(op,
                       packElements(b, getConverter(), results, op.getType()));
    return success();
  }

private:
  /// The values after the exchanges. Narrow elements travel together: those of
  /// registers that no exchange tells apart.
  static SmallVector<Value> exchange(const LLVMBuilder &b, const SwapPlan &plan,
                                     ArrayRef<Value> values) {
    Type element = values.front().getType();
    unsigned width = element.getIntOrFloatBitWidth();
    uint64_t together = 0;
    for (unsigned bit = 0; values.size() >> bit > 1; ++bit)
      if (width << (llvm::popcount(together) + 1) <= kWordBits &&
          llvm::none_of(plan.swaps,
                        [&](Swap swap) { return swap.registerBit == bit; }))
        together |= uint64_t(1) << bit;
    // The registers of a word, in order, by that of their first.
    llvm::MapVector<uint64_t, SmallVector<uint64_t>> members;
    for (uint64_t r = 0; r < values.size(); ++r)
      members[r & ~together].push_back(r);

    SmallVector<Value> words;
    Type i32 = b.intTy(kWordBits);
    unsigned packed = width << llvm::popcount(together);
    for (auto &[first, registers] : members) {
      SmallVector<Value> elements;
      for (uint64_t r : registers)
        elements.push_back(values[r]);
      words.push_back(
          b.zext(i32, b.bitcast(b.packVector(elements), b.intTy(packed))));
    }
    for (Swap swap : plan.swaps) {
      uint64_t step = uint64_t(1) << llvm::popcount(
                          ~together & ((uint64_t(1) << swap.registerBit) - 1));
      for (uint64_t word = 0; word < words.size(); ++word)
        if (!(word & step))
          exchangeWords(b, getIntrinsic(swap.laneBit), words[word],
                        words[word | step]);
    }
    SmallVector<Value> results(values.size());
    for (auto [word, entry] : llvm::zip(words, members)) {
      ArrayRef<uint64_t> registers = entry.second;
      Type type = registers.size() == 1
                      ? element
                      : LLVMBuilder::vecTy(element, registers.size());
      Value part = b.bitcast(b.trunc(b.intTy(packed), word), type);
      for (auto [r, value] : llvm::zip(registers, b.unpackVector(part)))
        results[r] = value;
    }
    return results;
  }

  /// The upper lanes of `first` and the lower ones of `second` change places.
  static void exchangeWords(const LLVMBuilder &b, StringRef name, Value &first,
                            Value &second) {
    Type i32 = b.intTy(kWordBits);
    Type pair = LLVM::LLVMStructType::getLiteral(i32.getContext(), {i32, i32});
    Value exchanged = b.intrinsic(
        pair, name, ValueRange{first, second, b.i1(false), b.i1(false)});
    first = b.extractVal(exchanged, 0);
    second = b.extractVal(exchanged, 1);
  }
};
} // namespace

void amd::populateConvertLayoutPatterns(const LoweringContext &context,
                                        const TargetInfo &target) {
  if (target.getFacts().hasLaneSwaps)
    context.add<ConvertLayoutPattern>();
}
