//===-- SharedMemory.cpp - Vectors and banks of shared memory -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "tile/Layout/SharedMemory.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace mlir::triton {

namespace {
using Words = F2Matrix::Words;

unsigned elemBytesLog2(unsigned elemBits) {
  assert(isPowerOf2_32(elemBits) && elemBits >= 8 && elemBits <= 128 &&
         "elements in shared memory have 1 to 16 bytes");
  return Log2_32(elemBits) - 3;
}

/// Of one instruction: how many offset bits lie within a word or an access
/// (whichever is larger), and how many lane bits are served together.
struct AccessShape {
  unsigned unitLog2;
  unsigned lanesLog2;
};

AccessShape accessShape(unsigned elemBits, unsigned vecLog2,
                        unsigned numLanesLog2, BankGeometry banks) {
  unsigned bytes = elemBytesLog2(elemBits) + vecLog2;
  unsigned bankBytes = Log2_32(banks.bankBytes);
  unsigned numBanks = Log2_32(banks.numBanks);
  unsigned words =
      std::min(bytes > bankBytes ? bytes - bankBytes : 0, numBanks);
  unsigned unit = std::max(bytes, bankBytes) - elemBytesLog2(elemBits);
  return {unit, std::min(numLanesLog2, numBanks - words)};
}

/// The offset bits within one row of all banks.
unsigned rowBits(unsigned elemBits, BankGeometry banks) {
  return Log2_32(banks.bankBytes) + Log2_32(banks.numBanks) -
         elemBytesLog2(elemBits);
}

unsigned rankOf(ArrayRef<uint64_t> vectors) {
  F2Span span;
  for (uint64_t v : vectors)
    span.insert(v);
  return span.dim();
}
} // namespace

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

LinearLayout getOffsetLayout(const LinearLayout &distributed,
                             const LinearLayout &shared) {
  return distributed.invertAndCompose(shared);
}

VectorAccess getVectorAccess(const LinearLayout &offsets, unsigned elemBits,
                             unsigned maxBits, int64_t maxElements) {
  unsigned numRegs = offsets.getInDimSizeLog2(kRegister);
  LinearLayout only = offsets.sublayout(offsets.getInDimNames(), {kOffset});

  // Register bit i moves the offset by exactly 2^k, and nothing else does.
  auto registerFor = [&](unsigned k) -> std::optional<unsigned> {
    std::optional<unsigned> found;
    for (auto [name, size] : only.getInDims()) {
      for (unsigned i = 0, e = Log2_32(size); i < e; ++i) {
        uint64_t basis = only.getFlatBasis(name, i);
        if (!((basis >> k) & 1))
          continue;
        if (found || name != kRegister || basis != uint64_t(1) << k)
          return std::nullopt;
        found = i;
      }
    }
    return found;
  };

  SmallVector<unsigned> bits;
  while (elemBits << (bits.size() + 1) <= maxBits &&
         int64_t(2) << bits.size() <= maxElements &&
         bits.size() < only.getOutDimSizeLog2(kOffset)) {
    std::optional<unsigned> bit = registerFor(bits.size());
    if (!bit)
      break;
    bits.push_back(*bit);
  }
  unsigned vecLog2 = bits.size();
  for (unsigned i = 0; i < numRegs; ++i)
    if (!is_contained(bits, i))
      bits.push_back(i);
  return {vecLog2, ColumnAction(bits, kRegister, numRegs)};
}

/// The lanes' offsets in units of a word or an access, and within one row of
/// all banks.
static std::pair<Words, Words> laneUnitsAndBanks(const LinearLayout &offsets,
                                                 unsigned elemBits,
                                                 AccessShape shape,
                                                 BankGeometry geometry) {
  unsigned rowLog2 = rowBits(elemBits, geometry);
  LinearLayout only = offsets.sublayout({kLane}, {kOffset});
  Words units, banks;
  for (unsigned i = 0; i < shape.lanesLog2; ++i) {
    uint64_t offset = only.getFlatBasis(kLane, i);
    units.push_back(offset >> shape.unitLog2);
    banks.push_back((offset & maskTrailingOnes<uint64_t>(rowLog2)) >>
                    shape.unitLog2);
  }
  return {units, banks};
}

unsigned countWavefronts(const LinearLayout &offsets, unsigned elemBits,
                         unsigned vecLog2, BankGeometry geometry) {
  unsigned numLanes = offsets.getInDimSizeLog2(kLane);
  AccessShape shape = accessShape(elemBits, vecLog2, numLanes, geometry);
  auto [units, banks] = laneUnitsAndBanks(offsets, elemBits, shape, geometry);
  // Groups of lanes are cosets of the first one, so each takes as long.
  unsigned groups = 1u << (numLanes - shape.lanesLog2);
  return groups << (rankOf(units) - rankOf(banks));
}

unsigned countIdealWavefronts(const LinearLayout &offsets, unsigned elemBits,
                              unsigned vecLog2, BankGeometry geometry) {
  unsigned numLanes = offsets.getInDimSizeLog2(kLane);
  AccessShape shape = accessShape(elemBits, vecLog2, numLanes, geometry);
  return 1u << (numLanes - shape.lanesLog2);
}

LinearLayout exchangeRegisters(const LinearLayout &offsets,
                               RegisterExchange exchange) {
  LinearLayout::Bases bases = offsets.getBases();
  auto find = [&](StringRef name) -> LinearLayout::DimBases & {
    return llvm::find_if(bases, [&](auto &dim) { return dim.first == name; })
        ->second;
  };
  const std::vector<int32_t> other = find(kRegister)[exchange.registerBit];
  for (auto [value, difference] :
       llvm::zip(find(kLane)[exchange.laneBit], other))
    value ^= difference;
  return LinearLayout(bases, offsets.getOutDims(),
                      /*requireSurjective=*/false);
}

SmallVector<RegisterExchange> chooseRegisterExchanges(LinearLayout offsets,
                                                      unsigned elemBits,
                                                      unsigned vecLog2,
                                                      BankGeometry banks) {
  SmallVector<RegisterExchange> chosen;
  unsigned fewest = countWavefronts(offsets, elemBits, vecLog2, banks);
  unsigned ideal = countIdealWavefronts(offsets, elemBits, vecLog2, banks);
  while (fewest > ideal) {
    unsigned before = fewest;
    RegisterExchange best{};
    for (unsigned r = 0; r < offsets.getInDimSizeLog2(kRegister); ++r) {
      // Vectors stay whole.
      uint64_t offset = offsets.getFlatBasis(kRegister, r);
      if (offset & maskTrailingOnes<uint64_t>(vecLog2))
        continue;
      for (unsigned l = 0; l < offsets.getInDimSizeLog2(kLane); ++l) {
        RegisterExchange exchange{l, r};
        unsigned count = countWavefronts(exchangeRegisters(offsets, exchange),
                                         elemBits, vecLog2, banks);
        if (count < fewest) {
          fewest = count;
          best = exchange;
        }
      }
    }
    if (fewest == before)
      break;
    offsets = exchangeRegisters(offsets, best);
    chosen.push_back(best);
  }
  return chosen;
}

//===----------------------------------------------------------------------===//
// The choice of a layout
//===----------------------------------------------------------------------===//

namespace {
/// One side of the conversion, as vectors of the flat tensor space.
struct Side {
  Words regs; // without copies
  Words lanes, warps;
  Words all() const {
    Words result = regs;
    result.append(lanes);
    result.append(warps);
    return result;
  }
};

Side getSide(const LinearLayout &layout) {
  Side side;
  F2Span span;
  for (unsigned i = 0, e = layout.getInDimSizeLog2(kRegister); i < e; ++i)
    if (uint64_t v = layout.getFlatBasis(kRegister, i); span.insert(v))
      side.regs.push_back(v);
  for (unsigned i = 0, e = layout.getInDimSizeLog2(kLane); i < e; ++i)
    side.lanes.push_back(layout.getFlatBasis(kLane, i));
  for (unsigned i = 0, e = layout.getInDimSizeLog2(kWarp); i < e; ++i)
    side.warps.push_back(layout.getFlatBasis(kWarp, i));
  return side;
}

bool sameSpan(ArrayRef<uint64_t> a, ArrayRef<uint64_t> b) {
  Words both(a.begin(), a.end());
  both.append(b.begin(), b.end());
  unsigned rank = rankOf(both);
  return rankOf(a) == rank && rankOf(b) == rank;
}

/// What an instruction touches at once, besides which no two vectors may fall
/// on the same banks: the low offset bits of its unit and the lanes served
/// together.
Words footprint(ArrayRef<uint64_t> low, const Side &side, unsigned elemBits,
                unsigned vecLog2, BankGeometry banks) {
  AccessShape shape = accessShape(elemBits, vecLog2, side.lanes.size(), banks);
  Words result(low.take_front(shape.unitLog2));
  result.append(side.lanes.begin(), side.lanes.begin() + shape.lanesLog2);
  return result;
}

/// Adds those of `candidates` that are independent of `span`, up to `limit`.
void extend(Words &vectors, F2Span &span, ArrayRef<uint64_t> candidates,
            size_t limit) {
  for (uint64_t v : candidates)
    if (vectors.size() < limit && span.insert(v))
      vectors.push_back(v);
}

/// A subspace of dimension `dim` of span(space) that meets neither span(p) nor
/// span(q), where `dim` is at most their codimensions. It always exists: with
/// I = P ∩ Q, P = I + {p_i} and Q = I + {q_i}, the sums p_i + q_i avoid both,
/// and so does anything outside of P + Q.
Words commonComplement(ArrayRef<uint64_t> p, ArrayRef<uint64_t> q,
                       ArrayRef<uint64_t> space, size_t dim) {
  Words common = intersectSpans(p, q);
  auto restOf = [&](ArrayRef<uint64_t> vectors) {
    F2Span span;
    Words rest;
    for (uint64_t v : common)
      span.insert(v);
    extend(rest, span, vectors, 64);
    return rest;
  };
  Words restP = restOf(p), restQ = restOf(q);

  // Outside vectors first: they leave the address bits of lanes alone.
  Words result;
  F2Span span;
  for (uint64_t v : p)
    span.insert(v);
  for (uint64_t v : q)
    span.insert(v);
  extend(result, span, space, dim);
  for (auto [vp, vq] : zip(restP, restQ))
    if (result.size() < dim)
      result.push_back(vp ^ vq);
  assert(result.size() == dim && "footprints exceed the banks");
  return result;
}

/// Turns vectors of the flat tensor space into bases.
LinearLayout::DimBases toBases(ArrayRef<uint64_t> vectors,
                               const LinearLayout &like) {
  LinearLayout::DimBases result;
  for (uint64_t v : vectors) {
    std::vector<int32_t> basis;
    for (auto [name, value] : like.unflattenOut(v))
      basis.push_back(value);
    result.push_back(std::move(basis));
  }
  return result;
}

class SwizzleChooser {
public:
  SwizzleChooser(const LinearLayout &src, const LinearLayout &dst,
                 unsigned elemBits, BankGeometry geometry)
      : srcLayout(src), dstLayout(dst), elemBits(elemBits), geometry(geometry),
        src(getSide(src)), dst(getSide(dst)) {}

  std::optional<SwizzledLayout> run(int64_t maxBytes);

private:
  enum class Wider { Neither, Src, Dst };
  SwizzledLayout build(Wider wider, unsigned maxVec) const;
  bool crossesBlocks() const;
  void splitOffRepetitions(int64_t maxBytes);
  void evaluate(SwizzledLayout &result) const;

  LinearLayout srcLayout, dstLayout;
  unsigned elemBits;
  BankGeometry geometry;
  Side src, dst;
  /// Register bases that both sides have, in the order of `src`.
  Words common;
  Words repetitions;
};
} // namespace

bool SwizzleChooser::crossesBlocks() const {
  if (srcLayout.hasInDim(kBlock) != dstLayout.hasInDim(kBlock))
    return true;
  if (!srcLayout.hasInDim(kBlock))
    return false;
  if (srcLayout.getInDimSize(kBlock) != dstLayout.getInDimSize(kBlock))
    return true;
  F2Span mine;
  for (uint64_t v : src.all())
    mine.insert(v);
  for (unsigned i = 0, e = srcLayout.getInDimSizeLog2(kBlock); i < e; ++i)
    if (!mine.contains(srcLayout.getFlatBasis(kBlock, i) ^
                       dstLayout.getFlatBasis(kBlock, i)))
      return true;
  return false;
}

void SwizzleChooser::splitOffRepetitions(int64_t maxBytes) {
  while (!common.empty()) {
    int64_t bytes = (int64_t(1) << rankOf(src.all()))
                    << elemBytesLog2(elemBits);
    if (bytes <= maxBytes)
      return;
    uint64_t candidate = common.back();
    Side smallSrc = src, smallDst = dst;
    erase(smallSrc.regs, candidate);
    erase(smallDst.regs, candidate);
    // Each round stores one half of the tensor and loads it again. A basis of a
    // lane or a warp may be a sum that this register is part of. Then the other
    // registers, lanes and warps of the two sides span different halves.
    if (!sameSpan(smallSrc.all(), smallDst.all()))
      return;
    common.pop_back();
    repetitions.push_back(candidate);
    src = std::move(smallSrc);
    dst = std::move(smallDst);
  }
}

SwizzledLayout SwizzleChooser::build(Wider wider, unsigned maxVec) const {
  unsigned rowLog2 = rowBits(elemBits, geometry);
  unsigned wordLog2 = accessShape(elemBits, 0, 0, geometry).unitLog2;

  // The low offset bits: what both sides move at once, then what the wider side
  // adds. That must vary among the lanes that the other side serves together,
  // or it would leave banks idle.
  Words low;
  F2Span span;
  extend(low, span, common, maxVec);
  SwizzledLayout result;
  result.storeVecLog2 = result.loadVecLog2 = low.size();
  const Side &wide = wider == Wider::Dst ? dst : src;
  if (wider != Wider::Neither) {
    const Side &narrow = wider == Wider::Dst ? src : dst;
    unsigned lanes =
        accessShape(elemBits, low.size(), narrow.lanes.size(), geometry)
            .lanesLog2;
    Words added;
    for (uint64_t v : wide.regs)
      if (is_contained(ArrayRef(narrow.lanes).take_front(lanes), v))
        added.push_back(v);
    extend(low, span, added, maxVec);
    (wider == Wider::Dst ? result.loadVecLog2 : result.storeVecLog2) =
        low.size();
  }

  // Vectors stay aligned only if all else avoids the low bits: move every other
  // vector into the span of what the wider side has besides them.
  unsigned numLow = low.size();
  F2Span frame = span;
  Words others;
  extend(others, frame, wide.all(), 64);
  auto project = [&](ArrayRef<uint64_t> vectors) {
    Words projected;
    for (uint64_t v : vectors) {
      uint64_t generators = *frame.express(v) >> numLow, image = 0;
      for (auto [g, other] : enumerate(others))
        if ((generators >> g) & 1)
          image ^= other;
      projected.push_back(image);
    }
    return projected;
  };
  if (numLow < wordLog2) // completes a word
    extend(low, span, others, wordLog2);

  // The high offset bits go from row to row of the banks, so they must not
  // connect vectors that one instruction touches. Both sides can always be
  // satisfied at once.
  Words space = project(src.all());
  unsigned total = numLow + others.size();
  Words rows;
  if (total > rowLog2)
    rows = commonComplement(
        project(footprint(low, src, elemBits, result.storeVecLog2, geometry)),
        project(footprint(low, dst, elemBits, result.loadVecLog2, geometry)),
        space, total - rowLog2);

  // The bits between them choose the bank; lanes give the simplest addresses.
  for (uint64_t v : rows)
    span.insert(v);
  Words banks;
  extend(banks, span, project(dst.lanes), 64);
  extend(banks, span, project(src.lanes), 64);
  extend(banks, span, space, 64);

  Words offsets = low;
  offsets.append(banks);
  offsets.append(rows);
  LinearLayout::Bases bases = {{kOffset, toBases(offsets, srcLayout)},
                               {kRepetition, toBases(repetitions, srcLayout)}};
  if (srcLayout.hasInDim(kBlock)) {
    Words blocks;
    for (unsigned i = 0; i < srcLayout.getInDimSizeLog2(kBlock); ++i)
      blocks.push_back(srcLayout.getFlatBasis(kBlock, i));
    bases.push_back({kBlock, toBases(blocks, srcLayout)});
  }
  result.layout =
      LinearLayout(bases, srcLayout.getOutDims(), /*requireSurjective=*/false);
  evaluate(result);
  return result;
}

void SwizzleChooser::evaluate(SwizzledLayout &result) const {
  auto wavefronts = [&](const LinearLayout &layout, const Side &side,
                        unsigned &vecLog2) {
    LinearLayout distinct = removeBroadcastedRegisters(layout).apply(layout);
    LinearLayout offsets = getOffsetLayout(distinct, result.layout);
    // Where layouts are not made of single bits, the two sides may disagree on
    // what is aligned.
    vecLog2 = std::min(vecLog2, getVectorAccess(offsets, elemBits).vecLog2);
    unsigned instructions =
        1u << (side.regs.size() + repetitions.size() - vecLog2);
    unsigned each = countWavefronts(offsets, elemBits, vecLog2, geometry);
    result.isConflictFree &=
        each <= countIdealWavefronts(offsets, elemBits, vecLog2, geometry);
    return instructions * each;
  };
  result.storeWavefronts = wavefronts(srcLayout, src, result.storeVecLog2);
  result.loadWavefronts = wavefronts(dstLayout, dst, result.loadVecLog2);
}

std::optional<SwizzledLayout> SwizzleChooser::run(int64_t maxBytes) {
  if (!sameSpan(src.all(), dst.all()) || crossesBlocks())
    return std::nullopt;
  for (uint64_t v : src.regs)
    if (is_contained(dst.regs, v))
      common.push_back(v);
  splitOffRepetitions(maxBytes);

  // The widest vectors are the best where layouts are made of single bits. In
  // others, bits may be entangled so that narrower ones have fewer conflicts.
  std::optional<SwizzledLayout> best;
  auto cost = [](const SwizzledLayout &l) {
    return std::pair(l.storeWavefronts + l.loadWavefronts,
                     -int(l.storeVecLog2 + l.loadVecLog2));
  };
  for (int maxVec = 7 - Log2_32(elemBits); maxVec >= 0; --maxVec) {
    for (Wider wider : {Wider::Neither, Wider::Src, Wider::Dst}) {
      SwizzledLayout other = build(wider, maxVec);
      if (!best || cost(other) < cost(*best))
        best = std::move(other);
    }
    if (best->isConflictFree)
      break;
  }
  return best;
}

std::optional<SwizzledLayout>
chooseSwizzledSharedLayout(const LinearLayout &src, const LinearLayout &dst,
                           unsigned elemBits, int64_t maxBytes,
                           BankGeometry geometry) {
  assert(src.getOutDims().size() == dst.getOutDims().size() &&
         "both layouts are of one tensor");
  return SwizzleChooser(src, dst.transposeOuts(src.getOutDimNames()), elemBits,
                        geometry)
      .run(maxBytes);
}

} // namespace mlir::triton
