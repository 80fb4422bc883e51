//===-- DebugToLLVM.cpp - Marks for a debugger in assembly ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Conversion/DebugToLLVM/Patterns.h"

#include "tile/Conversion/TritonGPUToLLVM/Barrier.h"
#include "tile/Dialect/Debug/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"

#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::debug;

namespace {
/// Registers of one mark. More would all have to be free at one time.
constexpr unsigned kMostRegisters = 16;

/// The places of an operation: its own, then those of the calls around it.
llvm::json::Array placesOf(Location loc) {
  llvm::json::Array places;
  while (true) {
    if (auto name = dyn_cast<NameLoc>(loc)) {
      loc = name.getChildLoc();
    } else if (auto fused = dyn_cast<FusedLoc>(loc);
               fused && !fused.getLocations().empty()) {
      loc = fused.getLocations().front();
    } else if (auto call = dyn_cast<CallSiteLoc>(loc)) {
      llvm::append_range(places, placesOf(call.getCallee()));
      loc = call.getCaller();
    } else {
      if (auto place = dyn_cast<FileLineColLoc>(loc))
        places.push_back(llvm::json::Array{place.getFilename().getValue(),
                                           int64_t(place.getLine()),
                                           int64_t(place.getColumn())});
      return places;
    }
  }
}

/// The images of the bits of each input of a layout.
llvm::json::Object describe(const LinearLayout &layout) {
  llvm::json::Object inputs;
  for (const auto &[dim, bases] : layout.getBases()) {
    llvm::json::Array images;
    for (const std::vector<int32_t> &basis : bases)
      images.push_back(llvm::json::Array(basis));
    inputs[dim] = std::move(images);
  }
  return inputs;
}

/// The group of warps that runs an operation: 0 for the default one, i + 1 for
/// partition i.
int64_t groupOf(Operation *op) {
  auto partitions = op->getParentOfType<gpu::WarpSpecializePartitionsOp>();
  if (!partitions)
    return 0;
  for (Region &region : partitions->getRegions())
    if (region.findAncestorOpInRegion(*op))
      return region.getRegionNumber() + 1;
  return 0;
}

/// As text of inline assembly, in which `$` begins an operand.
std::string escape(const llvm::json::Object &object) {
  std::string text, result;
  llvm::raw_string_ostream(text)
      << llvm::json::Value(llvm::json::Object(object));
  for (char c : text)
    result.append(c == '$' ? 2 : 1, c);
  return result;
}

template <typename OpT> class MarkPattern : public TargetPattern<OpT> {
public:
  MarkPattern(const TritonGPUToLLVMTypeConverter &converter,
              const TargetInfo &target, const MarkForm &form,
              PatternBenefit benefit)
      : TargetPattern<OpT>(converter, target, benefit), form(form) {}

protected:
  static llvm::json::Object begin(Operation *op) {
    llvm::json::Object object;
    object["at"] = placesOf(op->getLoc());
    if (auto function = op->getParentOfType<FunctionOpInterface>())
      object["in"] = function.getName();
    return object;
  }

  void emit(const LLVMBuilder &b, StringRef kind, ArrayRef<Value> registers,
            const llvm::json::Object &object) const {
    std::string text =
        (form.nothing + " " + form.comment + " tile.debug " + kind).str();
    std::string constraints;
    for (auto [i, value] : llvm::enumerate(registers)) {
      text += " $" + std::to_string(i);
      bool isWide = value.getType().isInteger(64);
      constraints += ((isWide ? form.twoWords : form.word) + ",").str();
    }
    // Accesses to memory stay on their side of it.
    constraints += "~{memory}";
    b.create<LLVM::InlineAsmOp>(
        TypeRange(), registers, text + " " + escape(object), constraints,
        /*has_side_effects=*/true, /*is_align_stack=*/false,
        LLVM::TailCallKind::None,
        LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT),
        ArrayAttr());
  }

private:
  MarkForm form;
};

/// Of an operation without a value.
template <typename OpT> struct TextPattern : MarkPattern<OpT> {
  using MarkPattern<OpT>::MarkPattern;

  LogicalResult
  matchAndRewrite(OpT op, typename OpT::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    llvm::json::Object object = MarkPattern<OpT>::begin(op);
    StringRef kind = describe(op, object);
    this->emit(LLVMBuilder(op.getLoc(), rewriter), kind, {}, object);
    rewriter.eraseOp(op);
    return success();
  }

private:
  static StringRef describe(StatementOp op, llvm::json::Object &object) {
    if (!op.getFunction())
      return "statement";
    object["function"] = op.getFunction()->str();
    return "enter";
  }
  static StringRef describe(ConstantOp op, llvm::json::Object &object) {
    object["name"] = op.getName();
    object["text"] = op.getText();
    return "constant";
  }
};

struct ValuePattern : MarkPattern<ValueOp> {
  using MarkPattern::MarkPattern;

  LogicalResult
  matchAndRewrite(ValueOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    Type type = op.getValue().getType();
    SmallVector<Value> elements = unpackElements(b, adaptor.getValue(), type);
    SmallVector<Value> words;
    for (Value element : elements) {
      Value word = toWord(b, element);
      if (!word)
        return rewriter.notifyMatchFailure(op, "the element is no register");
      words.push_back(word);
    }
    llvm::json::Object object = begin(op);
    object["name"] = op.getName();
    object["type"] = op.getType();
    object["count"] = int64_t(words.size());
    object["warp"] = int64_t(getFirstWarp(op));
    object["warps"] = int64_t(gpu::lookupNumWarps(op));
    object["group"] = groupOf(op);
    if (op.getMask())
      object["mask"] = true;
    if (auto tensor = dyn_cast<RankedTensorType>(type)) {
      object["shape"] = llvm::json::Array(tensor.getShape());
      object["layout"] = describe(toLinearLayout(tensor));
    }
    for (unsigned first = 0; first < words.size(); first += kMostRegisters) {
      object["first"] = int64_t(first);
      emit(b, "value",
           ArrayRef(words).slice(
               first, std::min<size_t>(kMostRegisters, words.size() - first)),
           object);
    }
    rewriter.eraseOp(op);
    return success();
  }

private:
  /// The bits of an element in an integer of 32 or 64 bits; null if they do
  /// not fit.
  static Value toWord(const LLVMBuilder &b, Value element) {
    Type type = element.getType();
    if (isa<LLVM::LLVMPointerType>(type))
      return b.ptrToInt(b.intTy(64), element);
    if (!type.isIntOrFloat() || type.getIntOrFloatBitWidth() > 64)
      return {};
    unsigned bits = type.getIntOrFloatBitWidth();
    Value integer = b.bitcast(element, b.intTy(bits));
    return b.zext(b.intTy(bits > 32 ? 64 : 32), integer);
  }
};
} // namespace

void debug::populateDebugPatterns(const LoweringContext &context,
                                  const MarkForm &form) {
  context.patterns
      .add<TextPattern<StatementOp>, TextPattern<ConstantOp>, ValuePattern>(
          context.converter, context.target, form, context.benefit);
}
