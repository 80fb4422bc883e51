//===-- InstrumentOpToLLVM.cpp - Checks of sanitizers ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Conversion/TritonGPUToLLVM/DeviceFunction.h"
#include "tile/Conversion/TritonGPUToLLVM/InstrumentPatterns.h"
#include "tile/Conversion/TritonGPUToLLVM/Predicate.h"
#include "tile/Conversion/TritonGPUToLLVM/VectorizeAccess.h"
#include "tile/Dialect/TritonInstrument/IR/Dialect.h"
#include "tile/Support/SourcePlace.h"

using namespace mlir;
using namespace mlir::triton;

namespace {
struct CheckPattern : TargetPattern<instrument::CheckOp> {
  using TargetPattern::TargetPattern;

  LogicalResult
  matchAndRewrite(instrument::CheckOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> args;
    for (auto [converted, original] :
         llvm::zip_equal(adaptor.getArgs(), op.getArgs()))
      args.push_back(toArgument(b, converted, original.getType()));
    auto call = [&] {
      return callDeviceFunction(b, op.getFunction(), b.intTy(32), args);
    };
    if (op.getEveryThread()) {
      args.insert(args.begin() + 1, target.getThreadId(b));
      call();
      rewriter.eraseOp(op);
      return success();
    }
    Value first = emitOwnerPredicate(b, target, op, b.intTy(32));
    underPredicate(b, first, [&] { report(b, op, call()); });
    rewriter.eraseOp(op);
    return success();
  }

private:
  static Value toArgument(const LLVMBuilder &b, Value value, Type original) {
    if (auto buffer = dyn_cast<gpu::MemDescType>(original))
      return b.ptrToInt(b.intTy(32), MemDesc::unpack(b, value, buffer).base);
    return value.getType() == b.intTy(1) ? b.zext(b.intTy(32), value) : value;
  }

  /// Stops the kernel with the message of a code.
  void report(const LLVMBuilder &b, instrument::CheckOp op, Value code) const {
    if (op.getCodes().empty())
      return;
    SourcePlace place = getSourcePlace(op);
    auto fail = [&](StringRef message) {
      target.assertFail(b, message, place.file, place.function, place.line);
    };
    underPredicate(b, b.ne(code, b.i32(0)), [&] {
      for (auto [number, message] :
           llvm::zip_equal(op.getCodes(), op.getMessages()))
        underPredicate(b, b.eq(code, b.i32(number)),
                       [&] { fail(cast<StringAttr>(message).getValue()); });
      // Two accesses that nobody thought of together.
      fail("a rule of races and barriers does not hold");
    });
  }
};
} // namespace

void triton::populateInstrumentPatterns(const LoweringContext &context) {
  context.add<CheckPattern>();
}
