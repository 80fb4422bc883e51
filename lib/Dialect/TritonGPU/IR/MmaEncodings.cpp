//===-- MmaEncodings.cpp - nvidia_mma, amd_mfma, amd_wmma -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "EncodingSyntax.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

/// The last dimension first; with `swapLastTwo`, the one before it.
static SmallVector<unsigned> getMatrixOrder(unsigned rank, bool swapLastTwo) {
  SmallVector<unsigned> order;
  for (unsigned dim = rank; dim-- > 0;)
    order.push_back(dim);
  if (swapLastTwo)
    std::swap(order[0], order[1]);
  return order;
}

static LogicalResult verifyWarps(EmitError emitError,
                                 ArrayRef<unsigned> warpsPerCTA,
                                 CTALayoutAttr ctaLayout) {
  unsigned rank = warpsPerCTA.size();
  if (rank != 2 && rank != 3)
    return emitError() << "expected 'warpsPerCTA' to have rank 2, or 3 for a "
                          "batch of products, found "
                       << rank;
  if (failed(verifyPowersOfTwo(emitError, "warpsPerCTA", warpsPerCTA)))
    return failure();
  return verifyCTALayout(emitError, ctaLayout, rank);
}

static LogicalResult verifyMNK(EmitError emitError,
                               ArrayRef<unsigned> instrShape) {
  if (instrShape.size() != 3)
    return emitError() << "expected 'instrShape' to be [M, N, K], found ["
                       << instrShape << "]";
  return verifyPowersOfTwo(emitError, "instrShape", instrShape);
}

static LogicalResult verifyTiles(EmitError emitError,
                                 ArrayRef<unsigned> tilesPerWarp,
                                 ArrayRef<unsigned> warpsPerCTA) {
  if (failed(verifyRank(emitError, "tilesPerWarp", tilesPerWarp.size(),
                        "'warpsPerCTA'", warpsPerCTA.size())))
    return failure();
  return verifyPowersOfTwo(emitError, "tilesPerWarp", tilesPerWarp);
}

static bool isAllOnes(ArrayRef<unsigned> values) {
  return llvm::all_of(values, [](unsigned value) { return value == 1; });
}

//===----------------------------------------------------------------------===//
// NvidiaMmaEncodingAttr
//===----------------------------------------------------------------------===//

unsigned NvidiaMmaEncodingAttr::getRank() const {
  return getWarpsPerCTA().size();
}

SmallVector<unsigned> NvidiaMmaEncodingAttr::getDefaultOrder() const {
  return getMatrixOrder(getRank(), /*swapLastTwo=*/false);
}

unsigned NvidiaMmaEncodingAttr::getDefaultKWidth(Type elementType) const {
  return std::max(1u, 32 / elementType.getIntOrFloatBitWidth());
}

LogicalResult NvidiaMmaEncodingAttr::verifyOperand(EmitError emitError,
                                                   unsigned opIdx) const {
  if (isHopper() && opIdx != 0)
    return emitError() << "expected 'opIdx' to be 0, as wgmma takes only its "
                          "left operand from registers, found 1";
  return success();
}

Attribute NvidiaMmaEncodingAttr::parse(AsmParser &parser, Type) {
  EncodingReader reader(parser);
  unsigned versionMajor = 0, versionMinor = 0;
  SmallVector<unsigned> warpsPerCTA, instrShape;
  CTALayoutAttr ctaLayout;
  if (parser.parseLess() || reader.readKeys() ||
      reader.uintValue("versionMajor", versionMajor) ||
      reader.uintValue("versionMinor", versionMinor, /*required=*/false) ||
      reader.uints("warpsPerCTA", warpsPerCTA) ||
      reader.uints("instrShape", instrShape) ||
      reader.ctaLayout(warpsPerCTA.size(), ctaLayout) || reader.finish() ||
      parser.parseGreater())
    return {};
  return getChecked([&] { return reader.error(); }, parser.getContext(),
                    versionMajor, versionMinor, ArrayRef(warpsPerCTA),
                    ctaLayout, ArrayRef(instrShape));
}

void NvidiaMmaEncodingAttr::print(AsmPrinter &printer) const {
  printer << "<{versionMajor = " << getVersionMajor()
          << ", versionMinor = " << getVersionMinor() << ", ";
  printUInts(printer, "warpsPerCTA", getWarpsPerCTA());
  printCTALayout(printer, getCTALayout());
  printer << ", ";
  printUInts(printer, "instrShape", getInstrShape());
  printer << "}>";
}

LogicalResult NvidiaMmaEncodingAttr::verify(
    function_ref<InFlightDiagnostic()> emitError, unsigned versionMajor,
    unsigned versionMinor, ArrayRef<unsigned> warpsPerCTA,
    CTALayoutAttr CTALayout, ArrayRef<unsigned> instrShape) {
  if (failed(verifyWarps(emitError, warpsPerCTA, CTALayout)))
    return failure();
  if (versionMajor == 2) {
    if (instrShape.size() != warpsPerCTA.size() ||
        instrShape.take_back(2) != ArrayRef<unsigned>({16, 8}) ||
        !isAllOnes(instrShape.drop_back(2)))
      return emitError() << "expected 'instrShape' to be [16, 8] for mma "
                            "version 2 (with a leading 1 in a batch), found ["
                         << instrShape << "]";
    return success();
  }
  if (versionMajor == 3) {
    if (instrShape.size() != 3 || instrShape[0] != 16 || instrShape[1] == 0 ||
        instrShape[1] % 8 != 0 || instrShape[1] > 256 ||
        !llvm::isPowerOf2_32(instrShape[2]))
      return emitError()
             << "expected 'instrShape' to be [16, N, K] for mma version 3, "
                "with N a multiple of 8 up to 256, found ["
             << instrShape << "]";
    return success();
  }
  return emitError()
         << "expected 'versionMajor' to be 2 (mma) or 3 (wgmma), found "
         << versionMajor;
}

//===----------------------------------------------------------------------===//
// AMDMfmaEncodingAttr
//===----------------------------------------------------------------------===//

unsigned AMDMfmaEncodingAttr::getRank() const {
  return getWarpsPerCTA().size();
}

SmallVector<unsigned> AMDMfmaEncodingAttr::getDefaultOrder() const {
  return getMatrixOrder(getRank(), /*swapLastTwo=*/!getIsTransposed());
}

unsigned AMDMfmaEncodingAttr::getThreadsPerWarp() const { return 64; }

Attribute AMDMfmaEncodingAttr::parse(AsmParser &parser, Type) {
  EncodingReader reader(parser);
  unsigned version = 0, elementBitWidth = 32;
  bool isTransposed = false;
  SmallVector<unsigned> warpsPerCTA, instrShape, tilesPerWarp;
  CTALayoutAttr ctaLayout;
  if (parser.parseLess() || reader.readKeys() ||
      reader.uintValue("version", version) ||
      reader.uints("warpsPerCTA", warpsPerCTA) ||
      reader.uints("instrShape", instrShape) ||
      reader.boolean("isTransposed", isTransposed) ||
      reader.ctaLayout(warpsPerCTA.size(), ctaLayout) ||
      reader.uints("tilesPerWarp", tilesPerWarp, /*required=*/false) ||
      reader.uintValue("elementBitWidth", elementBitWidth,
                       /*required=*/false) ||
      reader.finish() || parser.parseGreater())
    return {};
  if (!reader.has("tilesPerWarp"))
    tilesPerWarp.assign(warpsPerCTA.size(), 1);
  return getChecked([&] { return reader.error(); }, parser.getContext(),
                    version, ArrayRef(warpsPerCTA), ArrayRef(instrShape),
                    isTransposed, ctaLayout, ArrayRef(tilesPerWarp),
                    elementBitWidth);
}

void AMDMfmaEncodingAttr::print(AsmPrinter &printer) const {
  printer << "<{version = " << getVersion() << ", ";
  printUInts(printer, "warpsPerCTA", getWarpsPerCTA());
  printer << ", ";
  printUInts(printer, "instrShape", getInstrShape());
  printer << ", isTransposed = " << (getIsTransposed() ? "true" : "false");
  printCTALayout(printer, getCTALayout());
  if (!isAllOnes(getTilesPerWarp())) {
    printer << ", ";
    printUInts(printer, "tilesPerWarp", getTilesPerWarp());
  }
  if (getElementBitWidth() != 32)
    printer << ", elementBitWidth = " << getElementBitWidth();
  printer << "}>";
}

LogicalResult AMDMfmaEncodingAttr::verify(
    function_ref<InFlightDiagnostic()> emitError, unsigned version,
    ArrayRef<unsigned> warpsPerCTA, ArrayRef<unsigned> instrShape,
    bool isTransposed, CTALayoutAttr CTALayout, ArrayRef<unsigned> tilesPerWarp,
    unsigned elementBitWidth) {
  if (version < 1 || version > 4)
    return emitError() << "expected 'version' to be 1 to 4, found " << version;
  if (failed(verifyWarps(emitError, warpsPerCTA, CTALayout)) ||
      failed(verifyMNK(emitError, instrShape)) ||
      failed(verifyTiles(emitError, tilesPerWarp, warpsPerCTA)))
    return failure();
  if (elementBitWidth != 32 && elementBitWidth != 64)
    return emitError() << "expected 'elementBitWidth' to be 32 or 64, found "
                       << elementBitWidth;
  return success();
}

//===----------------------------------------------------------------------===//
// AMDWmmaEncodingAttr
//===----------------------------------------------------------------------===//

static constexpr unsigned defaultWmmaShape[] = {16, 16, 16};

unsigned AMDWmmaEncodingAttr::getRank() const {
  return getWarpsPerCTA().size();
}

SmallVector<unsigned> AMDWmmaEncodingAttr::getDefaultOrder() const {
  return getMatrixOrder(getRank(), /*swapLastTwo=*/!getIsTransposed());
}

/// Reads `ctaLayout = {register = [[..]], warp = [[..]]}`, as Triton prints the
/// grids of tiles and warps. Their last dimension has to count fastest.
static ParseResult readGrids(EncodingReader &reader,
                             SmallVectorImpl<unsigned> &warpsPerCTA,
                             SmallVectorImpl<unsigned> &tilesPerWarp) {
  Attribute value;
  if (reader.attribute("ctaLayout", value))
    return failure();
  auto grids = dyn_cast<DictionaryAttr>(value);
  auto read = [&](StringRef name, SmallVectorImpl<unsigned> &extents,
                  ArrayRef<unsigned> steps) {
    extents.assign(2, 1);
    auto bases = dyn_cast_or_null<ArrayAttr>(grids.get(name));
    if (!bases)
      return !grids.contains(name);
    unsigned dim = 1;
    for (Attribute basis : bases) {
      auto entries = dyn_cast<ArrayAttr>(basis);
      if (!entries || entries.size() != 2 ||
          !llvm::all_of(entries, llvm::IsaPred<IntegerAttr>))
        return false;
      int64_t places[] = {cast<IntegerAttr>(entries[0]).getInt(),
                          cast<IntegerAttr>(entries[1]).getInt()};
      if (places[0])
        dim = 0;
      if (places[1 - dim] || places[dim] != steps[dim] * extents[dim])
        return false;
      extents[dim] *= 2;
    }
    return true;
  };
  auto isKnown = [](NamedAttribute attribute) {
    return attribute.getName() == "register" || attribute.getName() == "warp";
  };
  if (!grids || !llvm::all_of(grids, isKnown) ||
      !read("register", tilesPerWarp, {1, 1}) ||
      !read("warp", warpsPerCTA, tilesPerWarp))
    return reader.error() << "expected a 'ctaLayout' of bases 'register' and "
                             "'warp' in two dimensions, the last of which "
                             "counts fastest, found "
                          << value;
  return success();
}

Attribute AMDWmmaEncodingAttr::parse(AsmParser &parser, Type) {
  EncodingReader reader(parser);
  unsigned version = 0;
  bool isTransposed = false;
  SmallVector<unsigned> warpsPerCTA, instrShape(3, 16), tilesPerWarp;
  CTALayoutAttr ctaLayout;
  if (parser.parseLess() || reader.readKeys() ||
      reader.uintValue("version", version) ||
      reader.boolean("isTranspose", isTransposed) ||
      (reader.has("ctaLayout")
           ? readGrids(reader, warpsPerCTA, tilesPerWarp)
           : ParseResult(failure(reader.uints("warpsPerCTA", warpsPerCTA) ||
                                 reader.uints("tilesPerWarp", tilesPerWarp,
                                              /*required=*/false)))) ||
      reader.ctaLayout(warpsPerCTA.size(), ctaLayout) ||
      reader.uints("instrShape", instrShape, /*required=*/false) ||
      reader.finish() || parser.parseGreater())
    return {};
  if (tilesPerWarp.empty())
    tilesPerWarp.assign(warpsPerCTA.size(), 1);
  return getChecked([&] { return reader.error(); }, parser.getContext(),
                    version, isTransposed, ArrayRef(warpsPerCTA), ctaLayout,
                    ArrayRef(tilesPerWarp), ArrayRef(instrShape));
}

void AMDWmmaEncodingAttr::print(AsmPrinter &printer) const {
  printer << "<{version = " << getVersion()
          << ", isTranspose = " << (getIsTransposed() ? "true" : "false")
          << ", ";
  printUInts(printer, "warpsPerCTA", getWarpsPerCTA());
  printCTALayout(printer, getCTALayout());
  if (!isAllOnes(getTilesPerWarp())) {
    printer << ", ";
    printUInts(printer, "tilesPerWarp", getTilesPerWarp());
  }
  if (getInstrShape() != ArrayRef<unsigned>(defaultWmmaShape)) {
    printer << ", ";
    printUInts(printer, "instrShape", getInstrShape());
  }
  printer << "}>";
}

LogicalResult AMDWmmaEncodingAttr::verify(
    function_ref<InFlightDiagnostic()> emitError, unsigned version,
    bool isTransposed, ArrayRef<unsigned> warpsPerCTA, CTALayoutAttr CTALayout,
    ArrayRef<unsigned> tilesPerWarp, ArrayRef<unsigned> instrShape) {
  if (version < 1 || version > 3)
    return emitError() << "expected 'version' to be 1 to 3, found " << version;
  if (failed(verifyWarps(emitError, warpsPerCTA, CTALayout)) ||
      failed(verifyMNK(emitError, instrShape)))
    return failure();
  return verifyTiles(emitError, tilesPerWarp, warpsPerCTA);
}
