//===-- InlineAsmOpToLLVM.cpp - The user's assembly and libraries ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Conversion/TritonGPUToLLVM/ElementwisePattern.h"
#include "tile/Dialect/Triton/IR/CallAttributes.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::triton;

namespace {
/// What is wrong with the operands that a text of assembly names, of which
/// there are `count`; empty if nothing is. LLVM would give up on it without a
/// place.
std::string checkOperands(StringRef assembly, unsigned count) {
  for (size_t at = assembly.find('$'); at != StringRef::npos;
       at = assembly.find('$', at)) {
    StringRef rest = assembly.drop_front(++at);
    // An escaped dollar, and the bars of alternatives.
    if (rest.starts_with("$") || rest.starts_with("(") ||
        rest.starts_with("|") || rest.starts_with(")")) {
      ++at;
      continue;
    }
    bool braced = rest.consume_front("{");
    unsigned number;
    if (rest.consumeInteger(10, number) ||
        (braced && rest.find('}') == StringRef::npos))
      return "'$' in the assembly expects the number of an operand, or another "
             "'$'";
    if (number >= count)
      return ("the assembly names the operand $" + Twine(number) +
              ", but the constraints have " + Twine(count))
          .str();
  }
  return {};
}

/// `pack` elements go through one copy of the assembly; elements smaller than
/// 32 bits share registers.
struct InlineAsmPattern : TargetPattern<ElementwiseInlineAsmOp> {
  using TargetPattern::TargetPattern;

  LogicalResult
  matchAndRewrite(ElementwiseInlineAsmOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    unsigned pack = op.getPackedElement();
    SmallVector<SmallVector<Value>> operands;
    for (auto [value, original] : llvm::zip(adaptor.getArgs(), op.getArgs()))
      operands.push_back(unpackElements(b, value, original.getType()));
    SmallVector<Type> elements;
    for (Type type : op.getResultTypes())
      elements.push_back(
          getConverter().convertType(getTensorElementOrSelf(type)));
    unsigned count = getFirstRegisters(op.getResultTypes().front()).size();
    // Where a thread holds fewer elements than a copy takes, repeat the last.
    unsigned padded = (count + pack - 1) / pack * pack;
    for (SmallVector<Value> &values : operands)
      values.resize(padded, values.back());

    SmallVector<SmallVector<Value>> results(elements.size());
    for (unsigned i = 0; i < padded; i += pack) {
      SmallVector<SmallVector<Value>> copy =
          emitCopy(b, op, operands, elements, i);
      if (copy.empty())
        return failure();
      for (auto [all, some] : llvm::zip(results, copy))
        llvm::append_range(all, some);
    }
    SmallVector<Value> packed;
    for (auto [values, type] : llvm::zip(results, op.getResultTypes())) {
      values.resize(count);
      packed.push_back(packElements(b, getConverter(), values, type));
    }
    rewriter.replaceOp(op, packed);
    return success();
  }

private:
  /// How many elements of a type share a register.
  static unsigned perRegister(Type element, unsigned pack) {
    unsigned bits = isa<LLVM::LLVMPointerType>(element)
                        ? 64
                        : element.getIntOrFloatBitWidth();
    return bits >= 32 ? 1 : std::min(pack, 32 / std::max(8u, bits));
  }

  SmallVector<SmallVector<Value>>
  emitCopy(const LLVMBuilder &b, ElementwiseInlineAsmOp op,
           ArrayRef<SmallVector<Value>> operands, ArrayRef<Type> elements,
           unsigned start) const {
    unsigned pack = op.getPackedElement();
    SmallVector<Value> inputs;
    for (const SmallVector<Value> &values : operands) {
      unsigned shared = perRegister(values[0].getType(), pack);
      for (unsigned i = 0; i < pack; i += shared) {
        Value word = b.packVector(ArrayRef(values).slice(start + i, shared));
        // Several small elements: one 32-bit register (or 16 for two bytes).
        if (shared > 1)
          word = b.bitcast(
              word,
              b.intTy(shared * values[0].getType().getIntOrFloatBitWidth()));
        inputs.push_back(word);
      }
    }
    SmallVector<Type> registers;
    for (Type element : elements) {
      unsigned shared = perRegister(element, pack);
      for (unsigned i = 0; i < pack; i += shared)
        registers.push_back(
            shared == 1 ? element
                        : b.intTy(shared * element.getIntOrFloatBitWidth()));
    }
    // The constraints name each register once, outputs first.
    unsigned outputs = 0, others = 0;
    for (StringRef constraint : llvm::split(op.getConstraints(), ",")) {
      StringRef trimmed = constraint.trim();
      if (trimmed.starts_with("="))
        ++outputs;
      else if (!trimmed.empty() && !trimmed.starts_with("~"))
        ++others;
    }
    if (outputs != registers.size() || others != inputs.size()) {
      op.emitError("the registers of the constraints do not fit the operands "
                   "and results");
      return {};
    }
    std::string wrong = checkOperands(op.getAsmString(), outputs + others);
    if (!wrong.empty()) {
      op.emitError(wrong);
      return {};
    }

    MLIRContext *ctx = op.getContext();
    Type type = registers.size() == 1
                    ? registers.front()
                    : LLVM::LLVMStructType::getLiteral(ctx, registers);
    // Without the clobber LLVM moves loads behind what may write.
    std::string constraints = op.getConstraints().str();
    if (!op.getPure() && !op.getConstraints().contains("~{memory}"))
      constraints += ",~{memory}";
    auto assembly = b.create<LLVM::InlineAsmOp>(
        TypeRange(type), inputs, op.getAsmString(), constraints,
        /*has_side_effects=*/!op.getPure(), /*is_align_stack=*/false,
        LLVM::TailCallKind::None,
        LLVM::AsmDialectAttr::get(ctx, LLVM::AsmDialect::AD_ATT), ArrayAttr());
    SmallVector<SmallVector<Value>> results(elements.size());
    unsigned at = 0;
    for (auto [element, values] : llvm::zip(elements, results)) {
      unsigned shared = perRegister(element, pack);
      for (unsigned i = 0; i < pack; i += shared, ++at) {
        Value word = registers.size() == 1
                         ? assembly.getResult(0)
                         : b.extractVal(assembly.getResult(0), at);
        if (shared > 1)
          word = b.bitcast(word, LLVMBuilder::vecTy(element, shared));
        llvm::append_range(values, b.unpackVector(word));
      }
    }
    return results;
  }
};
} // namespace

void triton::populateInlineAsmPatterns(const LoweringContext &context) {
  context.add<InlineAsmPattern>();
  addElementwise<ExternElementwiseOp>(
      context,
      [](ExternElementwiseOp op, const LLVMBuilder &b, Type type,
         ValueRange args) -> Value {
        if (op->hasAttr(kNoArgumentsAttr))
          args = {};
        auto module = op->getParentOfType<ModuleOp>();
        auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(op.getSymbol());
        auto functionType =
            LLVM::LLVMFunctionType::get(type, llvm::to_vector(args.getTypes()));
        if (!function) {
          OpBuilder::InsertionGuard guard(b.getBuilder());
          b.getBuilder().setInsertionPointToStart(module.getBody());
          function = LLVM::LLVMFuncOp::create(b.getBuilder(),
                                              UnknownLoc::get(op.getContext()),
                                              op.getSymbol(), functionType);
        }
        if (function.getFunctionType() != functionType)
          return {};
        return b.create<LLVM::CallOp>(function, args).getResult();
      });
}
