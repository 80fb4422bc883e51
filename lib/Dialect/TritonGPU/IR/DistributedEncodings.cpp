//===-- DistributedEncodings.cpp - blocked, linear, slice, dot_op ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "EncodingSyntax.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

//===----------------------------------------------------------------------===//
// BlockedEncodingAttr
//===----------------------------------------------------------------------===//

BlockedEncodingAttr
BlockedEncodingAttr::get(MLIRContext *context, ArrayRef<int64_t> shape,
                         ArrayRef<unsigned> sizePerThread,
                         ArrayRef<unsigned> order, unsigned numWarps,
                         unsigned threadsPerWarp, CTALayoutAttr CTALayout) {
  unsigned rank = sizePerThread.size();
  SmallVector<int64_t> shapePerCTA =
      getShapePerCTA(CTALayout.getCTASplitNum(), shape);
  SmallVector<unsigned> lanes(rank, 1), warps(rank, 1);
  unsigned lanesLeft = threadsPerWarp, warpsLeft = numWarps;
  for (auto [i, dim] : llvm::enumerate(order)) {
    // The slowest dimension takes all that is left, whatever its size.
    if (i + 1 == rank) {
      lanes[dim] = lanesLeft;
      warps[dim] = warpsLeft;
      break;
    }
    unsigned useful = llvm::bit_floor<unsigned>(
        std::max<int64_t>(1, shapePerCTA[dim] / sizePerThread[dim]));
    lanes[dim] = std::min(useful, lanesLeft);
    warps[dim] = std::min(useful / lanes[dim], warpsLeft);
    lanesLeft /= lanes[dim];
    warpsLeft /= warps[dim];
  }
  return get(context, sizePerThread, lanes, warps, order, CTALayout);
}

BlockedEncodingAttr
BlockedEncodingAttr::get(MLIRContext *context, ArrayRef<int64_t> shape,
                         ArrayRef<unsigned> sizePerThread,
                         ArrayRef<unsigned> order, unsigned numWarps,
                         unsigned threadsPerWarp, unsigned numCTAs) {
  return get(context, shape, sizePerThread, order, numWarps, threadsPerWarp,
             CTALayoutAttr::getSplit(context, numCTAs, shape, order));
}

unsigned BlockedEncodingAttr::getRank() const { return getOrder().size(); }

SmallVector<unsigned> BlockedEncodingAttr::getDefaultOrder() const {
  return SmallVector<unsigned>(getOrder());
}

Attribute BlockedEncodingAttr::parse(AsmParser &parser, Type) {
  EncodingReader reader(parser);
  SmallVector<unsigned> sizePerThread, threadsPerWarp, warpsPerCTA, order;
  CTALayoutAttr ctaLayout;
  if (parser.parseLess() || reader.readKeys() ||
      reader.uints("sizePerThread", sizePerThread) ||
      reader.uints("threadsPerWarp", threadsPerWarp) ||
      reader.uints("warpsPerCTA", warpsPerCTA) ||
      reader.uints("order", order) ||
      reader.ctaLayout(order.size(), ctaLayout) || reader.finish() ||
      parser.parseGreater())
    return {};
  return getChecked([&] { return reader.error(); }, parser.getContext(),
                    ArrayRef(sizePerThread), ArrayRef(threadsPerWarp),
                    ArrayRef(warpsPerCTA), ArrayRef(order), ctaLayout);
}

void BlockedEncodingAttr::print(AsmPrinter &printer) const {
  printer << "<{";
  printUInts(printer, "sizePerThread", getSizePerThread());
  printer << ", ";
  printUInts(printer, "threadsPerWarp", getThreadsPerWarp());
  printer << ", ";
  printUInts(printer, "warpsPerCTA", getWarpsPerCTA());
  printer << ", ";
  printUInts(printer, "order", getOrder());
  printCTALayout(printer, getCTALayout());
  printer << "}>";
}

LogicalResult
BlockedEncodingAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                            ArrayRef<unsigned> sizePerThread,
                            ArrayRef<unsigned> threadsPerWarp,
                            ArrayRef<unsigned> warpsPerCTA,
                            ArrayRef<unsigned> order, CTALayoutAttr CTALayout) {
  unsigned rank = order.size();
  if (rank == 0)
    return emitError()
           << "expected a blocked layout of at least one dimension, found none";
  if (failed(verifyOrder(emitError, order)))
    return failure();
  std::pair<StringRef, ArrayRef<unsigned>> tiles[] = {
      {"sizePerThread", sizePerThread},
      {"threadsPerWarp", threadsPerWarp},
      {"warpsPerCTA", warpsPerCTA}};
  for (auto [name, values] : tiles)
    if (failed(verifyRank(emitError, name, values.size(), "'order'", rank)) ||
        failed(verifyPowersOfTwo(emitError, name, values)))
      return failure();
  return verifyCTALayout(emitError, CTALayout, rank);
}

//===----------------------------------------------------------------------===//
// LinearEncodingAttr
//===----------------------------------------------------------------------===//

static constexpr StringRef distributedDims[] = {kRegister, kLane, kWarp,
                                                kBlock};

unsigned LinearEncodingAttr::getRank() const {
  return getLinearLayout().getNumOutDims();
}

CTALayoutAttr LinearEncodingAttr::getCTALayout() const {
  // The bases of blocks step over elements; the attribute wants steps over the
  // parts of blocks.
  const LinearLayout &layout = getLinearLayout();
  unsigned rank = getRank();
  SmallVector<int32_t> partSize(rank, 1);
  for (auto &[dim, bases] : layout.getBases()) {
    if (dim == kBlock)
      continue;
    for (const std::vector<int32_t> &basis : bases)
      for (unsigned i = 0; i < rank; ++i)
        partSize[i] =
            std::max<int32_t>(partSize[i], llvm::PowerOf2Ceil(basis[i] + 1));
  }
  LinearLayout::DimBases blockBases;
  for (unsigned pos = 0; pos < layout.getInDimSizeLog2(kBlock); ++pos) {
    std::vector<int32_t> basis = ArrayRef(layout.getBasis(kBlock, pos)).vec();
    for (unsigned i = 0; i < rank; ++i)
      basis[i] = basis[i] == 0 ? 0 : std::max(1, basis[i] / partSize[i]);
    blockBases.push_back(std::move(basis));
  }
  return CTALayoutAttr::get(getContext(), rank, blockBases);
}

SmallVector<unsigned> LinearEncodingAttr::getDefaultOrder() const {
  SmallVector<unsigned> order;
  for (auto &[dim, bases] : getLinearLayout().getBases())
    for (const std::vector<int32_t> &basis : bases)
      for (unsigned i = 0; i < basis.size(); ++i)
        if (basis[i] != 0 && !llvm::is_contained(order, i))
          order.push_back(i);
  for (unsigned i = getRank(); i-- > 0;)
    if (!llvm::is_contained(order, i))
      order.push_back(i);
  return order;
}

Attribute LinearEncodingAttr::parse(AsmParser &parser, Type) {
  EncodingReader reader(parser);
  std::optional<LinearLayout> layout;
  if (parser.parseLess() || reader.readKeys() ||
      reader.linearLayout(distributedDims, 4, layout) || reader.finish() ||
      parser.parseGreater())
    return {};
  return getChecked([&] { return reader.error(); }, parser.getContext(),
                    *layout);
}

void LinearEncodingAttr::print(AsmPrinter &printer) const {
  printer << "<{";
  printLinearLayout(printer, getLinearLayout());
  printer << "}>";
}

LogicalResult
LinearEncodingAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                           LinearLayout linearLayout) {
  return verifyLinearLayout(emitError, linearLayout, distributedDims);
}

//===----------------------------------------------------------------------===//
// SliceEncodingAttr
//===----------------------------------------------------------------------===//

unsigned SliceEncodingAttr::getRank() const {
  return cast<LayoutEncodingTrait>(getParent()).getRank() - 1;
}

CTALayoutAttr SliceEncodingAttr::getCTALayout() const {
  return cast<LayoutEncodingTrait>(getParent())
      .getCTALayout()
      .dropDim(getDim());
}

SmallVector<unsigned> SliceEncodingAttr::getDefaultOrder() const {
  SmallVector<unsigned> order;
  for (unsigned dim :
       cast<DistributedEncodingTrait>(getParent()).getDefaultOrder())
    if (dim != getDim())
      order.push_back(dim < getDim() ? dim : dim - 1);
  return order;
}

Attribute SliceEncodingAttr::parse(AsmParser &parser, Type) {
  EncodingReader reader(parser);
  unsigned dim = 0;
  Attribute parent;
  if (parser.parseLess() || reader.readKeys() || reader.uintValue("dim", dim) ||
      reader.attribute("parent", parent) || reader.finish() ||
      parser.parseGreater())
    return {};
  return getChecked([&] { return reader.error(); }, parser.getContext(), dim,
                    parent);
}

void SliceEncodingAttr::print(AsmPrinter &printer) const {
  printer << "<{dim = " << getDim() << ", parent = " << getParent() << "}>";
}

LogicalResult
SliceEncodingAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                          unsigned dim, Attribute parent) {
  auto layout = dyn_cast_or_null<DistributedEncodingTrait>(parent);
  if (!layout)
    return emitError()
           << "expected 'parent' to be a distributed encoding, found "
           << parent;
  unsigned rank = cast<LayoutEncodingTrait>(parent).getRank();
  if (rank < 2)
    return emitError()
           << "expected 'parent' to have at least two dimensions, found "
           << rank;
  if (dim >= rank)
    return emitError() << "expected 'dim' to be below the rank of the parent, "
                       << rank << ", found " << dim;
  return success();
}

//===----------------------------------------------------------------------===//
// DotOperandEncodingAttr
//===----------------------------------------------------------------------===//

DotOperandEncodingAttr DotOperandEncodingAttr::get(MLIRContext *context,
                                                   unsigned opIdx,
                                                   Attribute parent,
                                                   Type elementType) {
  unsigned kWidth = 0;
  if (auto mma = dyn_cast<MmaEncodingTrait>(parent))
    kWidth = mma.getDefaultKWidth(elementType);
  return get(context, opIdx, parent, kWidth);
}

unsigned DotOperandEncodingAttr::getRank() const {
  return cast<LayoutEncodingTrait>(getParent()).getRank();
}

CTALayoutAttr DotOperandEncodingAttr::getCTALayout() const {
  // Every block needs all of K.
  unsigned rank = getRank();
  unsigned k = getOpIdx() == 0 ? rank - 1 : rank - 2;
  LinearLayout::DimBases bases =
      cast<LayoutEncodingTrait>(getParent()).getCTALayout().getBases();
  for (std::vector<int32_t> &basis : bases)
    basis[k] = 0;
  return CTALayoutAttr::get(getContext(), rank, bases);
}

SmallVector<unsigned> DotOperandEncodingAttr::getDefaultOrder() const {
  if (!isa<MmaEncodingTrait>(getParent()))
    return cast<DistributedEncodingTrait>(getParent()).getDefaultOrder();
  // Registers run along K.
  unsigned rank = getRank();
  SmallVector<unsigned> order;
  for (unsigned dim = rank; dim-- > 0;)
    order.push_back(dim);
  if (getOpIdx() == 1)
    std::swap(order[0], order[1]);
  return order;
}

Attribute DotOperandEncodingAttr::parse(AsmParser &parser, Type) {
  EncodingReader reader(parser);
  unsigned opIdx = 0, kWidth = 0;
  Attribute parent;
  if (parser.parseLess() || reader.readKeys() ||
      reader.uintValue("opIdx", opIdx) || reader.attribute("parent", parent) ||
      reader.uintValue("kWidth", kWidth, /*required=*/false) ||
      reader.finish() || parser.parseGreater())
    return {};
  return getChecked([&] { return reader.error(); }, parser.getContext(), opIdx,
                    parent, kWidth);
}

void DotOperandEncodingAttr::print(AsmPrinter &printer) const {
  printer << "<{opIdx = " << getOpIdx() << ", parent = " << getParent();
  if (getKWidth() != 0)
    printer << ", kWidth = " << getKWidth();
  printer << "}>";
}

LogicalResult
DotOperandEncodingAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               unsigned opIdx, Attribute parent,
                               unsigned kWidth) {
  if (opIdx > 1)
    return emitError() << "expected 'opIdx' to be 0 or 1, found " << opIdx;
  if (!isa_and_nonnull<BlockedEncodingAttr, MmaEncodingTrait>(parent))
    return emitError() << "expected 'parent' to be a blocked encoding or that "
                          "of a matrix instruction, found "
                       << parent;
  if (cast<LayoutEncodingTrait>(parent).getRank() < 2)
    return emitError()
           << "expected 'parent' to have at least two dimensions, found "
           << parent;
  if (isa<BlockedEncodingAttr>(parent)) {
    if (kWidth != 0)
      return emitError()
             << "expected no 'kWidth' beside a blocked parent, found "
             << kWidth;
    return success();
  }
  if (kWidth == 0)
    return emitError() << "expected 'kWidth' beside a parent that is a matrix "
                          "instruction, found none";
  if (!llvm::isPowerOf2_32(kWidth))
    return emitError() << "expected 'kWidth' to be a power of two, found "
                       << kWidth;
  return cast<MmaEncodingTrait>(parent).verifyOperand(emitError, opIdx);
}
