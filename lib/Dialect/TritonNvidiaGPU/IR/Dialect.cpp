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
  /// The parts of a matrix that blocks have: read from `CGALayout`, too.
  void split(unsigned &m, unsigned &n) {
    number("CTASplitM", m, /*isRequired=*/false);
    number("CTASplitN", n, /*isRequired=*/false);
    splits = {&m, &n};
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
    return success();
  }

  static void printSplit(AsmPrinter &printer, unsigned m, unsigned n,
                         bool isFirst) {
    StringRef comma = isFirst ? "" : ", ";
    if (m != 1) {
      printer << comma << "CTASplitM = " << m;
      comma = ", ";
    }
    if (n != 1)
      printer << comma << "CTASplitN = " << n;
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
    if (key == "CGALayout")
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
    SmallVector<unsigned> basis;
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
          return parser.parseInteger(basis.emplace_back());
        }))
      return failure();
    if (basis.size() != 2)
      return parser.emitError(loc)
             << "expected bases of two coordinates, found " << basis.size();
    // Blocks that have the same. Only the numbers of parts are kept, so none
    // of the other bits may have another place.
    bool isSame = basis[0] == 0 && basis[1] == 0;
    bool anyDivides = *splits[0] * *splits[1] > 1;
    unsigned dim = basis[0] == 0;
    if (isSame ? anyDivides
               : seesSame || basis[1 - dim] != 0 ||
                     basis[dim] != *splits[dim] || (dim == 0 && *splits[1] > 1))
      return parser.emitError(loc)
             << "expected bases that count blocks along M, then along N, each "
                "by powers of two in order, or all of which are zero";
    if (isSame)
      seesSame = true;
    else
      *splits[dim] *= 2;
    return success();
  }

  AsmParser &parser;
  SmallVector<Number> numbers;
  SmallVector<Flag> flags;
  std::array<unsigned *, 2> splits{};
  bool seesSame = false;
  llvm::StringSet<> seen;
};

} // namespace

Attribute TensorMemoryEncodingAttr::parse(AsmParser &parser, Type) {
  unsigned blockM = 0, blockN = 0, colStride = 0, splitM = 1, splitN = 1;
  bool twoCTAs = false, fp4Padded = false;
  SMLoc loc = parser.getCurrentLocation();
  EncodingSyntax syntax(parser);
  syntax.number("blockM", blockM, /*isRequired=*/true);
  syntax.number("blockN", blockN, /*isRequired=*/true);
  syntax.number("colStride", colStride, /*isRequired=*/true);
  syntax.split(splitM, splitN);
  syntax.flag("twoCTAs", twoCTAs);
  syntax.flag("fp4Padded", fp4Padded);
  if (syntax.parse())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    blockM, blockN, colStride, splitM, splitN, twoCTAs,
                    fp4Padded);
}

void TensorMemoryEncodingAttr::print(AsmPrinter &printer) const {
  printer << "<blockM = " << getBlockM() << ", blockN = " << getBlockN()
          << ", colStride = " << getColStride();
  EncodingSyntax::printSplit(printer, getCTASplitM(), getCTASplitN(),
                             /*isFirst=*/false);
  if (getTwoCTAs())
    printer << ", twoCTAs = true";
  if (getFp4Padded())
    printer << ", fp4Padded = true";
  printer << ">";
}

Attribute TensorMemoryScalesEncodingAttr::parse(AsmParser &parser, Type) {
  unsigned splitM = 1, splitN = 1;
  SMLoc loc = parser.getCurrentLocation();
  EncodingSyntax syntax(parser);
  syntax.split(splitM, splitN);
  if (syntax.parse())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    splitM, splitN);
}

void TensorMemoryScalesEncodingAttr::print(AsmPrinter &printer) const {
  printer << "<";
  EncodingSyntax::printSplit(printer, getCTASplitM(), getCTASplitN(),
                             /*isFirst=*/true);
  printer << ">";
}

static LogicalResult
verifyCTASplit(function_ref<InFlightDiagnostic()> emitError, unsigned splitM,
               unsigned splitN) {
  if (!llvm::isPowerOf2_32(splitM) || !llvm::isPowerOf2_32(splitN))
    return emitError()
           << "expected powers of two as CTASplitM and CTASplitN, found "
           << splitM << " and " << splitN;
  return success();
}

static gpu::CTALayoutAttr getSplitLayout(MLIRContext *context, unsigned splitM,
                                         unsigned splitN) {
  SmallVector<unsigned> split{splitM, splitN};
  return gpu::CTALayoutAttr::get(context, /*CTAsPerCGA=*/split,
                                 /*CTASplitNum=*/split,
                                 /*CTAOrder=*/ArrayRef<unsigned>{0, 1});
}

LogicalResult TensorMemoryEncodingAttr::verify(
    function_ref<InFlightDiagnostic()> emitError, unsigned blockM,
    unsigned blockN, unsigned colStride, unsigned splitM, unsigned splitN,
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
  return verifyCTASplit(emitError, splitM, splitN);
}

gpu::CTALayoutAttr TensorMemoryEncodingAttr::getCTALayout() const {
  return getSplitLayout(getContext(), getCTASplitM(), getCTASplitN());
}

unsigned TensorMemoryEncodingAttr::getRank() const { return 2; }

LogicalResult TensorMemoryScalesEncodingAttr::verify(
    function_ref<InFlightDiagnostic()> emitError, unsigned splitM,
    unsigned splitN) {
  return verifyCTASplit(emitError, splitM, splitN);
}

gpu::CTALayoutAttr TensorMemoryScalesEncodingAttr::getCTALayout() const {
  return getSplitLayout(getContext(), getCTASplitM(), getCTASplitN());
}

unsigned TensorMemoryScalesEncodingAttr::getRank() const { return 2; }
