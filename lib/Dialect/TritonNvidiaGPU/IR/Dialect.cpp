//===-- Dialect.cpp - The ttnvgpu dialect and its attributes --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"
#include "tile/Dialect/Triton/IR/BlockTypeSyntax.h"
#include "tile/Dialect/Triton/IR/InlineAnywhere.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/AsyncStoreOps.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/PackedArithOps.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.cpp.inc"

#include "tile/Dialect/TritonNvidiaGPU/IR/Enums.cpp.inc"
#include "tile/Dialect/TritonNvidiaGPU/IR/OpInterfaces.cpp.inc"

/// The same division of a matrix, without the last bits of a block's number
/// that make no difference.
static gpu::CTALayoutAttr dropTrailingCopies(gpu::CTALayoutAttr layout) {
  LinearLayout::DimBases bases = layout.getBases();
  while (!bases.empty() &&
         llvm::all_of(bases.back(), [](int32_t step) { return step == 0; }))
    bases.pop_back();
  return gpu::CTALayoutAttr::get(layout.getContext(), layout.getRank(), bases);
}

#define GET_ATTRDEF_CLASSES
#include "tile/Dialect/TritonNvidiaGPU/IR/AttrDefs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "tile/Dialect/TritonNvidiaGPU/IR/Types.cpp.inc"

namespace {

struct TritonNvidiaGPUOpAsmInterface : public OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;

  AliasResult getAlias(Attribute attr, raw_ostream &os) const override {
    if (isa<TensorMemoryEncodingAttr>(attr)) {
      os << "tmem";
      return AliasResult::FinalAlias;
    }
    if (isa<TensorMemoryScalesEncodingAttr>(attr)) {
      os << "tmem_scales";
      return AliasResult::FinalAlias;
    }
    return AliasResult::NoAlias;
  }
};

} // namespace

void TritonNvidiaGPUDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "tile/Dialect/TritonNvidiaGPU/IR/AttrDefs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "tile/Dialect/TritonNvidiaGPU/IR/Types.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "tile/Dialect/TritonNvidiaGPU/IR/Ops.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "tile/Dialect/TritonNvidiaGPU/IR/AsyncStoreOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "tile/Dialect/TritonNvidiaGPU/IR/PackedArithOps.cpp.inc"
      >();
  addInterfaces<TritonNvidiaGPUOpAsmInterface, InlineAnywhere>();
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

LogicalResult
TensorDescIm2ColType::verify(function_ref<InFlightDiagnostic()> emitError,
                             RankedTensorType blockType) {
  if (blockType.getRank() != 2 || !blockType.hasStaticShape() ||
      !blockType.getElementType().isIntOrFloat())
    return emitError() << "expected a block of pixels and channels, both of a "
                          "static number, found "
                       << blockType;
  // This is what the hardware takes at once.
  constexpr int64_t kMostPixels = 1024;
  if (blockType.getDimSize(0) > kMostPixels)
    return emitError() << "expected at most " << kMostPixels
                       << " pixels, found " << blockType.getDimSize(0);
  return success();
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

namespace {

/// Reads and writes `<key = value, ...>` of the encodings of tensor memory.
class EncodingSyntax {
public:
  explicit EncodingSyntax(AsmParser &parser) : parser(parser) {}

  void number(StringRef key, unsigned &value, bool isRequired) {
    numbers.push_back({key, &value, isRequired});
  }
  void flag(StringRef key, bool &value) { flags.push_back({key, &value}); }
  /// The parts of a matrix that blocks have: `CGALayout`, or the numbers of
  /// parts along both dimensions.
  void blocks(gpu::CTALayoutAttr &value) {
    number(kSplitKeys[0], splits[0], /*isRequired=*/false);
    number(kSplitKeys[1], splits[1], /*isRequired=*/false);
    layout = &value;
  }

  ParseResult parse() {
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseLess())
      return failure();
    if (failed(parser.parseOptionalGreater()) &&
        (parser.parseCommaSeparatedList([&] { return parseKey(); }) ||
         parser.parseGreater()))
      return failure();
    for (const Number &number : numbers)
      if (number.isRequired && !seen.contains(number.key))
        return parser.emitError(loc) << "expected '" << number.key << "'";
    return finishBlocks(loc);
  }

  static void printBlocks(AsmPrinter &printer, gpu::CTALayoutAttr layout,
                          bool isFirst) {
    StringRef comma = isFirst ? "" : ", ";
    ArrayRef<unsigned> splits = layout.getCTASplitNum();
    if (layout != getSplitLayout(layout.getContext(), splits)) {
      printer << comma << kBasesKey << " = [";
      llvm::interleaveComma(
          layout.getBases(), printer,
          [&](ArrayRef<int32_t> basis) { printer << "[" << basis << "]"; });
      printer << "]";
      return;
    }
    for (auto [key, count] : llvm::zip(kSplitKeys, splits))
      if (count != 1) {
        printer << comma << key << " = " << count;
        comma = ", ";
      }
  }

private:
  struct Number {
    StringRef key;
    unsigned *value;
    bool isRequired;
  };
  struct Flag {
    StringRef key;
    bool *value;
  };

  ParseResult parseKey() {
    SMLoc loc = parser.getCurrentLocation();
    StringRef key;
    if (parser.parseKeyword(&key) || parser.parseEqual())
      return failure();
    if (!seen.insert(key).second)
      return parser.emitError(loc) << "'" << key << "' is there twice";
    if (key == kBasesKey)
      return parseBases(loc);
    auto *flag = llvm::find_if(
        flags, [&](const Flag &candidate) { return candidate.key == key; });
    if (flag != flags.end()) {
      StringRef word;
      if (parser.parseKeyword(&word) || (word != "true" && word != "false"))
        return parser.emitError(loc) << "expected true or false";
      *flag->value = word == "true";
      return success();
    }
    auto *it = llvm::find_if(
        numbers, [&](const Number &number) { return number.key == key; });
    if (it == numbers.end())
      return parser.emitError(loc) << "unknown key '" << key << "'";
    return parser.parseInteger(*it->value);
  }

  /// One basis for each bit of the number of a block.
  ParseResult parseBases(SMLoc loc) {
    return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                          [&] { return parseBasis(loc); });
  }

  ParseResult parseBasis(SMLoc loc) {
    std::vector<int32_t> &basis = bases.emplace_back();
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
          return parser.parseInteger(basis.emplace_back());
        }))
      return failure();
    if (basis.size() != 2)
      return parser.emitError(loc)
             << "expected bases of two coordinates, found " << basis.size();
    return success();
  }

  ParseResult finishBlocks(SMLoc loc) {
    MLIRContext *context = parser.getContext();
    bool namesSplits = llvm::any_of(
        kSplitKeys, [&](StringRef key) { return seen.contains(key); });
    if (seen.contains(kBasesKey)) {
      if (namesSplits)
        return parser.emitError(loc)
               << "expected " << kBasesKey << ", or " << kSplitKeys[0]
               << " and " << kSplitKeys[1] << ", found both";
      *layout = gpu::CTALayoutAttr::get(context, /*rank=*/2, bases);
      return success();
    }
    if (!llvm::all_of(splits, llvm::isPowerOf2_32))
      return parser.emitError(loc)
             << "expected powers of two as " << kSplitKeys[0] << " and "
             << kSplitKeys[1] << ", found " << splits[0] << " and "
             << splits[1];
    *layout = getSplitLayout(context, splits);
    return success();
  }

  /// Blocks that count along M, then along N.
  static gpu::CTALayoutAttr getSplitLayout(MLIRContext *context,
                                           ArrayRef<unsigned> splits) {
    return gpu::CTALayoutAttr::get(context, /*CTAsPerCGA=*/splits,
                                   /*CTASplitNum=*/splits,
                                   /*CTAOrder=*/ArrayRef<unsigned>{0, 1});
  }

  static constexpr StringLiteral kBasesKey = "CGALayout";
  static constexpr StringLiteral kSplitKeys[] = {"CTASplitM", "CTASplitN"};

  AsmParser &parser;
  SmallVector<Number> numbers;
  SmallVector<Flag> flags;
  std::array<unsigned, 2> splits{1, 1};
  LinearLayout::DimBases bases;
  gpu::CTALayoutAttr *layout = nullptr;
  llvm::StringSet<> seen;
};

} // namespace

Attribute TensorMemoryEncodingAttr::parse(AsmParser &parser, Type) {
  unsigned blockM = 0, blockN = 0, colStride = 0;
  gpu::CTALayoutAttr blocks;
  bool twoCTAs = false, fp4Padded = false;
  SMLoc loc = parser.getCurrentLocation();
  EncodingSyntax syntax(parser);
  syntax.number("blockM", blockM, /*isRequired=*/true);
  syntax.number("blockN", blockN, /*isRequired=*/true);
  syntax.number("colStride", colStride, /*isRequired=*/true);
  syntax.blocks(blocks);
  syntax.flag("twoCTAs", twoCTAs);
  syntax.flag("fp4Padded", fp4Padded);
  if (syntax.parse())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    blockM, blockN, colStride, blocks, twoCTAs, fp4Padded);
}

void TensorMemoryEncodingAttr::print(AsmPrinter &printer) const {
  printer << "<blockM = " << getBlockM() << ", blockN = " << getBlockN()
          << ", colStride = " << getColStride();
  EncodingSyntax::printBlocks(printer, getCTALayout(), /*isFirst=*/false);
  if (getTwoCTAs())
    printer << ", twoCTAs = true";
  if (getFp4Padded())
    printer << ", fp4Padded = true";
  printer << ">";
}

Attribute TensorMemoryScalesEncodingAttr::parse(AsmParser &parser, Type) {
  gpu::CTALayoutAttr blocks;
  SMLoc loc = parser.getCurrentLocation();
  EncodingSyntax syntax(parser);
  syntax.blocks(blocks);
  if (syntax.parse())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    blocks);
}

void TensorMemoryScalesEncodingAttr::print(AsmPrinter &printer) const {
  printer << "<";
  EncodingSyntax::printBlocks(printer, getCTALayout(), /*isFirst=*/true);
  printer << ">";
}

/// Each part of each dimension has one bit of a block's number that counts it.
static LogicalResult verifyBlocks(function_ref<InFlightDiagnostic()> emitError,
                                  gpu::CTALayoutAttr layout) {
  std::array<int64_t, 2> next{1, 1};
  SmallVector<std::pair<int32_t, unsigned>> steps;
  for (ArrayRef<int32_t> basis : layout.getBases()) {
    if (basis[0] != 0 && basis[1] != 0)
      return emitError() << "expected bases along M or along N, found ["
                         << basis << "]";
    for (unsigned dim : {0, 1})
      if (basis[dim] != 0)
        steps.push_back({basis[dim], dim});
  }
  llvm::sort(steps);
  for (auto [step, dim] : steps) {
    if (step != next[dim])
      return emitError() << "expected bases that count the parts along M and "
                            "along N by powers of two, each of them once, "
                            "found a step of "
                         << step << " for " << next[dim];
    next[dim] *= 2;
  }
  return success();
}

LogicalResult
TensorMemoryEncodingAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 unsigned blockM, unsigned blockN,
                                 unsigned colStride, gpu::CTALayoutAttr blocks,
                                 bool twoCTAs, bool fp4Padded) {
  if (blockM != 64 && blockM != 128)
    return emitError() << "expected blockM to be 64 or 128, found " << blockM;
  if (!llvm::isPowerOf2_32(blockN) || blockN > kTensorMemoryColumns)
    return emitError() << "expected blockN to be a power of two, at most "
                       << kTensorMemoryColumns << ", found " << blockN;
  if (colStride != 1 && colStride != 2 && colStride != 4)
    return emitError() << "expected colStride to be 1, 2 or 4, found "
                       << colStride;
  if (fp4Padded && colStride != 1)
    return emitError() << "expected colStride to be 1 with fp4Padded, found "
                       << colStride;
  return verifyBlocks(emitError, blocks);
}

unsigned TensorMemoryEncodingAttr::getRank() const { return 2; }

LogicalResult TensorMemoryScalesEncodingAttr::verify(
    function_ref<InFlightDiagnostic()> emitError, gpu::CTALayoutAttr blocks) {
  return verifyBlocks(emitError, blocks);
}

unsigned TensorMemoryScalesEncodingAttr::getRank() const { return 2; }
