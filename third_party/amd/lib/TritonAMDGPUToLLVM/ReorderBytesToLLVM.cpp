//===-- ReorderBytesToLLVM.cpp - Conversions that move bytes in threads ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// v_perm_b32 makes a word of any bytes of two others. Elements of one byte that
// only change registers, and go to memory then, are put together so. LLVM would
// shift and combine them one by one.
//
//===----------------------------------------------------------------------===//

#include "amd/IR/Dialect.h"
#include "amd/TritonAMDGPUToLLVM/Patterns.h"

#include "tile/Analysis/ConvertLayoutPlan.h"
#include "tile/Conversion/TritonGPUToLLVM/Elements.h"
#include "tile/Dialect/Triton/IR/MemoryOps.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::triton;

namespace {
constexpr unsigned kBytesOfWord = 4;

/// A byte of the words that a thread has.
struct Byte {
  unsigned word, place;
};
using WordOfBytes = std::array<Byte, kBytesOfWord>;

/// Whether `op` writes its elements to memory, where neighbours share a word.
bool writesToMemory(Operation *op) {
  return isa<gpu::LocalAllocOp, gpu::LocalStoreOp, StoreOp,
             amdgpu::BufferStoreOp>(op);
}

bool isWholeWord(const WordOfBytes &bytes) {
  for (auto [i, byte] : llvm::enumerate(bytes))
    if (byte.word != bytes[0].word || byte.place != i)
      return false;
  return true;
}

/// Where the bytes of each word of the result are in the words of the source.
/// Registers that repeat others count in neither.
std::optional<SmallVector<WordOfBytes>>
findBytes(const ConvertLayoutPlan &plan) {
  ColumnAction of = removeBroadcastedRegisters(plan.source);
  ColumnAction to = removeBroadcastedRegisters(plan.result);
  unsigned numSources = of.apply(plan.source).getInDimSize(kRegister);
  unsigned numResults = to.apply(plan.result).getInDimSize(kRegister);
  if (numSources % kBytesOfWord || numResults % kBytesOfWord)
    return std::nullopt;
  llvm::DenseMap<int32_t, unsigned> places;
  for (unsigned i = 0; i < numSources; ++i)
    places[of.sourceIndex(i)] = i;
  int32_t repeated = 0;
  for (unsigned i = 0; i < plan.source.getInDimSizeLog2(kRegister); ++i)
    if (plan.source.getFlatBasis(kRegister, i) == 0)
      repeated |= 1 << i;
  SmallVector<WordOfBytes> words;
  for (unsigned i = 0; i < numResults; i += kBytesOfWord) {
    WordOfBytes &bytes = words.emplace_back();
    for (unsigned k = 0; k < kBytesOfWord; ++k) {
      int32_t source = plan.registerSources[to.sourceIndex(i + k)];
      auto found = places.find(source & ~repeated);
      if (found == places.end())
        return std::nullopt;
      bytes[k] = {found->second / kBytesOfWord, found->second % kBytesOfWord};
    }
  }
  return words;
}

/// The bytes of `wanted` in the lower places of a word: all are in two words.
Value selectBytes(const LLVMBuilder &b, ArrayRef<Value> words,
                  ArrayRef<Byte> wanted) {
  unsigned first = wanted[0].word, second = first;
  uint32_t selector = 0;
  for (auto [i, byte] : llvm::enumerate(wanted)) {
    if (byte.word != first)
      second = byte.word;
    // Of the first operand, bytes have the numbers from 4 on.
    uint32_t number = byte.place + (byte.word == first ? 0 : kBytesOfWord);
    selector |= number << (8 * i);
  }
  return b.intrinsic(b.intTy(32), "llvm.amdgcn.perm",
                     ValueRange{words[second], words[first], b.i32(selector)});
}

Value combineBytes(const LLVMBuilder &b, ArrayRef<Value> words,
                   const WordOfBytes &bytes) {
  if (isWholeWord(bytes))
    return words[bytes[0].word];
  llvm::SmallSetVector<unsigned, kBytesOfWord> used;
  for (Byte byte : bytes)
    used.insert(byte.word);
  if (used.size() <= 2)
    return selectBytes(b, words, bytes);
  ArrayRef<Byte> all(bytes);
  Value halves[] = {selectBytes(b, words, all.take_front(2)),
                    selectBytes(b, words, all.drop_front(2))};
  Byte lower[] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}};
  return selectBytes(b, halves, lower);
}

struct ReorderBytesPattern : TargetPattern<gpu::ConvertLayoutOp> {
  using TargetPattern::TargetPattern;

  LogicalResult
  matchAndRewrite(gpu::ConvertLayoutOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto sourceType = cast<RankedTensorType>(op.getSrc().getType());
    ConvertLayoutPlan plan = ConvertLayoutPlan::of(op);
    Type element = getConverter().convertType(sourceType.getElementType());
    if (plan.route != ConvertLayoutPlan::Route::Registers ||
        !element.isInteger(8) || !llvm::all_of(op->getUsers(), writesToMemory))
      return failure();
    std::optional<SmallVector<WordOfBytes>> wanted = findBytes(plan);
    if (!wanted || llvm::all_of(*wanted, isWholeWord))
      return failure();

    LLVMBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> values =
        removeBroadcastedRegisters(plan.source)
            .apply(unpackElements(b, adaptor.getSrc(), sourceType));
    SmallVector<Value> words;
    for (unsigned i = 0; i < values.size(); i += kBytesOfWord)
      words.push_back(b.bitcast(
          b.packVector(ArrayRef(values).slice(i, kBytesOfWord)), b.intTy(32)));
    SmallVector<Value> results;
    for (const WordOfBytes &bytes : *wanted)
      llvm::append_range(
          results,
          b.unpackVector(b.bitcast(combineBytes(b, words, bytes),
                                   LLVMBuilder::vecTy(element, kBytesOfWord))));
    results = broadcastRegisters<Value>(results, plan.result);
    rewriter.replaceOp(op,
                       packElements(b, getConverter(), results, op.getType()));
    return success();
  }
};
} // namespace

void amd::populateReorderBytesPatterns(const LoweringContext &context) {
  context.add<ReorderBytesPattern>();
}
