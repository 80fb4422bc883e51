//===-- LayoutConversion.cpp - How data moves between layouts -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "tile/Layout/LayoutConversion.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace mlir::triton {

//===----------------------------------------------------------------------===//
// Where to read from
//===----------------------------------------------------------------------===//

static constexpr StringLiteral kHardwareDims[] = {kRegister, kLane, kWarp,
                                                  kBlock};

/// The map from dst to src in which the dims from number `fixed` on stay as
/// they are, if there is one. A source that holds copies in other warps (say)
/// often has such a map even though another would come to mind first.
static std::optional<LinearLayout>
mapThatKeeps(const LinearLayout &src, const LinearLayout &dst, unsigned fixed) {
  // Solve with the free dims only.
  F2Span span;
  SmallVector<uint64_t> generators; // as flat src indices
  unsigned shift = 0;
  SmallVector<unsigned> shifts;
  for (auto [d, dim] : enumerate(kHardwareDims)) {
    shifts.push_back(shift);
    for (unsigned i = 0, e = src.getInDimSizeLog2(dim); i < e; ++i, ++shift)
      if (d < fixed && span.insert(src.getFlatBasis(dim, i)))
        generators.push_back(uint64_t(1) << shift);
  }

  LinearLayout::Bases bases;
  for (auto [d, dim] : enumerate(kHardwareDims)) {
    LinearLayout::DimBases dimBases;
    for (unsigned i = 0, e = dst.getInDimSizeLog2(dim); i < e; ++i) {
      uint64_t image = dst.getFlatBasis(dim, i);
      uint64_t index = 0;
      // Staying in place is right where it leads to the same element, or where
      // the dim has to stay anyway.
      bool exists = i < src.getInDimSizeLog2(dim);
      if (exists && (d >= fixed || src.getFlatBasis(dim, i) == image)) {
        index = uint64_t(1) << (shifts[d] + i);
        image ^= src.getFlatBasis(dim, i);
      }
      std::optional<uint64_t> rest = span.express(image);
      if (!rest)
        return std::nullopt;
      for (auto [g, generator] : enumerate(generators))
        if ((*rest >> g) & 1)
          index ^= generator;
      std::vector<int32_t> basis;
      for (auto [name, value] : src.unflattenIn(index))
        basis.push_back(value);
      dimBases.push_back(std::move(basis));
    }
    bases.push_back({dim, std::move(dimBases)});
  }
  return LinearLayout(bases, src.getInDims(), /*requireSurjective=*/false);
}

//===----------------------------------------------------------------------===//
// Shuffles
//===----------------------------------------------------------------------===//

bool ShufflePlan::isButterfly() const {
  return laneMap == F2Matrix::identity(laneMap.numCols()) &&
         all_of(laneMapRest.columns(), [](uint64_t c) { return c == 0; });
}

bool ShufflePlan::staysInLane(const Round &round) const {
  return round.laneXor == 0 && isButterfly();
}

unsigned ShufflePlan::getNumShuffles() const {
  return count_if(rounds, [&](const Round &r) { return !staysInLane(r); });
}

unsigned ShufflePlan::getNumSelects() const {
  F2Matrix::Words srcColumns(srcSelect.columns());
  srcColumns.append(srcSelectRest.columns().begin(),
                    srcSelectRest.columns().end());
  F2Span srcSpan;
  for (uint64_t c : srcColumns)
    srcSpan.insert(c);
  return srcSpan.dim() * numSrcRegs + dstSelect.rank() * numDstRegs;
}

SmallVector<std::pair<unsigned, unsigned>>
ShufflePlan::getPackableBits() const {
  uint64_t srcTouched = 0, dstTouched = 0;
  for (uint64_t c : srcSelect.columns())
    srcTouched |= c;
  for (uint64_t c : srcSelectRest.columns())
    srcTouched |= c;
  for (uint64_t c : dstSelect.columns())
    dstTouched |= c;
  SmallVector<std::pair<unsigned, unsigned>> result;
  for (unsigned i = 0, e = srcRegOfDstReg.numCols(); i < e; ++i) {
    uint64_t srcBits = srcRegOfDstReg.col(i);
    if (laneOfDstReg.col(i) || !isPowerOf2_64(srcBits) ||
        (srcBits & srcTouched) || ((dstTouched >> i) & 1))
      continue;
    // No other register bit of dst may meet this one of src.
    bool alone = true;
    for (unsigned j = 0; j < e; ++j)
      alone &= j == i || !(srcRegOfDstReg.col(j) & srcBits);
    if (alone)
      result.push_back({i, unsigned(countr_zero(srcBits))});
  }
  return result;
}

/// `map` goes from dst to src, both without copies among their registers, and
/// stays inside warps.
///
/// Write the source of (register r, lane l) as lane A r + B l and register
/// C r + D l. If in one round lane l fetches what its register r0 + R l needs,
/// the source lane is A r0 + (A R + B) l. Choose R so that A R + B is
/// invertible: then each lane is read by exactly one other, and can tell from
/// its own index which register to send. Where dst needs all that src has,
/// there is such an R. Together A and B then reach all lanes, if we may also
/// send from a lane that holds a copy. Such moves act as further columns of A
/// (called `spare` below). Where dst needs only a part (because the warp
/// decides which), a lane may have to send several registers. Then dst gets
/// more registers, which nobody reads, to make room for these rounds.
static ShufflePlan planShuffles(const LinearLayout &src,
                                const LinearLayout &map) {
  unsigned numSrcRegs = map.getOutDimSizeLog2(kRegister);
  unsigned numDstRegs = map.getInDimSizeLog2(kRegister);
  unsigned numLanes = map.getInDimSizeLog2(kLane);
  uint64_t regMask = maskTrailingOnes<uint64_t>(numSrcRegs);
  uint64_t laneMask = maskTrailingOnes<uint64_t>(numLanes);

  // A source place inside the warp as one word: register, then lane.
  auto places = [&](StringRef dim) {
    LinearLayout sub = map.sublayout({dim}, {kRegister, kLane});
    F2Matrix::Words result;
    for (unsigned i = 0, e = sub.getInDimSizeLog2(dim); i < e; ++i)
      result.push_back(sub.getFlatBasis(dim, i));
    return result;
  };
  F2Matrix::Words dstRegs = places(kRegister), dstLanes = places(kLane);
  F2Matrix::Words rest = places(kWarp);
  rest.append(places(kBlock));

  // Moves between places that hold the same value.
  F2Matrix::Words srcColumns;
  for (StringRef dim : {StringRef(kRegister), StringRef(kLane)})
    for (unsigned i = 0, e = src.getInDimSizeLog2(dim); i < e; ++i)
      srcColumns.push_back(src.getFlatBasis(dim, i));
  F2Matrix::Words spare =
      F2Matrix(src.getTotalOutDimSizeLog2(), srcColumns).kernel();

  auto laneOf = [&](uint64_t place) {
    return (place >> numSrcRegs) & laneMask;
  };

  // Lanes l whose source lane depends on those before them are the ones that
  // need a different register.
  F2Span lanesReached;
  ShufflePlan plan;
  plan.numKeptDstRegs = 1u << numDstRegs;
  F2Matrix::Words dstSelect(numLanes, 0);
  F2Matrix::Words corrected = dstLanes;
  SmallVector<unsigned> deficits;
  for (unsigned l = 0; l < numLanes; ++l)
    if (!lanesReached.insert(laneOf(dstLanes[l])))
      deficits.push_back(l);
  for (unsigned l : deficits) {
    uint64_t lane = laneOf(dstLanes[l]), own = uint64_t(1) << l;
    auto tryCorrection = [&](uint64_t place, uint64_t select, bool wantOwn) {
      uint64_t newLane = lane ^ laneOf(place);
      if ((wantOwn && newLane != own) || !lanesReached.insert(newLane))
        return false;
      corrected[l] ^= place;
      dstSelect[l] = select;
      return true;
    };
    bool done = false;
    // The best correction makes the lane read itself: then a whole round may
    // need no shuffle at all.
    for (bool wantOwn : {true, false}) {
      for (unsigned r = 0; r < numDstRegs && !done; ++r)
        done = tryCorrection(dstRegs[r], uint64_t(1) << r, wantOwn);
      for (unsigned s = 0; s < spare.size() && !done; ++s)
        done = tryCorrection(spare[s], 0, wantOwn);
    }
    for (unsigned i = 0; i <= numLanes && !done; ++i) {
      uint64_t newLane = i == 0 ? own : uint64_t(1) << (i - 1);
      uint64_t place = (lane ^ newLane) << numSrcRegs;
      done = tryCorrection(place, uint64_t(1) << numDstRegs, false);
      if (done) {
        dstRegs.push_back(place);
        ++numDstRegs;
      }
    }
    assert(done && "some unit vector is not spanned yet");
  }

  // A R + B, and the register needed as a function of the receiving lane.
  F2Matrix laneMap(numLanes, numLanes), regNeeded(numSrcRegs, numLanes);
  for (unsigned l = 0; l < numLanes; ++l) {
    for (unsigned bit = 0; bit < numLanes; ++bit)
      laneMap.set(bit, l, (laneOf(corrected[l]) >> bit) & 1);
    for (unsigned bit = 0; bit < numSrcRegs; ++bit)
      regNeeded.set(bit, l, (corrected[l] >> bit) & 1);
  }
  F2Matrix::Words restLanes, restRegs;
  for (uint64_t place : rest) {
    restLanes.push_back(laneOf(place));
    restRegs.push_back(place & regMask);
  }
  plan.laneMap = laneMap;
  plan.laneMapRest = F2Matrix(numLanes, restLanes);
  plan.dstSelect = F2Matrix(numDstRegs, dstSelect);
  // The sender s = laneXor + laneMap l + laneMapRest rest knows l from s.
  plan.srcSelect = regNeeded * *laneMap.inverse();
  F2Matrix throughLanes = plan.srcSelect * plan.laneMapRest;
  for (auto [i, reg] : enumerate(restRegs))
    reg ^= throughLanes.col(i);
  plan.srcSelectRest = F2Matrix(numSrcRegs, restRegs);
  plan.numSrcRegs = 1u << numSrcRegs;
  plan.numDstRegs = 1u << numDstRegs;

  F2Matrix::Words regLanes, regRegs;
  for (uint64_t place : dstRegs) {
    regLanes.push_back(laneOf(place));
    regRegs.push_back(place & regMask);
  }
  plan.laneOfDstReg = F2Matrix(numLanes, regLanes);
  plan.srcRegOfDstReg = F2Matrix(numSrcRegs, regRegs);
  for (uint64_t r = 0; r < plan.numDstRegs; ++r) {
    uint64_t laneXor = plan.laneOfDstReg.apply(r);
    uint64_t srcReg =
        plan.srcRegOfDstReg.apply(r) ^ plan.srcSelect.apply(laneXor);
    plan.rounds.push_back({srcReg, r, laneXor});
  }
  return plan;
}

//===----------------------------------------------------------------------===//
// Classification
//===----------------------------------------------------------------------===//

/// Over registers alone, if all else stays in place.
static std::optional<SmallVector<unsigned>>
asRegisterMap(const LinearLayout &map) {
  StringRef others[] = {kLane, kWarp, kBlock};
  if (!map.isTrivialOver(others) ||
      !map.sublayoutIsZero(others, {StringRef(kRegister)}))
    return std::nullopt;
  LinearLayout registers = map.sublayout({kRegister}, {kRegister});
  SmallVector<unsigned> result;
  for (int32_t r = 0, e = map.getInDimSize(kRegister); r < e; ++r)
    result.push_back(registers.applyFlat(r));
  return result;
}

LayoutConversion decomposeConversion(const LinearLayout &srcLayout,
                                     const LinearLayout &dstLayout) {
  ArrayRef<StringLiteral> dims(kHardwareDims);
  SmallVector<StringRef> order(dims.begin(), dims.end());
  LinearLayout src = srcLayout.transposeIns(order);
  LinearLayout dst =
      dstLayout.transposeIns(order).transposeOuts(src.getOutDimNames());
  assert(src.getOutDims() == dst.getOutDims() &&
         "both layouts are of one tensor");
  for ([[maybe_unused]] StringRef dim : ArrayRef(order).drop_front())
    assert(src.getInDimSize(dim) == dst.getInDimSize(dim) &&
           "both layouts are of one machine");

  for (auto [fixed, kind] : {std::pair(1u, ConversionKind::Registers),
                             std::pair(2u, ConversionKind::Lanes),
                             std::pair(3u, ConversionKind::SharedMemory),
                             std::pair(4u, ConversionKind::Cluster)}) {
    std::optional<LinearLayout> map = mapThatKeeps(src, dst, fixed);
    if (!map)
      continue;
    LayoutConversion result{kind, *map, {}, {}};
    if (fixed <= 2) {
      if (auto registerMap = asRegisterMap(*map)) {
        result.registerMap = *registerMap;
        bool same = map->getInDims() == map->getOutDims() &&
                    all_of(enumerate(*registerMap),
                           [](auto it) { return it.index() == it.value(); });
        result.kind = same ? ConversionKind::NoOp : ConversionKind::Registers;
        return result;
      }
      // A thread that has to pick its register by its lane does so as in a
      // shuffle, with no lane to go to.
      result.kind = ConversionKind::Lanes;
      LinearLayout distinctSrc = removeBroadcastedRegisters(src).apply(src);
      LinearLayout distinctDst = removeBroadcastedRegisters(dst).apply(dst);
      result.shuffles = planShuffles(
          distinctSrc, *mapThatKeeps(distinctSrc, distinctDst, fixed));
    }
    return result;
  }
  llvm_unreachable("surjective layouts always have a map");
}

} // namespace mlir::triton
