//===-- Fp4ToFpToLLVM.cpp - Numbers of four bits to 16 bits ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// There are eight magnitudes, and prmt looks four of them up at once in a table
// of eight bytes. As f16 their low bytes are zero; bf16 takes a second table.
//
//===----------------------------------------------------------------------===//

#include "nvidia/TritonNVIDIAGPUToLLVM/Patterns.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "tile/Conversion/TritonGPUToLLVM/Fp4ToFp.h"

using namespace mlir;
using namespace mlir::triton;
namespace nvt = mlir::triton::nvidia;

static Value permute(const LLVMBuilder &b, Value low, Value high,
                     Value selector) {
  return b.create<NVVM::PermuteOp>(b.intTy(32), low, high, selector,
                                   NVVM::PermuteMode::DEFAULT);
}

static Value lookUp(const LLVMBuilder &b, Fp4Table table, Value selector) {
  return permute(b, b.i32(static_cast<int32_t>(table.low)),
                 b.i32(static_cast<int32_t>(table.high)), selector);
}

static SmallVector<Value> extend(const LLVMBuilder &b, Value word,
                                 bool toBF16) {
  SmallVector<Value> pairs;
  Value zero = b.i32(0);
  for (unsigned shift : {0, 16}) {
    Value four = shift ? b.lshr(word, b.i32(shift)) : word;
    Value magnitudes = b.and_(four, b.i32(0x7777));
    Value signs = b.and_(b.lshr(four, b.i32(3)), b.i32(0x1111));
    Value high =
        b.or_(lookUp(b, toBF16 ? kFp4HighOfBF16 : kFp4HighOfF16, magnitudes),
              lookUp(b, {0x8000, 0}, signs));
    Value low = toBF16 ? lookUp(b, kFp4LowOfBF16, magnitudes) : zero;
    pairs.push_back(permute(b, low, high, b.i32(0x5140)));
    pairs.push_back(permute(b, low, high, b.i32(0x7362)));
  }
  return pairs;
}

void nvt::populateFp4ToFpPatterns(const LoweringContext &context) {
  triton::populateFp4ToFpPatterns(context, extend);
}
