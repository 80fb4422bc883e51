//===-- SharedEncodings.cpp - Encodings of shared memory ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "EncodingSyntax.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

/// What accesses of up to 128 bits need.
static constexpr int32_t defaultAlignment = 16;

static constexpr StringRef sharedDims[] = {kOffset, kBlock};

//===----------------------------------------------------------------------===//
// SwizzledSharedEncodingAttr, AMDRotatingSharedEncodingAttr
//===----------------------------------------------------------------------===//

template <typename EncodingAttr>
static Attribute parseSwizzle(AsmParser &parser) {
  EncodingReader reader(parser);
  unsigned vec = 0, perPhase = 0, maxPhase = 0;
  SmallVector<unsigned> order;
  CTALayoutAttr ctaLayout;
  if (parser.parseLess() || reader.readKeys() || reader.uintValue("vec", vec) ||
      reader.uintValue("perPhase", perPhase) ||
      reader.uintValue("maxPhase", maxPhase) || reader.uints("order", order) ||
      reader.ctaLayout(order.size(), ctaLayout) || reader.finish() ||
      parser.parseGreater())
    return {};
  return EncodingAttr::getChecked([&] { return reader.error(); },
                                  parser.getContext(), vec, perPhase, maxPhase,
                                  ArrayRef<unsigned>(order), ctaLayout);
}

template <typename EncodingAttr>
static void printSwizzle(AsmPrinter &printer, EncodingAttr encoding) {
  printer << "<{vec = " << encoding.getVec()
          << ", perPhase = " << encoding.getPerPhase()
          << ", maxPhase = " << encoding.getMaxPhase() << ", ";
  printUInts(printer, "order", encoding.getOrder());
  printCTALayout(printer, encoding.getCTALayout());
  printer << "}>";
}

static LogicalResult verifySwizzle(EmitError emitError, unsigned vec,
                                   unsigned perPhase, unsigned maxPhase,
                                   ArrayRef<unsigned> order,
                                   CTALayoutAttr ctaLayout) {
  if (order.empty())
    return emitError()
           << "expected a shared layout of at least one dimension, found none";
  if (failed(verifyPowersOfTwo(emitError, "vec", vec)) ||
      failed(verifyPowersOfTwo(emitError, "perPhase", perPhase)) ||
      failed(verifyPowersOfTwo(emitError, "maxPhase", maxPhase)) ||
      failed(verifyOrder(emitError, order)))
    return failure();
  return verifyCTALayout(emitError, ctaLayout, order.size());
}

SwizzledSharedEncodingAttr SwizzledSharedEncodingAttr::get(MLIRContext *context,
                                                           unsigned rank) {
  SmallVector<unsigned> order;
  for (unsigned dim = rank; dim-- > 0;)
    order.push_back(dim);
  return get(context, 1, 1, 1, order, CTALayoutAttr::getDefault(context, rank));
}

unsigned SwizzledSharedEncodingAttr::getRank() const {
  return getOrder().size();
}

int32_t SwizzledSharedEncodingAttr::getAlignment() const {
  return defaultAlignment;
}

Attribute SwizzledSharedEncodingAttr::parse(AsmParser &parser, Type) {
  return parseSwizzle<SwizzledSharedEncodingAttr>(parser);
}

void SwizzledSharedEncodingAttr::print(AsmPrinter &printer) const {
  printSwizzle(printer, *this);
}

LogicalResult
SwizzledSharedEncodingAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   unsigned vec, unsigned perPhase,
                                   unsigned maxPhase, ArrayRef<unsigned> order,
                                   CTALayoutAttr CTALayout) {
  return verifySwizzle(emitError, vec, perPhase, maxPhase, order, CTALayout);
}

unsigned AMDRotatingSharedEncodingAttr::getRank() const {
  return getOrder().size();
}

int32_t AMDRotatingSharedEncodingAttr::getAlignment() const {
  return defaultAlignment;
}

Attribute AMDRotatingSharedEncodingAttr::parse(AsmParser &parser, Type) {
  return parseSwizzle<AMDRotatingSharedEncodingAttr>(parser);
}

void AMDRotatingSharedEncodingAttr::print(AsmPrinter &printer) const {
  printSwizzle(printer, *this);
}

LogicalResult AMDRotatingSharedEncodingAttr::verify(
    function_ref<InFlightDiagnostic()> emitError, unsigned vec,
    unsigned perPhase, unsigned maxPhase, ArrayRef<unsigned> order,
    CTALayoutAttr CTALayout) {
  return verifySwizzle(emitError, vec, perPhase, maxPhase, order, CTALayout);
}

//===----------------------------------------------------------------------===//
// NVMMASharedEncodingAttr
//===----------------------------------------------------------------------===//

NVMMASharedEncodingAttr
NVMMASharedEncodingAttr::get(MLIRContext *context, ArrayRef<int64_t> shape,
                             ArrayRef<unsigned> order, CTALayoutAttr CTALayout,
                             Type elementType, bool fp4Padded) {
  SmallVector<int64_t> shapePerCTA =
      getShapePerCTA(CTALayout.getCTASplitNum(), shape);
  unsigned bitWidth = elementType.getIntOrFloatBitWidth();
  int64_t packing = fp4Padded ? 2 : 1;
  int64_t rowBytes = shapePerCTA[order[0]] * packing * bitWidth / 8;
  unsigned swizzle = 0;
  for (unsigned width : {128, 64, 32}) {
    if (rowBytes >= width) {
      swizzle = width;
      break;
    }
  }
  // The pattern spans 8 rows: a tensor with fewer has no room for it.
  int64_t rows = 1;
  for (unsigned dim : order.drop_front())
    rows *= shapePerCTA[dim];
  if (rows < 8)
    swizzle = 0;
  bool transposed = order.size() > 1 && order[0] != order.size() - 1;
  return get(context, swizzle, transposed, bitWidth, fp4Padded, CTALayout);
}

unsigned NVMMASharedEncodingAttr::getRank() const {
  return getCTALayout().getRank();
}

int32_t NVMMASharedEncodingAttr::getAlignment() const {
  // The hardware takes the phase of the swizzle from address bits, so a buffer
  // starts where the pattern does; TMA wants 128 bytes in any case.
  return 128 * getMaxPhase();
}

Attribute NVMMASharedEncodingAttr::parse(AsmParser &parser, Type) {
  EncodingReader reader(parser);
  unsigned swizzlingByteWidth = 0, elementBitWidth = 0, rank = 0;
  bool transposed = false, fp4Padded = false;
  CTALayoutAttr ctaLayout;
  if (parser.parseLess() || reader.readKeys() ||
      reader.uintValue("swizzlingByteWidth", swizzlingByteWidth) ||
      reader.boolean("transposed", transposed) ||
      reader.uintValue("elementBitWidth", elementBitWidth) ||
      reader.boolean("fp4Padded", fp4Padded, /*required=*/false) ||
      reader.uintValue("rank", rank, /*required=*/false) ||
      reader.ctaLayout(rank, ctaLayout, /*defaultRank=*/2) || reader.finish() ||
      parser.parseGreater())
    return {};
  return getChecked([&] { return reader.error(); }, parser.getContext(),
                    swizzlingByteWidth, transposed, elementBitWidth, fp4Padded,
                    ctaLayout);
}

void NVMMASharedEncodingAttr::print(AsmPrinter &printer) const {
  printer << "<{swizzlingByteWidth = " << getSwizzlingByteWidth()
          << ", transposed = " << (getTransposed() ? "true" : "false")
          << ", elementBitWidth = " << getElementBitWidth();
  if (getFp4Padded())
    printer << ", fp4Padded = true";
  if (getCTALayout().isDefault() && getRank() != 2)
    printer << ", rank = " << getRank();
  printCTALayout(printer, getCTALayout());
  printer << "}>";
}

LogicalResult
NVMMASharedEncodingAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                unsigned swizzlingByteWidth, bool transposed,
                                unsigned elementBitWidth, bool fp4Padded,
                                CTALayoutAttr CTALayout) {
  if (!llvm::is_contained({0u, 32u, 64u, 128u}, swizzlingByteWidth))
    return emitError()
           << "expected 'swizzlingByteWidth' to be 0, 32, 64 or 128, found "
           << swizzlingByteWidth;
  if (!llvm::is_contained({8u, 16u, 32u, 64u}, elementBitWidth))
    return emitError()
           << "expected 'elementBitWidth' to be 8, 16, 32 or 64, found "
           << elementBitWidth;
  if (fp4Padded && elementBitWidth != 8)
    return emitError()
           << "expected 'elementBitWidth' to be 8 with 'fp4Padded', which is "
              "for pairs of 4-bit numbers in bytes, found "
           << elementBitWidth;
  if (!CTALayout || CTALayout.getRank() == 0)
    return emitError()
           << "expected a shared layout of at least one dimension, found none";
  if (transposed && CTALayout.getRank() < 2)
    return emitError()
           << "expected two dimensions with 'transposed', found one";
  return success();
}

//===----------------------------------------------------------------------===//
// PaddedSharedEncodingAttr
//===----------------------------------------------------------------------===//

static LinearLayout getIdentityLayout(ArrayRef<int64_t> shape,
                                      ArrayRef<unsigned> order) {
  SmallVector<StringRef> names = standardOutDimNames(order.size());
  return LinearLayout::identityND(kOffset, shape, order, names)
      .transposeOuts(names)
      .unsqueezeIn(kBlock);
}

PaddedSharedEncodingAttr PaddedSharedEncodingAttr::get(
    MLIRContext *context, ArrayRef<std::pair<unsigned, unsigned>> intervalPads,
    ArrayRef<unsigned> order, ArrayRef<int64_t> shape) {
  SmallVector<unsigned> intervals, paddings;
  for (auto [interval, padding] : intervalPads) {
    intervals.push_back(interval);
    paddings.push_back(padding);
  }
  return get(context, intervals, paddings, getIdentityLayout(shape, order));
}

unsigned PaddedSharedEncodingAttr::getRank() const {
  return getLinearComponent().getNumOutDims();
}

/// The distribution over blocks that the block bases of a layout of shared
/// memory show.
static CTALayoutAttr getBlockLayout(MLIRContext *context,
                                    const LinearLayout &layout) {
  unsigned rank = layout.getNumOutDims();
  SmallVector<int32_t> partSize(rank, 1);
  for (unsigned pos = 0; pos < layout.getInDimSizeLog2(kOffset); ++pos)
    for (auto [size, coord] :
         llvm::zip(partSize, layout.getBasis(kOffset, pos)))
      size = std::max<int32_t>(size, llvm::PowerOf2Ceil(coord + 1));
  LinearLayout::DimBases bases;
  for (unsigned pos = 0; pos < layout.getInDimSizeLog2(kBlock); ++pos) {
    std::vector<int32_t> basis = ArrayRef(layout.getBasis(kBlock, pos)).vec();
    for (auto [size, coord] : llvm::zip(partSize, basis))
      coord = coord == 0 ? 0 : std::max(1, coord / size);
    bases.push_back(std::move(basis));
  }
  return CTALayoutAttr::get(context, rank, bases);
}

CTALayoutAttr PaddedSharedEncodingAttr::getCTALayout() const {
  return getBlockLayout(getContext(), getLinearComponent());
}

int32_t PaddedSharedEncodingAttr::getAlignment() const {
  return defaultAlignment;
}

int64_t PaddedSharedEncodingAttr::getPaddedSize(int64_t numElements) const {
  int64_t size = numElements;
  // A gap comes before the element that follows it, so none comes last.
  for (auto [interval, padding] : llvm::zip(getIntervals(), getPaddings()))
    size += (numElements - 1) / interval * padding;
  return size;
}

/// The order in which a layout is the identity over its shape, if it is.
static std::optional<SmallVector<unsigned>>
getIdentityOrder(const LinearLayout &layout) {
  if (layout.getInDimSizeLog2(kBlock) != 0)
    return std::nullopt;
  unsigned rank = layout.getNumOutDims();
  SmallVector<unsigned> order;
  SmallVector<int32_t> next(rank, 1);
  for (unsigned pos = 0; pos < layout.getInDimSizeLog2(kOffset); ++pos) {
    SmallVector<int32_t, 4> basis = layout.getBasis(kOffset, pos);
    auto isNonZero = [](int32_t coord) { return coord != 0; };
    if (llvm::count_if(basis, isNonZero) != 1)
      return std::nullopt;
    unsigned dim = llvm::find_if(basis, isNonZero) - basis.begin();
    bool isNew = next[dim] == 1;
    if (basis[dim] != next[dim] || (!isNew && order.back() != dim))
      return std::nullopt;
    if (isNew)
      order.push_back(dim);
    next[dim] *= 2;
  }
  for (unsigned dim = rank; dim-- > 0;)
    if (!llvm::is_contained(order, dim))
      order.push_back(dim);
  return order;
}

Attribute PaddedSharedEncodingAttr::parse(AsmParser &parser, Type) {
  EncodingReader reader(parser);
  SmallVector<unsigned> intervals, paddings;
  auto parsePad = [&]() -> ParseResult {
    return failure(parser.parseInteger(intervals.emplace_back()) ||
                   parser.parseColon() || parser.parsePlus() ||
                   parser.parseInteger(paddings.emplace_back()));
  };
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parsePad) ||
      reader.readKeys())
    return {};

  auto emit = [&] { return reader.error(); };
  std::optional<LinearLayout> layout;
  if (reader.has("order") || reader.has("shape")) {
    SmallVector<unsigned> order, shape;
    if (reader.uints("order", order) || reader.uints("shape", shape) ||
        failed(verifyOrder(emit, order)) ||
        failed(
            verifyRank(emit, "shape", shape.size(), "'order'", order.size())) ||
        failed(verifyPowersOfTwo(emit, "shape", shape)))
      return {};
    if (order.empty()) {
      emit()
          << "expected a shared layout of at least one dimension, found none";
      return {};
    }
    layout = getIdentityLayout(SmallVector<int64_t>(shape.begin(), shape.end()),
                               order);
  } else if (reader.linearLayout(sharedDims, 2, layout)) {
    return {};
  }
  if (reader.finish() || parser.parseGreater())
    return {};
  return getChecked(emit, parser.getContext(), ArrayRef(intervals),
                    ArrayRef(paddings), *layout);
}

void PaddedSharedEncodingAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(
      llvm::zip(getIntervals(), getPaddings()), printer, [&](auto pair) {
        printer << std::get<0>(pair) << ":+" << std::get<1>(pair);
      });
  printer << "] {";
  if (std::optional<SmallVector<unsigned>> order =
          getIdentityOrder(getLinearComponent())) {
    printUInts(printer, "order", *order);
    printer << ", shape = [" << ArrayRef(getLinearComponent().getOutShape())
            << "]";
  } else {
    printLinearLayout(printer, getLinearComponent());
  }
  printer << "}>";
}

LogicalResult PaddedSharedEncodingAttr::verify(
    function_ref<InFlightDiagnostic()> emitError, ArrayRef<unsigned> intervals,
    ArrayRef<unsigned> paddings, LinearLayout linearComponent) {
  if (intervals.empty() || intervals.size() != paddings.size())
    return emitError() << "expected at least one pair of interval and padding";
  if (failed(verifyPowersOfTwo(emitError, "interval", intervals)) ||
      failed(verifyPowersOfTwo(emitError, "padding", paddings)))
    return failure();
  llvm::SmallSet<unsigned, 4> seen;
  for (unsigned interval : intervals)
    if (!seen.insert(interval).second)
      return emitError() << "expected each interval once, found " << interval
                         << " twice";
  return verifyLinearLayout(emitError, linearComponent, sharedDims);
}

//===----------------------------------------------------------------------===//
// SharedLinearEncodingAttr
//===----------------------------------------------------------------------===//

unsigned SharedLinearEncodingAttr::getRank() const {
  return getLinearLayout().getNumOutDims();
}

CTALayoutAttr SharedLinearEncodingAttr::getCTALayout() const {
  return getBlockLayout(getContext(), getLinearLayout());
}

int32_t SharedLinearEncodingAttr::getAlignment() const {
  return getLayoutAlignment();
}

Attribute SharedLinearEncodingAttr::parse(AsmParser &parser, Type) {
  EncodingReader reader(parser);
  std::optional<LinearLayout> layout;
  unsigned alignment = defaultAlignment;
  if (parser.parseLess() || reader.readKeys() ||
      reader.linearLayout(sharedDims, 1, layout) || reader.finish() ||
      parser.parseComma() || parser.parseKeyword("alignment") ||
      parser.parseEqual() || parser.parseInteger(alignment) ||
      parser.parseGreater())
    return {};
  return getChecked([&] { return reader.error(); }, parser.getContext(),
                    *layout, alignment);
}

void SharedLinearEncodingAttr::print(AsmPrinter &printer) const {
  printer << "<{";
  printLinearLayout(printer, getLinearLayout(), /*skipEmptyBlock=*/true);
  printer << "}, alignment = " << getLayoutAlignment() << ">";
}

LogicalResult
SharedLinearEncodingAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 LinearLayout linearLayout,
                                 unsigned layoutAlignment) {
  if (failed(verifyPowersOfTwo(emitError, "alignment", layoutAlignment)))
    return failure();
  return verifyLinearLayout(emitError, linearLayout, sharedDims);
}

//===----------------------------------------------------------------------===//
// PartitionedSharedEncodingAttr
//===----------------------------------------------------------------------===//

unsigned PartitionedSharedEncodingAttr::getRank() const {
  return cast<LayoutEncodingTrait>(getPartitionLayout()).getRank();
}

CTALayoutAttr PartitionedSharedEncodingAttr::getCTALayout() const {
  return cast<LayoutEncodingTrait>(getPartitionLayout()).getCTALayout();
}

int32_t PartitionedSharedEncodingAttr::getAlignment() const {
  return cast<SharedEncodingTrait>(getPartitionLayout()).getAlignment();
}

Attribute PartitionedSharedEncodingAttr::parse(AsmParser &parser, Type) {
  EncodingReader reader(parser);
  unsigned numPartitions = 0, numGroups = 0, partitionDim = 0;
  Attribute partitionLayout;
  if (parser.parseLess() || reader.readKeys() ||
      reader.uintValue("numPartitions", numPartitions) ||
      reader.uintValue("numGroups", numGroups) ||
      reader.uintValue("partitionDim", partitionDim) ||
      reader.attribute("partitionLayout", partitionLayout) || reader.finish() ||
      parser.parseGreater())
    return {};
  return getChecked([&] { return reader.error(); }, parser.getContext(),
                    numPartitions, numGroups, partitionDim, partitionLayout);
}

void PartitionedSharedEncodingAttr::print(AsmPrinter &printer) const {
  printer << "<{numPartitions = " << getNumPartitions()
          << ", numGroups = " << getNumGroups()
          << ", partitionDim = " << getPartitionDim()
          << ", partitionLayout = " << getPartitionLayout() << "}>";
}

LogicalResult PartitionedSharedEncodingAttr::verify(
    function_ref<InFlightDiagnostic()> emitError, unsigned numPartitions,
    unsigned numGroups, unsigned partitionDim, Attribute partitionLayout) {
  if (failed(verifyPowersOfTwo(emitError, "numPartitions", numPartitions)) ||
      failed(verifyPowersOfTwo(emitError, "numGroups", numGroups)))
    return failure();
  if (!isa_and_nonnull<SharedEncodingTrait>(partitionLayout) ||
      isa<PartitionedSharedEncodingAttr>(partitionLayout))
    return emitError() << "expected 'partitionLayout' to be an encoding of "
                          "shared memory that is not partitioned itself, found "
                       << partitionLayout;
  unsigned rank = cast<LayoutEncodingTrait>(partitionLayout).getRank();
  if (partitionDim >= rank)
    return emitError()
           << "expected 'partitionDim' to be below the rank of the layout, "
           << rank << ", found " << partitionDim;
  return success();
}
