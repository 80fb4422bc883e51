//===-- LayoutShuffles.cpp - Conversions inside a warp --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// See ShufflePlan. Which register a lane sends or writes depends on the lane:
// register r xor a function of the lane. But a shuffle names its registers by
// constants. So conditional swaps bring all registers into place before the
// shuffles, and again after them. There is one stage of swaps for each
// independent direction. Narrow elements that travel together share a 32-bit
// word.
//
//===----------------------------------------------------------------------===//
#include "tile/Conversion/TritonGPUToLLVM/LayoutShuffles.h"
#include "tile/Conversion/TritonGPUToLLVM/Elements.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;

namespace {
/// Register bits, split into those inside a word and the others.
struct WordBits {
  SmallVector<unsigned> inside, outside;

  WordBits(unsigned numRegs, ArrayRef<unsigned> inside) : inside(inside) {
    for (unsigned i = 0, e = llvm::Log2_32(numRegs); i < e; ++i)
      if (!llvm::is_contained(inside, i))
        outside.push_back(i);
  }
  /// The register of element `e` of word `w`.
  uint64_t getRegister(uint64_t w, uint64_t e) const {
    uint64_t result = 0;
    for (auto [i, bit] : llvm::enumerate(outside))
      result |= ((w >> i) & 1) << bit;
    for (auto [i, bit] : llvm::enumerate(inside))
      result |= ((e >> i) & 1) << bit;
    return result;
  }
  uint64_t getWord(uint64_t reg) const {
    uint64_t result = 0;
    for (auto [i, bit] : llvm::enumerate(outside))
      result |= ((reg >> bit) & 1) << i;
    return result;
  }
  uint64_t getNumWords() const { return uint64_t(1) << outside.size(); }
  uint64_t getNumInside() const { return uint64_t(1) << inside.size(); }
};

class ShuffleEmitter {
public:
  ShuffleEmitter(const LLVMBuilder &b, const TargetInfo &target,
                 const ThreadIndex &index, const ShufflePlan &plan,
                 unsigned numThreadBits)
      : b(b), target(target), index(index), plan(plan),
        numThreadBits(numThreadBits) {}

  SmallVector<Value> run(SmallVector<Value> values);

private:
  /// A function of the thread: bits of its flat index, then of its block.
  using Columns = SmallVector<uint64_t>;
  static Columns join(const F2Matrix &lanes, const F2Matrix &rest) {
    Columns columns(lanes.columns());
    llvm::append_range(columns, rest.columns());
    return columns;
  }
  ArrayRef<uint64_t> threadPart(ArrayRef<uint64_t> columns) const {
    return columns.take_front(numThreadBits);
  }
  ArrayRef<uint64_t> blockPart(ArrayRef<uint64_t> columns) const {
    return columns.drop_front(std::min<size_t>(columns.size(), numThreadBits));
  }

  Value parity(Value x, uint64_t mask) const;
  Value isOdd(uint64_t mask) const;
  void swapByThread(SmallVector<Value> &words, ArrayRef<uint64_t> columns,
                    const WordBits &bits) const;
  Value getSourceLane() const;
  SmallVector<Value> pack(ArrayRef<Value> values, const WordBits &bits) const;
  SmallVector<Value> unpack(ArrayRef<Value> words, Type element,
                            const WordBits &bits) const;

  const LLVMBuilder &b;
  const TargetInfo &target;
  const ThreadIndex &index;
  const ShufflePlan &plan;
  unsigned numThreadBits;
};
} // namespace

Value ShuffleEmitter::parity(Value x, uint64_t mask) const {
  Value bits = b.and_(x, b.i32(static_cast<int32_t>(mask)));
  if (!llvm::isPowerOf2_64(mask))
    bits = b.and_(b.create<LLVM::CtPopOp>(bits.getType(), bits), b.i32(1));
  return b.ne(bits, b.i32(0));
}

/// Whether an odd number of the thread's bits in `mask` are set; null if none
/// can be.
Value ShuffleEmitter::isOdd(uint64_t mask) const {
  Value result;
  if (uint64_t ofThread =
          mask & llvm::maskTrailingOnes<uint64_t>(numThreadBits))
    result = parity(index.thread, ofThread);
  if (uint64_t ofBlock = mask >> numThreadBits; ofBlock && index.block) {
    Value odd = parity(index.block, ofBlock);
    result = result ? b.xor_(result, odd) : odd;
  }
  return result;
}

/// words[r] becomes words[r ^ s], where the columns give s for each thread.
void ShuffleEmitter::swapByThread(SmallVector<Value> &words,
                                  ArrayRef<uint64_t> columns,
                                  const WordBits &bits) const {
  F2Span span;
  SmallVector<uint64_t> directions;
  for (uint64_t column : columns)
    if (span.insert(column))
      directions.push_back(column);
  for (auto [k, direction] : llvm::enumerate(directions)) {
    uint64_t mask = 0;
    for (auto [i, column] : llvm::enumerate(columns))
      mask |= ((*span.express(column) >> k) & 1) << i;
    Value condition = isOdd(mask);
    if (!condition)
      continue;
    uint64_t step = bits.getWord(direction);
    SmallVector<Value> old(words);
    for (uint64_t r = 0; r < old.size(); ++r)
      words[r] = b.select(condition, old[r ^ step], old[r]);
  }
}

/// Without the constant of the round.
Value ShuffleEmitter::getSourceLane() const {
  Columns columns = join(plan.laneMap, plan.laneMapRest);
  auto evaluate = [&](Value x, ArrayRef<uint64_t> part) {
    SmallVector<int32_t> bases(part.begin(), part.end());
    return evaluateLinear(b, x, bases);
  };
  Value lane = evaluate(index.thread, threadPart(columns));
  if (index.block)
    if (Value other = evaluate(index.block, blockPart(columns)))
      lane = lane ? b.xor_(lane, other) : other;
  return lane ? lane : b.i32(0);
}

SmallVector<Value> ShuffleEmitter::pack(ArrayRef<Value> values,
                                        const WordBits &bits) const {
  if (bits.inside.empty())
    return SmallVector<Value>(values);
  SmallVector<Value> words;
  for (uint64_t w = 0; w < bits.getNumWords(); ++w) {
    SmallVector<Value> elements;
    for (uint64_t e = 0; e < bits.getNumInside(); ++e)
      elements.push_back(values[bits.getRegister(w, e)]);
    unsigned width = elements[0].getType().getIntOrFloatBitWidth();
    words.push_back(
        b.bitcast(b.packVector(elements), b.intTy(width * elements.size())));
  }
  return words;
}

SmallVector<Value> ShuffleEmitter::unpack(ArrayRef<Value> words, Type element,
                                          const WordBits &bits) const {
  if (bits.inside.empty())
    return SmallVector<Value>(words);
  SmallVector<Value> values(words.size() << bits.inside.size());
  for (auto [w, word] : llvm::enumerate(words)) {
    Value vector =
        b.bitcast(word, LLVMBuilder::vecTy(element, bits.getNumInside()));
    for (auto [e, value] : llvm::enumerate(b.unpackVector(vector)))
      values[bits.getRegister(w, e)] = value;
  }
  return values;
}

SmallVector<Value> ShuffleEmitter::run(SmallVector<Value> values) {
  Type element = values[0].getType();
  unsigned width =
      element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 64;
  SmallVector<unsigned> srcInside, dstInside;
  if (width == 8 || width == 16)
    for (auto [dstBit, srcBit] : plan.getPackableBits())
      if (width << (srcInside.size() + 1) <= 32) {
        srcInside.push_back(srcBit);
        dstInside.push_back(dstBit);
      }
  WordBits srcBits(plan.numSrcRegs, srcInside);
  WordBits dstBits(plan.numDstRegs, dstInside);

  SmallVector<Value> sources = pack(values, srcBits);
  swapByThread(sources, join(plan.srcSelect, plan.srcSelectRest), srcBits);

  Value sourceLane;
  if (!plan.isButterfly())
    sourceLane = getSourceLane();
  SmallVector<Value> results(dstBits.getNumWords());
  for (const ShufflePlan::Round &round : plan.rounds) {
    uint64_t word = dstBits.getWord(round.dstReg);
    if (dstBits.getRegister(word, 0) != round.dstReg)
      continue; // travels with another
    Value value = sources[srcBits.getWord(round.srcReg)];
    if (plan.staysInLane(round)) {
      results[word] = value;
      continue;
    }
    Value lane;
    if (sourceLane)
      lane =
          round.laneXor ? b.xor_(sourceLane, b.i32(round.laneXor)) : sourceLane;
    results[word] = mapWords(b, value, [&](Value bits) {
      return lane ? target.shuffleIdx(b, bits, lane)
                  : target.shuffleXor(b, bits, round.laneXor);
    });
  }

  swapByThread(results, SmallVector<uint64_t>(plan.dstSelect.columns()),
               dstBits);
  SmallVector<Value> unpacked = unpack(results, element, dstBits);
  unpacked.truncate(plan.numKeptDstRegs);
  return unpacked;
}

SmallVector<Value>
triton::emitShuffles(const LLVMBuilder &b, const TargetInfo &target,
                     const ThreadIndex &index, const LinearLayout &source,
                     const LinearLayout &result, const ShufflePlan &plan,
                     ArrayRef<Value> values) {
  unsigned numThreadBits =
      source.getInDimSizeLog2(kLane) + source.getInDimSizeLog2(kWarp);
  ShuffleEmitter emitter(b, target, index, plan, numThreadBits);
  SmallVector<Value> results =
      emitter.run(removeBroadcastedRegisters(source).apply(values));
  return broadcastRegisters<Value>(results, result);
}
