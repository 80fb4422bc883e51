//===-- Fp4ToFpToLLVM.cpp - Numbers of four bits to 16 bits ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// There are eight magnitudes, and v_perm_b32 looks four of them up at once in a
// table of eight bytes. It is used for the lower halves of four bytes, and
// again for the upper halves.
//
//===----------------------------------------------------------------------===//

#include "amd/TritonAMDGPUToLLVM/Patterns.h"

#include "tile/Conversion/TritonGPUToLLVM/Fp4ToFp.h"

using namespace mlir;
using namespace mlir::triton;

/// A selector of v_perm_b32 that yields zero.
static constexpr uint32_t kZero = 0x0c;

/// Each byte of `selector` chooses one of `low` (0 to 3) or of `high`.
static Value permute(const LLVMBuilder &b, Value low, Value high,
                     Value selector) {
  return b.intrinsic(b.intTy(32), "llvm.amdgcn.perm",
                     ValueRange{high, low, selector});
}

static Value permute(const LLVMBuilder &b, Value low, Value high,
                     std::array<uint32_t, 4> bytes) {
  uint32_t selector = 0;
  for (auto [i, byte] : llvm::enumerate(bytes))
    selector |= byte << (8 * i);
  return permute(b, low, high, b.i32(static_cast<int32_t>(selector)));
}

static Value lookUp(const LLVMBuilder &b, Fp4Table table, Value selector) {
  return permute(b, b.i32(static_cast<int32_t>(table.low)),
                 b.i32(static_cast<int32_t>(table.high)), selector);
}

static SmallVector<Value> extend(const LLVMBuilder &b, Value word,
                                 bool toBF16) {
  // The bytes of the first numbers of all pairs, and of the second ones.
  Value high[2], low[2];
  for (unsigned i : {0, 1}) {
    Value numbers = i ? b.lshr(word, b.i32(4)) : word;
    Value magnitudes = b.and_(numbers, b.i32(0x07070707));
    Value signs = b.shl(b.and_(numbers, b.i32(0x08080808)), b.i32(4));
    high[i] = b.or_(
        lookUp(b, toBF16 ? kFp4HighOfBF16 : kFp4HighOfF16, magnitudes), signs);
    if (toBF16)
      low[i] = lookUp(b, kFp4LowOfBF16, magnitudes);
  }
  SmallVector<Value> pairs;
  for (uint32_t k = 0; k < 4; ++k) {
    if (!toBF16) {
      pairs.push_back(permute(b, high[0], high[1], {kZero, k, kZero, 4 + k}));
      continue;
    }
    pairs.push_back(
        b.or_(permute(b, low[0], high[0], {k, 4 + k, kZero, kZero}),
              permute(b, low[1], high[1], {kZero, kZero, k, 4 + k})));
  }
  return pairs;
}

void amd::populateFp4ToFpPatterns(const LoweringContext &context) {
  triton::populateFp4ToFpPatterns(context, extend);
}
