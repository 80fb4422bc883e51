//===-- CollectivePlan.cpp - How reductions and scans are lowered ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Analysis/CollectivePlan.h"

#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;

int64_t triton::getElementBytesInSharedMemory(Type element) {
  if (isa<triton::PointerType>(element))
    return 8;
  return llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

CollectivePlan::CollectivePlan(LinearLayout l, unsigned axis)
    : layout(std::move(l)), axis(axis), axisDim(kDim(axis)) {
  auto bitsAlong = [&](StringRef inDim, bool mayMix) {
    uint32_t bits = 0;
    if (!layout.hasInDim(inDim))
      return bits;
    for (unsigned i = 0, e = layout.getInDimSizeLog2(inDim); i < e; ++i) {
      int32_t along = layout.getBasis(inDim, i, axisDim);
      if (!along)
        continue;
      bits |= 1u << i;
      if (mayMix)
        continue;
      for (StringRef outDim : layout.getOutDimNames())
        if (outDim != axisDim && layout.getBasis(inDim, i, outDim))
          unsupported = ("bit " + llvm::Twine(i) + " of the " + inDim +
                         " index runs along the axis and across it")
                            .str();
    }
    return bits;
  };
  registerBits = bitsAlong(kRegister, /*mayMix=*/true);
  laneBits = bitsAlong(kLane, /*mayMix=*/false);
  warpBits = bitsAlong(kWarp, /*mayMix=*/false);
  blockBits = bitsAlong(kBlock, /*mayMix=*/false);
  // Non-zero bits that are free would make elements count twice.
  for (auto [dim, mask] : layout.getFreeVariableMasks()) {
    uint32_t along = dim == kLane    ? laneBits
                     : dim == kWarp  ? warpBits
                     : dim == kBlock ? blockBits
                                     : 0;
    if (along & mask)
      unsupported =
          ("the " + dim + " index repeats elements along the axis").str();
  }
}

void CollectivePlan::allocate(ArrayRef<Type> elements,
                              int64_t countPerOperand) {
  if (!unsupported.empty() || getNumAxisWarps() * getNumAxisBlocks() == 1)
    return;
  for (Type element : elements) {
    operandOffsets.push_back(scratchSize);
    scratchSize += llvm::alignTo(
        countPerOperand * getElementBytesInSharedMemory(element), 16);
  }
}

/// The position of coordinates across the axis in a row-major numbering of the
/// tensor without the axis.
static int32_t flattenAcrossAxis(const LinearLayout &layout, unsigned axis,
                                 StringRef inDim, unsigned bit) {
  int32_t flat = 0;
  for (unsigned d = 0, rank = layout.getNumOutDims(); d < rank; ++d) {
    if (d == axis)
      continue;
    flat = flat * layout.getOutDimSize(kDim(d)) +
           layout.getBasis(inDim, bit, kDim(d));
  }
  return flat;
}

static int64_t sizeAcrossAxis(const LinearLayout &layout, unsigned axis) {
  return layout.getTotalOutDimSize() / layout.getOutDimSize(kDim(axis));
}

/// A layout from the in dims of `layout` to `offset`, with the image of each
/// bit given by a function.
static LinearLayout
makeOffsetLayout(const LinearLayout &layout, int64_t size,
                 function_ref<int32_t(StringRef, unsigned)> image,
                 ArrayRef<int32_t> extraRegisters = {}) {
  LinearLayout::Bases bases;
  for (StringRef dim : layout.getInDimNames()) {
    LinearLayout::DimBases dimBases;
    if (dim == kRegister)
      for (int32_t extra : extraRegisters)
        dimBases.push_back({extra});
    for (unsigned i = 0, e = layout.getInDimSizeLog2(dim); i < e; ++i)
      dimBases.push_back({image(dim, i)});
    bases.push_back({dim, std::move(dimBases)});
  }
  return LinearLayout(bases, {{kOffset, static_cast<int32_t>(size)}},
                      /*requireSurjective=*/false);
}

static int32_t rankAmong(uint32_t bits, unsigned bit) {
  return llvm::popcount(bits & ((1u << bit) - 1));
}

//===----------------------------------------------------------------------===//
// ReducePlan
//===----------------------------------------------------------------------===//

ReducePlan::ReducePlan(ReduceOp op)
    : CollectivePlan(toLinearLayout(op.getInputTypes().front()), op.getAxis()) {
  SmallVector<Type> elements(op.getElementTypes());
  allocate(elements, sizeAcrossAxis(layout, axis) * getNumAxisWarps());
}

LinearLayout ReducePlan::getStoreLayout() const {
  int32_t warps = getNumAxisWarps();
  return makeOffsetLayout(layout, sizeAcrossAxis(layout, axis) * warps,
                          [&](StringRef dim, unsigned bit) -> int32_t {
                            if (dim == kBlock)
                              return 0;
                            if (dim == kWarp && (warpBits & (1u << bit)))
                              return 1 << rankAmong(warpBits, bit);
                            return flattenAcrossAxis(layout, axis, dim, bit) *
                                   warps;
                          });
}

LinearLayout ReducePlan::getLoadLayout(Type resultType) const {
  int32_t warps = getNumAxisWarps(), blocks = getNumAxisBlocks();
  SmallVector<int32_t> overParts;
  for (int32_t w = 1; w < warps; w *= 2)
    overParts.push_back(w);
  overParts.append(llvm::Log2_32(blocks), 0);
  int64_t size = sizeAcrossAxis(layout, axis) * warps;
  auto tensor = dyn_cast<RankedTensorType>(resultType);
  // A scalar is one value, everywhere.
  LinearLayout result =
      tensor ? toLinearLayout(tensor) : layout.resizeInDim(kRegister, 1);
  unsigned none = result.getNumOutDims();
  LinearLayout load = makeOffsetLayout(
      result, size,
      [&](StringRef dim, unsigned bit) -> int32_t {
        return !tensor || dim == kBlock
                   ? 0
                   : flattenAcrossAxis(result, none, dim, bit) * warps;
      },
      overParts);
  if (blocks == 1)
    return load;

  LinearLayout::Bases bases = load.getBases();
  for (auto &[dim, dimBases] : bases)
    for (auto [i, basis] : llvm::enumerate(dimBases))
      basis.push_back(dim == kBlock && !(blockBits & (1u << i)) ? 1 << i : 0);
  unsigned next = llvm::Log2_32(warps);
  for (unsigned bit = 0; bit < 32; ++bit)
    if (blockBits & (1u << bit))
      for (auto &[dim, dimBases] : bases)
        if (dim == kRegister)
          dimBases[next++].back() = 1 << bit;
  return LinearLayout(bases,
                      {{kOffset, load.getOutDimSize(kOffset)},
                       {kBlock, layout.getInDimSize(kBlock)}},
                      /*requireSurjective=*/false);
}

//===----------------------------------------------------------------------===//
// ScanPlan
//===----------------------------------------------------------------------===//

ScanPlan::ScanPlan(ScanOp op)
    : CollectivePlan(toLinearLayout(op.getInputTypes().front()), op.getAxis()) {
  if (blockBits)
    unsupported = "the axis is split over the blocks of a cluster";
  // The order along the axis must be: low registers, lanes, warps, high
  // registers; and each of them in the order of its bits.
  int32_t belowThreads = layout.getOutDimSize(axisDim), endOfLanes = 0,
          endOfThreads = 0;
  auto visit = [&](StringRef dim, uint32_t bits, int32_t &end) {
    int32_t previous = 0;
    for (unsigned i = 0; i < 32; ++i) {
      if (!(bits & (1u << i)))
        continue;
      int32_t along = layout.getBasis(dim, i, axisDim);
      if (!llvm::isPowerOf2_32(along) || along < previous)
        unsupported =
            ("the " + dim + " index is not in the order of the axis").str();
      previous = along;
      belowThreads = std::min(belowThreads, along);
      end = std::max(end, along);
    }
  };
  visit(kLane, laneBits, endOfLanes);
  for (unsigned i = 0; i < 32; ++i)
    if ((warpBits & (1u << i)) &&
        layout.getBasis(kWarp, i, axisDim) < endOfLanes)
      unsupported = "warps are nearer than lanes along the axis";
  endOfThreads = endOfLanes;
  visit(kWarp, warpBits, endOfThreads);
  for (unsigned i = 0, e = layout.getInDimSizeLog2(kRegister); i < e; ++i) {
    if (!(registerBits & (1u << i)))
      continue;
    int32_t along = layout.getBasis(kRegister, i, axisDim);
    bool mixed = llvm::any_of(layout.getOutDimNames(), [&](StringRef dim) {
      return dim != axisDim && layout.getBasis(kRegister, i, dim);
    });
    if (mixed || !llvm::isPowerOf2_32(along))
      unsupported = "a register runs along the axis and across it";
    else if (along < belowThreads)
      lowRegisterBits |= 1u << i;
    else if (along > endOfThreads)
      highRegisterBits |= 1u << i;
    else
      unsupported = "registers lie between threads along the axis";
  }
  SmallVector<Type> elements(op.getElementTypes());
  allocate(elements, sizeAcrossAxis(layout, axis) * getNumAxisWarps()
                         << llvm::popcount(highRegisterBits));
}

LinearLayout ScanPlan::getStoreLayout() const {
  int32_t warps = getNumAxisWarps();
  int32_t repeats = 1 << llvm::popcount(highRegisterBits);
  return makeOffsetLayout(
      layout, sizeAcrossAxis(layout, axis) * warps * repeats,
      [&](StringRef dim, unsigned bit) -> int32_t {
        if (dim == kBlock)
          return 0;
        if (dim == kWarp && (warpBits & (1u << bit)))
          return 1 << rankAmong(warpBits, bit);
        if (dim == kRegister && (highRegisterBits & (1u << bit)))
          return warps << rankAmong(highRegisterBits, bit);
        return flattenAcrossAxis(layout, axis, dim, bit) * warps * repeats;
      });
}

LinearLayout ScanPlan::getLoadLayout() const {
  LinearLayout store = getStoreLayout();
  SmallVector<int32_t> overWarps;
  for (uint32_t w = 1; w < getNumAxisWarps(); w *= 2)
    overWarps.push_back(w);
  return makeOffsetLayout(
      store, store.getOutDimSize(kOffset),
      [&](StringRef dim, unsigned bit) -> int32_t {
        if (dim == kWarp && (warpBits & (1u << bit)))
          return 0;
        return store.getBasis(dim, bit, kOffset);
      },
      overWarps);
}
