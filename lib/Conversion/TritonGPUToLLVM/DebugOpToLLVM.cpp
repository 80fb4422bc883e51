//===-- DebugOpToLLVM.cpp - Printing and assertions -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Conversion/TritonGPUToLLVM/FloatConversion.h"
#include "tile/Conversion/TritonGPUToLLVM/Patterns.h"
#include "tile/Conversion/TritonGPUToLLVM/Predicate.h"
#include "tile/Conversion/TritonGPUToLLVM/VectorizeAccess.h"

#include "tile/Dialect/Triton/IR/SplitAttributes.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"
#include "tile/Support/SourcePlace.h"

using namespace mlir;
using namespace mlir::triton;

namespace {
/// Text as part of a format string.
std::string escapeFormat(StringRef text) {
  std::string result;
  for (char c : text)
    result.append(c == '%' ? 2 : 1, c);
  return result;
}

struct PrintPattern : TargetPattern<PrintOp> {
  using TargetPattern::TargetPattern;

  LogicalResult
  matchAndRewrite(PrintOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> pids;
    for (int axis = 0; axis < 3; ++axis)
      pids.push_back(target.getProgramId(b, axis, gpu::lookupNumCTAs(op)));
    std::string head = "pid (%u, %u, %u) ";
    if (op.getArgs().empty()) {
      // As of a scalar: the first thread.
      Value first = emitOwnerPredicate(b, target, op, rewriter.getI32Type());
      underPredicate(b, first, [&] {
        target.printf(b, head + escapeFormat(op.getPrefix().ltrim(' ')) + "\n",
                      pids);
      });
      rewriter.eraseOp(op);
      return success();
    }
    unsigned numArgs = op.getArgs().size();
    for (auto [n, converted, original] :
         llvm::enumerate(adaptor.getArgs(), op.getArgs())) {
      Type type = original.getType();
      Value owner = emitOwnerPredicate(b, target, op, type);
      SmallVector<Value> elements = unpackElements(b, converted, type);
      SmallVector<SmallVector<Value>> indices;
      int32_t repeated = 0;
      unsigned rank = 0;
      ArrayRef<int32_t> first; // Of a part of a tensor; empty for a whole one.
      if (auto tensor = dyn_cast<RankedTensorType>(type)) {
        LinearLayout layout = toLinearLayout(tensor);
        indices = emitIndices(b, target, op, layout);
        repeated = layout.getFreeVariableMask(kRegister);
        rank = tensor.getRank();
        if (auto attr =
                op->getAttrOfType<DenseI32ArrayAttr>(kFirstIndexAttrName))
          first = attr.asArrayRef();
        if (!first.empty())
          for (SmallVector<Value> &index : indices)
            for (auto [coord, offset] : llvm::zip_equal(index, first))
              coord = b.add(coord, b.i32(offset));
      }
      // Indices are as wide as the largest, so that lines can be sorted.
      std::string format = head + "idx (";
      for (unsigned d = 0; d < rank; ++d) {
        int64_t last = cast<RankedTensorType>(type).getShape()[d] - 1;
        if (!first.empty())
          last += first[d];
        format += d ? ", %" : "%";
        format += std::to_string(std::to_string(last).size()) + "u";
      }
      format += ")" + escapeFormat(op.getPrefix());
      if (numArgs > 1)
        format += "(operand " + std::to_string(n) + ") ";
      underPredicate(b, owner, [&] {
        for (auto [r, element] : llvm::enumerate(elements)) {
          if (r & repeated)
            continue;
          SmallVector<Value> args(pids);
          if (rank)
            llvm::append_range(args, indices[r]);
          bool isSigned = n < op.getIsSigned().size() && op.getIsSigned()[n];
          auto [text, value] = promote(b, element, getTensorElementOrSelf(type),
                                       op.getHex(), isSigned);
          args.push_back(value);
          target.printf(b, format + text + "\n", args);
        }
      });
    }
    rewriter.eraseOp(op);
    return success();
  }

private:
  /// The conversion specification of a value and the value as C passes it.
  static std::pair<std::string, Value> promote(const LLVMBuilder &b,
                                               Value value, Type original,
                                               bool hex, bool isSigned) {
    Type type = value.getType();
    if (isa<LLVM::LLVMPointerType>(type))
      return {"%p", value};
    unsigned bits = type.getIntOrFloatBitWidth();
    if (hex) {
      Value asInt = b.bitcast(value, b.intTy(bits));
      std::string digits = std::to_string(std::max(1u, bits / 4));
      if (bits > 32)
        return {"0x%0" + digits + "llx", asInt};
      return {"0x%0" + digits + "x", b.zext(b.intTy(32), asInt)};
    }
    Type f64 = b.getBuilder().getF64Type();
    if (isa<FloatType>(original) && !isa<FloatType>(type)) { // 8 bits
      Type f32 = b.getBuilder().getF32Type();
      if (Value wide =
              convertFloat(b, value, original, f32, RoundingMode::RTNE))
        return {"%f", b.fpext(f64, wide)};
      return {"0x%02x", b.zext(b.intTy(32), value)};
    }
    if (isa<FloatType>(type))
      return {"%f", type == f64 ? value : b.fpext(f64, value)};
    if (bits > 32)
      return {isSigned ? "%lli" : "%llu", value};
    // A truth value prints as 0 or 1.
    isSigned = isSigned && bits > 1;
    return {isSigned ? "%i" : "%u",
            isSigned ? b.sext(b.intTy(32), value) : b.zext(b.intTy(32), value)};
  }
};

struct AssertPattern : TargetPattern<AssertOp> {
  using TargetPattern::TargetPattern;

  LogicalResult
  matchAndRewrite(AssertOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    Value all;
    for (Value element :
         unpackElements(b, adaptor.getCondition(), op.getCondition().getType()))
      all = b.andPred(all, element);
    SourcePlace place = getSourcePlace(op);
    // Every thread checks what it has of the condition. A thread without a part
    // of it would run on before another thread stops the kernel. It might
    // access the very address that the assertion is about.
    underPredicate(b, b.not_(all), [&] {
      target.assertFail(b, op.getMessage(), place.file, place.function,
                        place.line);
    });
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void triton::populateDebugPatterns(const LoweringContext &context) {
  context.add<PrintPattern, AssertPattern>();
}
