//===-- EncodingSyntax.cpp - Reading and printing encodings ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "EncodingSyntax.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

ParseResult EncodingReader::readKeys() {
  loc = parser.getCurrentLocation();
  // Keys, arrays, numbers and nested attributes are those of a dictionary.
  return parser.parseAttribute(keys);
}

Attribute EncodingReader::take(StringRef key, bool required, bool &failed) {
  taken.insert(key);
  Attribute value = keys.get(key);
  failed = !value && required;
  if (failed)
    error() << "expected key '" << key << "'";
  return value;
}

static std::optional<unsigned> asUInt(Attribute attr) {
  auto value = dyn_cast_or_null<IntegerAttr>(attr);
  if (!value || isa<BoolAttr>(attr) || value.getValue().isNegative() ||
      !value.getValue().isIntN(31))
    return std::nullopt;
  return value.getValue().getZExtValue();
}

ParseResult EncodingReader::uintValue(StringRef key, unsigned &value,
                                      bool required) {
  bool failed;
  Attribute attr = take(key, required, failed);
  if (!attr)
    return failure(failed);
  std::optional<unsigned> number = asUInt(attr);
  if (!number)
    return error() << "'" << key << "' takes a non-negative integer, found "
                   << attr;
  value = *number;
  return success();
}

ParseResult EncodingReader::uints(StringRef key,
                                  SmallVectorImpl<unsigned> &value,
                                  bool required) {
  bool failed;
  Attribute attr = take(key, required, failed);
  if (!attr)
    return failure(failed);
  value.clear();
  auto array = dyn_cast<ArrayAttr>(attr);
  for (Attribute element : array ? array.getValue() : ArrayRef<Attribute>())
    if (std::optional<unsigned> number = asUInt(element))
      value.push_back(*number);
  if (!array || array.size() != value.size())
    return error() << "'" << key
                   << "' takes a list of non-negative integers, found " << attr;
  return success();
}

ParseResult EncodingReader::boolean(StringRef key, bool &value, bool required) {
  bool failed;
  Attribute attr = take(key, required, failed);
  if (!attr)
    return failure(failed);
  auto flag = dyn_cast<BoolAttr>(attr);
  if (!flag)
    return error() << "'" << key << "' takes true or false, found " << attr;
  value = flag.getValue();
  return success();
}

ParseResult EncodingReader::attribute(StringRef key, Attribute &value,
                                      bool required) {
  bool failed;
  Attribute attr = take(key, required, failed);
  if (!attr)
    return failure(failed);
  value = attr;
  return success();
}

ParseResult EncodingReader::bases(StringRef key, LinearLayout::DimBases &value,
                                  bool required) {
  bool failed;
  Attribute attr = take(key, required, failed);
  if (!attr)
    return failure(failed);
  value.clear();
  auto malformed = [&]() -> ParseResult {
    return error() << "'" << key
                   << "' takes a list of bases like [[0, 1], [2, 0]], found "
                   << attr;
  };
  auto array = dyn_cast<ArrayAttr>(attr);
  if (!array)
    return malformed();
  for (Attribute element : array) {
    auto coords = dyn_cast<ArrayAttr>(element);
    if (!coords)
      return malformed();
    std::vector<int32_t> basis;
    for (Attribute coord : coords) {
      std::optional<unsigned> number = asUInt(coord);
      if (!number)
        return malformed();
      basis.push_back(*number);
    }
    value.push_back(std::move(basis));
  }
  return success();
}

ParseResult EncodingReader::ctaLayout(unsigned rank, CTALayoutAttr &value,
                                      unsigned defaultRank) {
  MLIRContext *context = parser.getContext();
  constexpr StringRef newKey = "CGALayout";
  constexpr StringRef oldKeys[] = {"CTAsPerCGA", "CTASplitNum", "CTAOrder"};

  if (has(newKey)) {
    LinearLayout::DimBases bases;
    if (this->bases(newKey, bases))
      return failure();
    if (rank == 0)
      rank = bases.empty() ? defaultRank : bases.front().size();
    for (const std::vector<int32_t> &basis : bases)
      if (basis.size() != rank || rank == 0)
        return error() << "'CGALayout' has a basis of " << basis.size()
                       << " coordinates, expected " << rank;
    value = CTALayoutAttr::get(context, rank, bases);
    return success();
  }

  if (!llvm::any_of(oldKeys, [&](StringRef key) { return has(key); })) {
    value = CTALayoutAttr::getDefault(context, rank ? rank : defaultRank);
    return success();
  }
  SmallVector<unsigned> perCGA, split, order;
  if (uints(oldKeys[0], perCGA) || uints(oldKeys[1], split) ||
      uints(oldKeys[2], order))
    return failure();
  if (rank == 0)
    rank = order.size();
  auto emit = [&] { return error(); };
  if (failed(verifyRank(emit, oldKeys[0], perCGA.size(), "the layout", rank)) ||
      failed(verifyRank(emit, oldKeys[1], split.size(), "the layout", rank)) ||
      failed(verifyRank(emit, oldKeys[2], order.size(), "the layout", rank)) ||
      failed(verifyPowersOfTwo(emit, oldKeys[0], perCGA)) ||
      failed(verifyPowersOfTwo(emit, oldKeys[1], split)) ||
      failed(verifyOrder(emit, order)))
    return failure();
  for (auto [num, part] : llvm::zip(perCGA, split))
    if (part > num)
      return error() << "'CTASplitNum' splits a dimension in " << part
                     << ", but it has " << num << " blocks";
  value = CTALayoutAttr::get(context, perCGA, split, order);
  return success();
}

ParseResult EncodingReader::linearLayout(ArrayRef<StringRef> inDims,
                                         unsigned numRequired,
                                         std::optional<LinearLayout> &value) {
  LinearLayout::Bases allBases;
  unsigned rank = 0;
  for (auto [i, dim] : llvm::enumerate(inDims)) {
    LinearLayout::DimBases dimBases;
    if (bases(dim, dimBases, /*required=*/i < numRequired))
      return failure();
    if (!dimBases.empty() && rank == 0)
      rank = dimBases.front().size();
    allBases.emplace_back(dim, std::move(dimBases));
  }
  if (rank == 0)
    return error() << "expected at least one basis: the rank of the layout is "
                      "unknown without";

  SmallVector<StringRef> names = standardOutDimNames(rank);
  SmallVector<LinearLayout::NamedSize> sizes;
  for (StringRef name : names)
    sizes.emplace_back(name, 1);
  for (auto &[dim, dimBases] : allBases) {
    for (const std::vector<int32_t> &basis : dimBases) {
      if (basis.size() != rank)
        return error() << "'" << dim << "' has a basis of " << basis.size()
                       << " coordinates, expected " << rank;
      for (auto [size, coord] : llvm::zip(sizes, basis)) {
        if (coord >= 1 << 24)
          return error() << "'" << dim << "' has the coordinate " << coord
                         << ", which is out of range";
        size.second =
            std::max<int32_t>(size.second, llvm::PowerOf2Ceil(coord + 1));
      }
    }
  }
  std::string why;
  value = LinearLayout::tryCreate(allBases, sizes, /*requireSurjective=*/true,
                                  &why);
  if (!value)
    return error() << "invalid linear layout: " << why;
  return success();
}

ParseResult EncodingReader::finish() {
  for (NamedAttribute entry : keys)
    if (!taken.contains(entry.getName()))
      return error() << "unknown key " << entry.getName();
  return success();
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

void gpu::printUInts(AsmPrinter &printer, StringRef key,
                     ArrayRef<unsigned> value) {
  printer << key << " = [" << value << "]";
}

void gpu::printBases(AsmPrinter &printer, StringRef key,
                     const LinearLayout::DimBases &value) {
  printer << key << " = [";
  llvm::interleaveComma(value, printer, [&](const std::vector<int32_t> &basis) {
    printer << "[" << ArrayRef<int32_t>(basis) << "]";
  });
  printer << "]";
}

void gpu::printCTALayout(AsmPrinter &printer, CTALayoutAttr layout) {
  if (layout.isDefault())
    return;
  printer << ", ";
  printBases(printer, "CGALayout", layout.getBases());
}

void gpu::printLinearLayout(AsmPrinter &printer, const LinearLayout &layout,
                            bool skipEmptyBlock) {
  bool first = true;
  for (auto &[dim, dimBases] : layout.getBases()) {
    if (skipEmptyBlock && dim == kBlock && dimBases.empty())
      continue;
    if (!first)
      printer << ", ";
    first = false;
    printBases(printer, dim, dimBases);
  }
}

//===----------------------------------------------------------------------===//
// Verifying
//===----------------------------------------------------------------------===//

LogicalResult gpu::verifyPowersOfTwo(EmitError emitError, StringRef name,
                                     ArrayRef<unsigned> values) {
  for (unsigned value : values)
    if (!llvm::isPowerOf2_32(value))
      return emitError() << "expected '" << name
                         << "' to hold powers of two, found " << value;
  return success();
}

LogicalResult gpu::verifyRank(EmitError emitError, StringRef name, size_t found,
                              StringRef expectedName, size_t expected) {
  if (found == expected)
    return success();
  return emitError() << "expected '" << name << "' to have rank " << expected
                     << ", like " << expectedName << ", found " << found;
}

LogicalResult gpu::verifyOrder(EmitError emitError, ArrayRef<unsigned> order) {
  llvm::SmallBitVector seen(order.size());
  for (unsigned dim : order) {
    if (dim >= order.size() || seen.test(dim))
      return emitError() << "expected 'order' to hold each of 0 to "
                         << order.size() - 1 << " once, found [" << order
                         << "]";
    seen.set(dim);
  }
  return success();
}

LogicalResult gpu::verifyCTALayout(EmitError emitError, CTALayoutAttr layout,
                                   unsigned rank) {
  if (!layout)
    return emitError()
           << "expected a layout of blocks in a cluster, found none";
  if (failed(verifyRank(emitError, "CGALayout", layout.getRank(), "the layout",
                        rank)))
    return failure();
  // A dimension is split in as many parts as its bases number.
  for (const std::vector<int32_t> &basis : layout.getBases())
    for (auto [dim, coord, parts] :
         llvm::enumerate(basis, layout.getCTASplitNum()))
      if (coord >= int64_t(parts))
        return emitError() << "'CGALayout' has a block at part " << coord
                           << " of dimension " << dim << ", which has " << parts
                           << (parts == 1 ? " part" : " parts");
  return success();
}

LogicalResult gpu::verifyLinearLayout(EmitError emitError,
                                      const LinearLayout &layout,
                                      ArrayRef<StringRef> inDims) {
  SmallVector<StringRef> foundIn = layout.getInDimNames();
  if (ArrayRef(foundIn) != inDims)
    return emitError() << "expected a linear layout from ["
                       << llvm::join(inDims, ", ") << "], found one from ["
                       << llvm::join(foundIn, ", ") << "]";
  SmallVector<StringRef> foundOut = layout.getOutDimNames();
  if (foundOut.empty() || foundOut != standardOutDimNames(foundOut.size()))
    return emitError()
           << "expected a linear layout to dim0, dim1, ..., found one to ["
           << llvm::join(foundOut, ", ") << "]";
  if (!layout.isSurjective())
    return emitError() << "expected a linear layout that reaches every "
                          "element, found one that does not";
  return success();
}
