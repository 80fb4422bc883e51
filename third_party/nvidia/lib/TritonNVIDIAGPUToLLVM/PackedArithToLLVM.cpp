//===-- PackedArithToLLVM.cpp - Arithmetic on pairs -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Neighbours in a thread are computed as vectors of two: LLVM chooses an
// instruction on pairs where the machine has one, and two others where not.
//
//===----------------------------------------------------------------------===//

#include "nvidia/TritonNVIDIAGPUToLLVM/PackedArith.h"

#include "tile/Conversion/TritonGPUToLLVM/ElementwisePattern.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/PackedArithOps.h"

using namespace mlir;
using namespace mlir::triton;
namespace nvt = mlir::triton::nvidia;
namespace ttng = mlir::triton::nvidia_gpu;

namespace {
Value emitArithmetic(const LLVMBuilder &b, ttng::PackedArithKind kind,
                     ValueRange x) {
  switch (kind) {
  case ttng::PackedArithKind::ADD:
    return b.fadd(x[0], x[1]);
  case ttng::PackedArithKind::SUB:
    return b.create<LLVM::FSubOp>(x[0], x[1]);
  case ttng::PackedArithKind::MUL:
    return b.fmul(x[0], x[1]);
  case ttng::PackedArithKind::FMA:
    return b.create<LLVM::FMAOp>(x[0], x[1], x[2]);
  case ttng::PackedArithKind::MIN:
    return b.create<LLVM::MinNumOp>(x[0], x[1]);
  case ttng::PackedArithKind::MAX:
    return b.create<LLVM::MaxNumOp>(x[0], x[1]);
  }
  llvm_unreachable("unknown kind");
}

struct PackedArithPattern : TargetPattern<ttng::PackedArithOp> {
  using TargetPattern::TargetPattern;

  LogicalResult
  matchAndRewrite(ttng::PackedArithOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Type element = getElementTypeOrSelf(op.getType());
    bool isSame = llvm::all_of(op.getOperandTypes(), [&](Type type) {
      return getElementTypeOrSelf(type) == element;
    });
    if (!isSame || !(element.isF32() || element.isF16() || element.isBF16()))
      return this->decline(op, "operands and results of f32, f16 or bf16, all "
                               "alike, have code; others are for sm_107, for "
                               "which tile has no code generator");
    LLVMBuilder b(op.getLoc(), rewriter);
    SmallVector<SmallVector<Value>> operands;
    for (auto [value, original] : llvm::zip(adaptor.getArgs(), op.getArgs()))
      operands.push_back(unpackElements(b, value, original.getType()));
    SmallVector<Value> results;
    size_t count = operands.front().size();
    while (results.size() < count) {
      size_t width = std::min<size_t>(2, count - results.size());
      SmallVector<Value> args;
      for (const SmallVector<Value> &values : operands)
        args.push_back(
            b.packVector(ArrayRef(values).slice(results.size(), width)));
      Value pair = emitArithmetic(b, op.getKind(), args);
      llvm::append_range(results, b.unpackVector(pair));
    }
    rewriter.replaceOp(op,
                       packElements(b, getConverter(), results, op.getType()));
    return success();
  }
};
} // namespace

void nvt::populatePackedArithPatterns(const LoweringContext &context) {
  context.add<PackedArithPattern>();
}
