//===-- CollectivePlan.cpp - How reductions and scans are lowered ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Analysis/CollectivePlan.h"

#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
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
  if (!unsupported.empty() || !spansWarps())
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

static int32_t mapBits(int32_t value, ArrayRef<int32_t> images) {
  int32_t result = 0;
  for (auto [bit, image] : llvm::enumerate(images))
    if (value & (1 << bit))
      result |= image;
  return result;
}

/// Of the largest element in shared memory.
static int64_t getWidestBytes(ArrayRef<Type> elements) {
  int64_t widest = 1;
  for (Type element : elements)
    widest = std::max(widest, getElementBytesInSharedMemory(element));
  return widest;
}

namespace {
/// Gives the bits of what lies in scratch memory their places in the offset,
/// from the lowest on. A bit that has a place keeps it.
class ScratchOrder {
public:
  explicit ScratchOrder(int64_t elementBytes) : elementBytes(elementBytes) {}

  void place(int32_t &offset) {
    if (offset)
      return;
    offset = next;
    next *= 2;
  }
  void place(MutableArrayRef<int32_t> offsets) {
    for (int32_t &offset : offsets)
      place(offset);
  }
  /// Does so until there is as much as one access takes.
  void fillAccess(int32_t &offset) {
    constexpr int64_t kBytesPerAccess = 16;
    if (next * elementBytes < kBytesPerAccess)
      place(offset);
  }
  void fillAccess(MutableArrayRef<int32_t> offsets) {
    for (int32_t &offset : offsets)
      fillAccess(offset);
  }

private:
  int64_t elementBytes;
  int32_t next = 1;
};
} // namespace

/// Calls `visit` for each bit of the position across the axis that is a bit of
/// the index `inDim`.
static void forEachPositionBit(const LinearLayout &layout, unsigned axis,
                               StringRef inDim,
                               function_ref<void(unsigned)> visit) {
  for (unsigned i = 0, e = layout.getInDimSizeLog2(inDim); i < e; ++i) {
    int32_t flat = flattenAcrossAxis(layout, axis, inDim, i);
    if (llvm::isPowerOf2_32(flat))
      visit(llvm::Log2_32(flat));
  }
}

//===----------------------------------------------------------------------===//
// ReducePlan
//===----------------------------------------------------------------------===//

static unsigned getNumDistinctRegisters(const LinearLayout &layout) {
  uint32_t repeated = layout.getFreeVariableMask(kRegister);
  return layout.getInDimSize(kRegister) >> llvm::popcount(repeated);
}

/// For each operand the commutative operation that combines its elements, if
/// that is all that the region does.
static SmallVector<Operation *> getCommutativeCombiners(ReduceOp op) {
  Region &region = op.getCombineOp();
  unsigned numOperands = op.getSrcs().size();
  if (!region.hasOneBlock() ||
      !llvm::hasNItems(region.front(), numOperands + 1))
    return {};
  Block &block = region.front();
  SmallVector<Operation *> combiners;
  for (auto [i, value] :
       llvm::enumerate(block.getTerminator()->getOperands())) {
    Operation *combiner = value.getDefiningOp();
    Value ours = block.getArgument(i),
          theirs = block.getArgument(numOperands + i);
    if (!combiner || !combiner->hasTrait<mlir::OpTrait::IsCommutative>() ||
        combiner->getNumOperands() != 2 || combiner->getNumResults() != 1 ||
        !llvm::is_contained(combiner->getOperands(), ours) ||
        !llvm::is_contained(combiner->getOperands(), theirs))
      return {};
    combiners.push_back(combiner);
  }
  return combiners;
}

ReducePlan::ReducePlan(ReduceOp op)
    : CollectivePlan(toLinearLayout(op.getInputTypes().front()), op.getAxis()),
      combiners(getCommutativeCombiners(op)) {
  SmallVector<Type> elements(op.getElementTypes());
  for (Type element : elements)
    wordsPerElement +=
        llvm::divideCeil(getElementBytesInSharedMemory(element), 4);
  if (isInOrder())
    planInOrder();
  else
    planInAnyOrder();
  if (!unsupported.empty())
    return;
  auto result = dyn_cast<RankedTensorType>(op.getResult()[0].getType());
  if (result) {
    constexpr unsigned kNeighbours = 4; // as many as one access takes
    partsAreNeighbours =
        getNumDistinctRegisters(toLinearLayout(result)) < kNeighbours;
  }
  orderScratch(getWidestBytes(elements));
  allocate(elements, sizeAcrossAxis(layout, axis) << getNumOwnPartBits());
}

SmallVector<unsigned> ReducePlan::findRegistersAcross() const {
  SmallVector<unsigned> bits;
  int32_t seen = 0;
  for (unsigned i = 0, e = layout.getInDimSizeLog2(kRegister); i < e; ++i) {
    int32_t position = flattenAcrossAxis(layout, axis, kRegister, i);
    if (position == 0)
      continue;
    if ((registerBits & (1u << i)) || !llvm::isPowerOf2_32(position) ||
        (seen & position))
      return {};
    seen |= position;
    bits.push_back(i);
  }
  return bits;
}

/// Whether some machines reduce over a warp by one instruction: integers, or
/// the least and the greatest.
static bool mayBeInstruction(ArrayRef<Operation *> combiners) {
  return combiners.size() == 1 &&
         !isa<arith::AddFOp, arith::MulFOp>(combiners[0]);
}

void ReducePlan::planInAnyOrder() {
  auto forEachBit = [](uint32_t bits, auto visit) {
    for (unsigned bit = 0; bit < 32; ++bit)
      if (bits & (1u << bit))
        visit(bit);
  };
  // Where warps go on with the results, it does not matter which lanes of a
  // warp have them.
  SmallVector<unsigned> across;
  bool isWholeWarp = laneBits + 1 == uint32_t(layout.getInDimSize(kLane));
  if (spansWarps() && !(isWholeWarp && mayBeInstruction(combiners)))
    across = findRegistersAcross();
  forEachBit(laneBits, [&](unsigned bit) {
    // The lowest registers stay together, so that one store takes them.
    if (across.empty())
      steps.push_back({Step::Lanes, bit});
    else
      steps.push_back({Step::Trade, bit, across.pop_back_val()});
  });
  forEachBit(warpBits, [&](unsigned bit) { partBits.push_back({kWarp, bit}); });
  forEachBit(blockBits,
             [&](unsigned bit) { partBits.push_back({kBlock, bit}); });
}

void ReducePlan::planInOrder() {
  // Who has each bit of the coordinate along the axis.
  unsigned numBits = layout.getOutDimSizeLog2(axisDim);
  SmallVector<std::optional<PartBit>> holders(numBits);
  for (StringRef inDim : {kRegister, kLane, kWarp, kBlock}) {
    if (!layout.hasInDim(inDim))
      continue;
    for (unsigned i = 0, e = layout.getInDimSizeLog2(inDim); i < e; ++i) {
      int32_t along = layout.getBasis(inDim, i, axisDim);
      if (along == 0)
        continue;
      bool isMixed = flattenAcrossAxis(layout, axis, inDim, i) != 0;
      if (isMixed || !llvm::isPowerOf2_32(along) ||
          holders[llvm::Log2_32(along)]) {
        unsupported = ("the " + inDim +
                       " index is not in the order of the "
                       "axis")
                          .str();
        return;
      }
      holders[llvm::Log2_32(along)] = PartBit{inDim, i};
    }
  }
  for (unsigned i = 0; i < numBits; ++i) {
    PartBit holder = *holders[i];
    // What warps have is combined through memory, and so is what lies above.
    if (holder.inDim == kWarp || holder.inDim == kBlock) {
      for (const std::optional<PartBit> &part : ArrayRef(holders).drop_front(i))
        partBits.push_back(*part);
      return;
    }
    if (holder.inDim == kRegister) {
      steps.push_back({Step::Registers, 0, holder.bit});
      continue;
    }
    Step step{Step::Lanes, holder.bit};
    for (unsigned above = numBits - 1; above > i; --above) {
      if (holders[above]->inDim != kRegister)
        continue;
      step = {Step::Trade, holder.bit, holders[above]->bit};
      holders[above] = holder;
      break;
    }
    steps.push_back(step);
  }
}

unsigned ReducePlan::getNumOwnPartBits() const {
  return llvm::count_if(partBits,
                        [](PartBit part) { return part.inDim != kBlock; });
}

void ReducePlan::orderScratch(int64_t elementBytes) {
  positionOffsets.resize(llvm::Log2_64(sizeAcrossAxis(layout, axis)));
  partOffsets.resize(getNumOwnPartBits());
  ScratchOrder order(elementBytes);
  // What a thread reads by one access comes first. Neighbouring lanes follow,
  // so that their accesses are in different banks.
  if (partsAreNeighbours)
    order.fillAccess(partOffsets);
  forEachPositionBit(layout, axis, kRegister, [&](unsigned bit) {
    order.fillAccess(positionOffsets[bit]);
  });
  order.fillAccess(partOffsets);
  forEachPositionBit(layout, axis, kLane,
                     [&](unsigned bit) { order.place(positionOffsets[bit]); });
  order.place(partOffsets);
  order.place(positionOffsets);
}

int32_t ReducePlan::getOffset(int32_t position, int32_t part) const {
  return mapBits(position, positionOffsets) | mapBits(part, partOffsets);
}

LinearLayout ReducePlan::getStoreLayout() const {
  return makeOffsetLayout(
      layout, sizeAcrossAxis(layout, axis) << getNumOwnPartBits(),
      [&](StringRef inDim, unsigned bit) -> int32_t {
        if (inDim == kBlock)
          return 0;
        int32_t rank = 0;
        for (PartBit part : partBits) {
          if (part.inDim == inDim && part.bit == bit)
            return getOffset(0, 1 << rank);
          rank += part.inDim != kBlock;
        }
        for (const Step &step : steps) {
          if (step.kind != Step::Trade)
            continue;
          if (inDim == kRegister && bit == step.registerBit)
            return 0;
          if (inDim == kLane && bit == step.laneBit)
            return getOffset(
                flattenAcrossAxis(layout, axis, kRegister, step.registerBit),
                0);
        }
        return getOffset(flattenAcrossAxis(layout, axis, inDim, bit), 0);
      });
}

LinearLayout ReducePlan::getResultLayout(Type resultType) const {
  int32_t size = sizeAcrossAxis(layout, axis);
  auto tensor = dyn_cast<RankedTensorType>(resultType);
  // A scalar is one value, everywhere.
  if (!tensor)
    return makeOffsetLayout(layout.resizeInDim(kRegister, 1), size,
                            [](StringRef, unsigned) { return 0; });
  LinearLayout results = toLinearLayout(tensor);
  return makeOffsetLayout(results, size, [&](StringRef inDim, unsigned bit) {
    return flattenAcrossAxis(results, results.getNumOutDims(), inDim, bit);
  });
}

uint32_t ReducePlan::getSharingLanes(Type resultType) const {
  LinearLayout results = getResultLayout(resultType);
  uint32_t sharing = 0;
  for (unsigned i = 0, e = results.getInDimSizeLog2(kLane); i < e; ++i)
    if (results.getBasis(kLane, i, kOffset) == 0)
      sharing |= 1u << i;
  return sharing;
}

ReducePlan::SecondRound ReducePlan::getSecondRound(Type resultType) const {
  LinearLayout results = getResultLayout(resultType);
  auto positionOf = [&](StringRef inDim, unsigned bit) {
    return results.getBasis(inDim, bit, kOffset);
  };
  uint32_t sharing = getSharingLanes(resultType);
  SmallVector<unsigned> freeLanes;
  for (unsigned bit = 0; bit < 32; ++bit)
    if (sharing & (1u << bit))
      freeLanes.push_back(bit);

  // A thread reads no more parts than one access brings, and than leave
  // registers for the kernel; more where there are no lanes to read them.
  constexpr unsigned kWordsPerAccess = 4, kMaxWords = 32;
  unsigned numResults = getNumDistinctRegisters(results);
  unsigned perResult = std::min(kWordsPerAccess, kMaxWords / numResults);
  unsigned numBits = partBits.size();
  unsigned inRegisters =
      llvm::Log2_32(std::max(1u, perResult / wordsPerElement));
  inRegisters = std::min(numBits, inRegisters);
  if (numBits - inRegisters > freeLanes.size())
    inRegisters = numBits - freeLanes.size();

  SecondRound round;
  round.numRegisterBits = inRegisters;
  // What each bit of a part's number adds to the offset and to the block.
  SmallVector<std::vector<int32_t>> images;
  int32_t rank = 0;
  for (PartBit part : partBits) {
    bool isBlock = part.inDim == kBlock;
    images.push_back({isBlock ? 0 : getOffset(0, 1 << rank),
                      isBlock ? int32_t(1) << part.bit : 0});
    rank += !isBlock;
  }
  LinearLayout::Bases bases;
  for (StringRef inDim : results.getInDimNames()) {
    LinearLayout::DimBases dimBases;
    if (inDim == kRegister)
      for (const std::vector<int32_t> &image :
           ArrayRef(images).take_front(inRegisters))
        dimBases.push_back(image);
    for (unsigned i = 0, e = results.getInDimSizeLog2(inDim); i < e; ++i) {
      // Results are in every block along the axis, and from its own memory.
      bool isOfOther = inDim == kBlock && !(blockBits & (1u << i));
      dimBases.push_back(
          {inDim == kBlock ? 0 : getOffset(positionOf(inDim, i), 0),
           isOfOther ? int32_t(1) << i : 0});
    }
    if (inDim == kLane)
      for (auto [bit, image] :
           llvm::zip(freeLanes, ArrayRef(images).drop_front(inRegisters))) {
        dimBases[bit] = image;
        round.steps.push_back({Step::Lanes, bit});
      }
    bases.push_back({inDim, std::move(dimBases)});
  }
  int64_t size = sizeAcrossAxis(layout, axis) << getNumOwnPartBits();
  round.layout = LinearLayout(
      bases,
      {{kOffset, static_cast<int32_t>(size)},
       {kBlock, layout.hasInDim(kBlock) ? layout.getInDimSize(kBlock) : 1}},
      /*requireSurjective=*/false);
  if (getNumAxisBlocks() == 1)
    round.layout = round.layout.removeOutDim(kBlock);
  return round;
}

//===----------------------------------------------------------------------===//
// ScanPlan
//===----------------------------------------------------------------------===//

ScanPlan::ScanPlan(ScanOp op)
    : ScanPlan(op, toLinearLayout(op.getInputTypes().front())) {}

ScanPlan::ScanPlan(ScanOp op, LinearLayout layoutOfInputs)
    : CollectivePlan(std::move(layoutOfInputs), op.getAxis()) {
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
  orderScratch(getWidestBytes(elements));
  allocate(elements, sizeAcrossAxis(layout, axis) * getNumAxisWarps()
                         << llvm::popcount(highRegisterBits));
}

void ScanPlan::orderScratch(int64_t elementBytes) {
  positionOffsets.resize(llvm::Log2_64(sizeAcrossAxis(layout, axis)));
  warpOffsets.resize(llvm::popcount(warpBits));
  repetitionOffsets.resize(llvm::popcount(highRegisterBits));
  ScratchOrder order(elementBytes);
  // What a thread reads by one access comes first: its positions, then warps.
  // Neighbouring lanes follow, so that their accesses are in different banks.
  forEachPositionBit(layout, axis, kRegister, [&](unsigned bit) {
    order.fillAccess(positionOffsets[bit]);
  });
  order.fillAccess(warpOffsets);
  forEachPositionBit(layout, axis, kLane,
                     [&](unsigned bit) { order.place(positionOffsets[bit]); });
  order.place(warpOffsets);
  order.place(positionOffsets);
  order.place(repetitionOffsets);
}

LinearLayout ScanPlan::getStoreLayout() const {
  return makeOffsetLayout(
      layout,
      sizeAcrossAxis(layout, axis)
          << (warpOffsets.size() + repetitionOffsets.size()),
      [&](StringRef dim, unsigned bit) -> int32_t {
        if (dim == kBlock)
          return 0;
        if (dim == kWarp && (warpBits & (1u << bit)))
          return warpOffsets[rankAmong(warpBits, bit)];
        if (dim == kRegister && (highRegisterBits & (1u << bit)))
          return repetitionOffsets[rankAmong(highRegisterBits, bit)];
        return mapBits(flattenAcrossAxis(layout, axis, dim, bit),
                       positionOffsets);
      });
}

LinearLayout ScanPlan::getLoadLayout() const {
  LinearLayout store = getStoreLayout();
  return makeOffsetLayout(
      store, store.getOutDimSize(kOffset),
      [&](StringRef dim, unsigned bit) -> int32_t {
        if (dim == kWarp && (warpBits & (1u << bit)))
          return 0;
        return store.getBasis(dim, bit, kOffset);
      },
      warpOffsets);
}
