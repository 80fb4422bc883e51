//===-- LayoutShuffles.cpp - Conversions inside a warp --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// See ShufflePlan. Lane-dependent choices of a register ("register r xor what
// the lane says") are made for all registers at once: one stage of conditional
// swaps for each independent direction, before and after the shuffles, which
// then name registers by constants.
//
//===----------------------------------------------------------------------===//
#include "tile/Conversion/TritonGPUToLLVM/LayoutShuffles.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;

namespace {
class ShuffleEmitter {
public:
  ShuffleEmitter(const LLVMBuilder &b, const TargetInfo &target,
                 const ThreadIndex &index, const ShufflePlan &plan)
      : b(b), target(target), index(index), plan(plan),
        laneBits(llvm::Log2_32(index.threadsPerWarp)) {}

  SmallVector<Value> run(ArrayRef<Value> values);

private:
  /// The columns of a matrix over lanes and one over (warp, block), as a
  /// function of the bits of the thread's flat index and of the block.
  SmallVector<uint64_t> columnsOf(const F2Matrix &lanes, const F2Matrix *rest);
  Value parity(Value x, uint64_t mask);
  /// result[r] = values[r ^ s], where the thread's columns give s.
  void selectByThread(SmallVectorImpl<Value> &values,
                      ArrayRef<uint64_t> columns, ArrayRef<unsigned> bits);
  SmallVector<Value> pack(ArrayRef<Value> values, ArrayRef<unsigned> packed,
                          ArrayRef<unsigned> kept);
  SmallVector<Value> unpack(ArrayRef<Value> words, Type element,
                            ArrayRef<unsigned> packed,
                            ArrayRef<unsigned> kept);

  const LLVMBuilder &b;
  const TargetInfo &target;
  const ThreadIndex &index;
  const ShufflePlan &plan;
  unsigned laneBits;
};

/// Puts the bits of `value` at the places `bits`.
uint64_t deposit(uint64_t value, ArrayRef<unsigned> bits) {
  uint64_t result = 0;
  for (auto [i, bit] : llvm::enumerate(bits))
    result |= ((value >> i) & 1) << bit;
  return result;
}

/// Collects the bits of `value` at the places `bits`.
uint64_t collect(uint64_t value, ArrayRef<unsigned> bits) {
  uint64_t result = 0;
  for (auto [i, bit] : llvm::enumerate(bits))
    result |= ((value >> bit) & 1) << i;
  return result;
}

SmallVector<unsigned> bitsWithout(unsigned numRegs, ArrayRef<unsigned> taken) {
  SmallVector<unsigned> result;
  for (unsigned i = 0, e = llvm::Log2_32(numRegs); i < e; ++i)
    if (!llvm::is_contained(taken, i))
      result.push_back(i);
  return result;
}
} // namespace

SmallVector<uint64_t> ShuffleEmitter::columnsOf(const F2Matrix &lanes,
                                                const F2Matrix *rest) {
  SmallVector<uint64_t> columns(lanes.columns());
  if (rest)
    llvm::append_range(columns, rest->columns());
  return columns;
}

Value ShuffleEmitter::parity(Value x, uint64_t mask) {
  Value bits = b.and_(x, b.i32(static_cast<int32_t>(mask)));
  if (!llvm::isPowerOf2_64(mask))
    bits = b.and_(b.create<LLVM::CtPopOp>(bits.getType(), bits), b.i32(1));
  return b.ne(bits, b.i32(0));
}

void ShuffleEmitter::selectByThread(SmallVectorImpl<Value> &values,
                                    ArrayRef<uint64_t> columns,
                                    ArrayRef<unsigned> bits) {
  F2Span span;
  SmallVector<uint64_t> directions;
  for (uint64_t column : columns)
    if (span.insert(column))
      directions.push_back(column);
  for (auto [k, direction] : llvm::enumerate(directions)) {
    // Thread bits first, then those of the block.
    uint64_t mask = 0;
    for (auto [i, column] : llvm::enumerate(columns))
      mask |= ((*span.express(column) >> k) & 1) << i;
    Value condition;
    unsigned threadBits = columns.size();
    if (index.block)
      threadBits = std::min<unsigned>(threadBits, laneBits + warpBitsOf());
    uint64_t threadMask = mask & llvm::maskTrailingOnes<uint64_t>(threadBits);
    if (threadMask)
      condition = parity(index.thread, threadMask);
    if (uint64_t blockMask = mask >> threadBits; blockMask && index.block) {
      Value other = parity(index.block, blockMask);
      condition = condition ? b.xor_(condition, other) : other;
    }
    if (!condition)
      continue;
    uint64_t step = collect(direction, bits);
    SmallVector<Value> old(values.begin(), values.end());
    for (uint64_t r = 0; r < old.size(); ++r)
      values[r] = b.select(condition, old[r ^ step], old[r]);
  }
}
