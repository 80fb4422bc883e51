//===-- Attributes.cpp - Attributes of the ttg dialect --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Registration, and the distribution of tensors over the blocks of a cluster.
// The encodings are in the files named after them.
//
//===----------------------------------------------------------------------===//

#include "EncodingSyntax.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

#include "tile/Dialect/TritonGPU/IR/AttrInterfaces.cpp.inc"
#include "tile/Dialect/TritonGPU/IR/Enums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "tile/Dialect/TritonGPU/IR/AttrDefs.cpp.inc"

void TritonGPUDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "tile/Dialect/TritonGPU/IR/AttrDefs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// CTALayoutAttr
//===----------------------------------------------------------------------===//

CTALayoutAttr CTALayoutAttr::get(MLIRContext *context, unsigned rank,
                                 ArrayRef<std::vector<int32_t>> bases) {
  // What the older terms call the layout follows from the bases, so that equal
  // layouts are one attribute. A basis counts for its first non-zero dimension;
  // a zero basis for that of the basis before it.
  SmallVector<int32_t> flat;
  SmallVector<unsigned> perCGA(rank, 1), split(rank, 1), order;
  std::optional<unsigned> current;
  unsigned leadingCopies = 1;
  for (const std::vector<int32_t> &basis : bases) {
    assert(basis.size() == rank && "a basis has one coordinate per dimension");
    llvm::append_range(flat, basis);
    auto nonZero = llvm::find_if(basis, [](int32_t step) { return step != 0; });
    if (nonZero != basis.end()) {
      current = std::distance(basis.begin(), nonZero);
      split[*current] *= 2;
      if (!llvm::is_contained(order, *current))
        order.push_back(*current);
    }
    if (current)
      perCGA[*current] *= 2;
    else
      leadingCopies *= 2;
  }
  for (unsigned dim = rank; dim-- > 0;)
    if (!llvm::is_contained(order, dim))
      order.push_back(dim);
  if (rank > 0)
    perCGA[order[0]] *= leadingCopies;
  return Base::get(context, rank, flat, perCGA, split, order);
}

CTALayoutAttr CTALayoutAttr::get(MLIRContext *context,
                                 ArrayRef<unsigned> CTAsPerCGA,
                                 ArrayRef<unsigned> CTASplitNum,
                                 ArrayRef<unsigned> CTAOrder) {
  unsigned rank = CTAOrder.size();
  assert(CTAsPerCGA.size() == rank && CTASplitNum.size() == rank &&
         "the three lists agree in rank");
  LinearLayout::DimBases bases;
  for (unsigned dim : CTAOrder) {
    for (unsigned step = 1; step < CTAsPerCGA[dim]; step *= 2) {
      std::vector<int32_t> basis(rank, 0);
      if (step < CTASplitNum[dim])
        basis[dim] = step;
      bases.push_back(std::move(basis));
    }
  }
  return get(context, rank, bases);
}

CTALayoutAttr CTALayoutAttr::getDefault(MLIRContext *context, unsigned rank) {
  return get(context, rank, ArrayRef<std::vector<int32_t>>());
}

CTALayoutAttr CTALayoutAttr::getSplit(MLIRContext *context, unsigned numCTAs,
                                      ArrayRef<int64_t> shape,
                                      ArrayRef<unsigned> order) {
  unsigned rank = order.size();
  SmallVector<unsigned> perCGA(rank, 1), split(rank, 1);
  unsigned remaining = numCTAs;
  for (unsigned dim : llvm::reverse(order)) {
    unsigned limit =
        shape.empty() ? remaining : std::max<int64_t>(1, shape[dim]);
    perCGA[dim] = split[dim] = std::min(remaining, limit);
    remaining /= perCGA[dim];
  }
  // Blocks beyond the size of the tensor hold copies.
  if (rank > 0)
    perCGA[order[0]] *= remaining;
  return get(context, perCGA, split, order);
}

std::vector<std::vector<int32_t>> CTALayoutAttr::getBases() const {
  std::vector<std::vector<int32_t>> bases;
  for (unsigned i = 0; i < getNumBases(); ++i)
    bases.push_back(getBasis(i).vec());
  return bases;
}

LinearLayout CTALayoutAttr::getLinearLayout() const {
  SmallVector<LinearLayout::NamedSize> outDims;
  for (auto [name, size] :
       llvm::zip(standardOutDimNames(getRank()), getCTASplitNum()))
    outDims.emplace_back(name, size);
  return LinearLayout({{kBlock, getBases()}}, outDims,
                      /*requireSurjective=*/false);
}

CTALayoutAttr CTALayoutAttr::dropDim(unsigned dim) const {
  LinearLayout::DimBases bases = getBases();
  for (std::vector<int32_t> &basis : bases)
    basis.erase(basis.begin() + dim);
  return get(getContext(), getRank() - 1, bases);
}

CTALayoutAttr CTALayoutAttr::insertDim(unsigned dim) const {
  LinearLayout::DimBases bases = getBases();
  for (std::vector<int32_t> &basis : bases)
    basis.insert(basis.begin() + dim, 0);
  return get(getContext(), getRank() + 1, bases);
}

CTALayoutAttr CTALayoutAttr::permute(ArrayRef<int32_t> order) const {
  LinearLayout::DimBases bases = getBases();
  for (std::vector<int32_t> &basis : bases) {
    std::vector<int32_t> permuted;
    for (int32_t dim : order)
      permuted.push_back(basis[dim]);
    basis = std::move(permuted);
  }
  return get(getContext(), getRank(), bases);
}

Attribute CTALayoutAttr::parse(AsmParser &parser, Type) {
  EncodingReader reader(parser);
  unsigned rank = 0;
  LinearLayout::DimBases bases;
  if (parser.parseLess() || reader.readKeys() ||
      reader.uintValue("rank", rank) || reader.bases("bases", bases) ||
      reader.finish() || parser.parseGreater())
    return {};
  for (const std::vector<int32_t> &basis : bases) {
    if (basis.size() != rank) {
      reader.error() << "a basis has " << basis.size()
                     << " coordinates, expected " << rank;
      return {};
    }
  }
  return get(parser.getContext(), rank, bases);
}

void CTALayoutAttr::print(AsmPrinter &printer) const {
  printer << "<{rank = " << getRank() << ", ";
  printBases(printer, "bases", getBases());
  printer << "}>";
}
