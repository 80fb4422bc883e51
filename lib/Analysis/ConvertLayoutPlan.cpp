//===-- ConvertLayoutPlan.cpp - The route of a layout conversion ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Analysis/ConvertLayoutPlan.h"

#include "tile/Analysis/CollectivePlan.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;

std::optional<SmallVector<int32_t>>
triton::getRegisterSources(const LinearLayout &source,
                           const LinearLayout &result) {
  // The thread's bits must mean the same in both layouts; then registers are to
  // be matched with registers.
  SmallVector<StringRef> outDims = source.getOutDimNames();
  for (StringRef dim : {StringRef(kLane), StringRef(kWarp), StringRef(kBlock)}) {
    if (result.hasInDim(dim) != source.hasInDim(dim))
      return std::nullopt;
    if (!result.hasInDim(dim))
      continue;
    if (result.getInDimSizeLog2(dim) != source.getInDimSizeLog2(dim))
      return std::nullopt;
    for (unsigned i = 0, e = result.getInDimSizeLog2(dim); i < e; ++i)
      for (StringRef out : outDims)
        if (result.getBasis(dim, i, out) != source.getBasis(dim, i, out))
          return std::nullopt;
  }
  LinearLayout sourceRegs = source.sublayout({kRegister}, outDims);
  LinearLayout resultRegs = result.sublayout({kRegister}, outDims);
  std::optional<LinearLayout> map = resultRegs.tryInvertAndCompose(sourceRegs);
  if (!map)
    return std::nullopt;
  SmallVector<int32_t> sources;
  for (int32_t r = 0, e = result.getInDimSize(kRegister); r < e; ++r)
    sources.push_back(map->apply({{kRegister, r}}).front().second);
  return sources;
}

namespace {
using Vectors = SmallVector<uint64_t>;

/// A subspace of F2^64 with a basis in echelon form.
class Subspace {
public:
  Subspace() = default;
  explicit Subspace(ArrayRef<uint64_t> vectors) {
    for (uint64_t v : vectors)
      insert(v);
  }
  /// Adds a vector; false if it was there already.
  bool insert(uint64_t v) {
    v = reduce(v);
    if (!v)
      return false;
    echelon.push_back(v);
    return true;
  }
  bool contains(uint64_t v) const { return reduce(v) == 0; }
  unsigned dim() const { return echelon.size(); }

private:
  uint64_t reduce(uint64_t v) const {
    for (uint64_t row : echelon)
      if (v & llvm::bit_floor(row))
        v ^= row;
    return v;
  }
  Vectors echelon;
};

/// A basis of the intersection of two spans (Zassenhaus).
Vectors intersect(ArrayRef<uint64_t> a, ArrayRef<uint64_t> b) {
  // Rows (u, w): u over the sum, w the part that comes from `a`.
  SmallVector<std::pair<uint64_t, uint64_t>> rows;
  Vectors result;
  Subspace found;
  auto add = [&](uint64_t u, uint64_t w) {
    for (auto [ru, rw] : rows)
      if (u & llvm::bit_floor(ru)) {
        u ^= ru;
        w ^= rw;
      }
    if (u)
      rows.push_back({u, w});
    else if (w && found.insert(w))
      result.push_back(w);
  };
  for (uint64_t v : a)
    add(v, v);
  for (uint64_t v : b)
    add(v, 0);
  return result;
}

Vectors basesOf(const LinearLayout &layout, StringRef dim) {
  Vectors vectors;
  if (layout.hasInDim(dim))
    for (unsigned i = 0, e = layout.getInDimSizeLog2(dim); i < e; ++i)
      vectors.push_back(layout.getFlatBasis(dim, i));
  return vectors;
}

constexpr int64_t kWavefrontBytes = 128;
constexpr unsigned kMaxVectorBytes = 16;

/// Offsets such that both sides access vectors of common registers, and the
/// threads of a wavefront hit different banks on both sides.
///
/// With V the vector's bits, let A and B be what the lanes of one wavefront
/// span on either side. Bank bits are free of conflicts if no difference of two
/// lanes lies in C, the span of the offset bits above the banks: so C is chosen
/// as a complement of both A and B, pairing up what they do not share.
LinearLayout chooseSharedLayout(const LinearLayout &source,
                                const LinearLayout &result,
                                int64_t elementBytes) {
  Vectors sourceRegs = basesOf(source, kRegister),
          resultRegs = basesOf(result, kRegister);
  Vectors order; // images of the offset bits, lowest first
  Subspace taken;
  auto take = [&](uint64_t v) {
    if (!taken.insert(v))
      return false;
    order.push_back(v);
    return true;
  };

  // V: common registers. Prefer single bits of the result's registers.
  Vectors common = intersect(sourceRegs, resultRegs);
  Subspace commonSpace(common);
  unsigned maxVector = llvm::Log2_64(
      std::max<int64_t>(1, kMaxVectorBytes / elementBytes));
  for (const Vectors &candidates : {resultRegs, common})
    for (uint64_t v : candidates)
      if (order.size() < maxVector && commonSpace.contains(v))
        take(v);
  int64_t vectorBytes = elementBytes << order.size();
  unsigned bankBits = llvm::Log2_64(kWavefrontBytes / vectorBytes);
  unsigned laneBits = std::min<unsigned>(
      5, llvm::Log2_64(kWavefrontBytes / std::max<int64_t>(4, vectorBytes)));

  auto wavefront = [&](const LinearLayout &layout) {
    Vectors lanes = basesOf(layout, kLane), span;
    Subspace space = taken;
    for (uint64_t v : ArrayRef(lanes).take_front(
             std::min<size_t>(laneBits, lanes.size())))
      if (space.insert(v))
        span.push_back(v);
    return span;
  };
  Vectors a = wavefront(source), b = wavefront(result);
  // I = (A + V) and (B + V) in common, modulo V.
  Vectors vectorBasis(order);
  Vectors aPlus(a), bPlus(b);
  llvm::append_range(aPlus, vectorBasis);
  llvm::append_range(bPlus, vectorBasis);
  Vectors shared;
  Subspace sharedSpace(vectorBasis);
  for (uint64_t v : intersect(aPlus, bPlus))
    if (sharedSpace.insert(v))
      shared.push_back(v);
  auto complementOf = [&](ArrayRef<uint64_t> vectors) {
    Vectors rest;
    Subspace space = sharedSpace;
    for (uint64_t v : vectors)
      if (space.insert(v))
        rest.push_back(v);
    return rest;
  };
  Vectors a0 = complementOf(a), b0 = complementOf(b);

  // Banks: what the reader's lanes span, so that neighbours stay neighbours.
  size_t endOfBanks = order.size() + bankBits;
  for (uint64_t v : basesOf(result, kLane))
    if (order.size() < endOfBanks && Subspace(bPlus).contains(v))
      take(v);
  Vectors pairs;
  for (auto [x, y] : llvm::zip(a0, b0))
    pairs.push_back(x ^ y);
  // Where the writer has more lanes in a wavefront than the reader, the rest of
  // them need banks too.
  for (uint64_t v : ArrayRef(a0).drop_front(std::min(a0.size(), b0.size())))
    if (order.size() < endOfBanks)
      take(v);
  // Above the banks: the pairs, then whatever is left. Fill up the banks first
  // if lanes alone do not.
  Vectors rest;
  for (const LinearLayout *layout : {&result, &source})
    for (StringRef dim : {StringRef(kRegister), StringRef(kLane),
                          StringRef(kWarp)})
      llvm::append_range(rest, basesOf(*layout, dim));
  Subspace pairSpace = taken;
  for (uint64_t v : pairs)
    pairSpace.insert(v);
  for (uint64_t v : rest)
    if (order.size() < endOfBanks && pairSpace.insert(v))
      take(v);
  for (uint64_t v : pairs)
    take(v);
  for (uint64_t v : rest)
    take(v);

  LinearLayout::DimBases bases;
  for (uint64_t v : order) {
    std::vector<int32_t> image;
    for (auto [dim, value] : source.unflattenOut(v))
      image.push_back(value);
    bases.push_back(std::move(image));
  }
  return LinearLayout({{kOffset, bases}}, source.getOutDims(),
                      /*requireSurjective=*/false);
}
} // namespace

ConvertLayoutPlan::ConvertLayoutPlan(RankedTensorType sourceType,
                                     RankedTensorType resultType)
    : source(toLinearLayout(sourceType)), result(toLinearLayout(resultType)) {
  if (std::optional<SmallVector<int32_t>> sources =
          getRegisterSources(source, result)) {
    route = Route::Registers;
    registerSources = std::move(*sources);
    return;
  }
  route = Route::SharedMemory;
  int64_t bytes = getElementBytesInSharedMemory(sourceType.getElementType());
  shared = chooseSharedLayout(source, result, bytes);
  scratchSize = shared.getInDimSize(kOffset) * bytes;
}
