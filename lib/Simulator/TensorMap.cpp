//===-- TensorMap.cpp - The 128 bytes of a tensor map ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "tile/Simulator/TensorMap.h"

#include <cstring>

using namespace tile::sim;

namespace {
/// Words of 32 bits; what each holds beside those that hold one thing.
enum Word : unsigned {
  Facts = 2, ///< mode, rank, type, interleave, swizzle, fill
  Strides = 3,
  StridesHigh = 7,
  Sizes = 8,
  Steps = 13, ///< element strides; the box of dimension 0
  Box = 14,   ///< of dimensions 1 to 4, or the corners of im2col
  Pixels = 15,
  Count = TensorMap::bytes / 4,
};
/// Flushing of subnormals has types of its own; tf32 is float with a flag.
constexpr uint32_t tf32Flag = 1u << 16;
constexpr unsigned typeF32 = 7, typeTf32 = 11, typeTf32Ftz = 12;

uint32_t field(uint32_t word, unsigned at, unsigned width) {
  return word >> at & ((1u << width) - 1);
}
void setField(uint32_t &word, unsigned at, unsigned width, uint32_t value) {
  uint32_t mask = ((1u << width) - 1) << at;
  word = (word & ~mask) | (value << at & mask);
}
int32_t signedField(uint32_t word, unsigned at, unsigned width) {
  return int32_t(word << (32 - at - width)) >> (32 - width);
}
/// The corners of rank - 2 dimensions share 16 bits.
unsigned cornerBits(unsigned rank) {
  return rank == 3 ? 16 : rank == 4 ? 8 : 5;
}
} // namespace

TensorMap TensorMap::decode(const std::byte *from) {
  uint32_t words[Count];
  std::memcpy(words, from, bytes);
  TensorMap map;
  map.address = words[0] | uint64_t(words[1]) << 32;
  uint32_t facts = words[Facts];
  map.isIm2col = facts & 1;
  map.rankMinusOne = uint8_t(field(facts, 4, 3));
  map.elementType =
      uint8_t(field(facts, 7, 4) + (facts & tf32Flag ? typeTf32 - typeF32 : 0));
  map.interleave = uint8_t(field(facts, 11, 2));
  map.swizzle = uint8_t(field(facts, 13, 2));
  map.fillsNan = facts >> 15 & 1;
  for (unsigned i = 0; i < mostRank; ++i) {
    map.size[i] = uint64_t(words[Sizes + i]) + 1;
    map.elementStride[i] = field(words[Steps], 3 * i, 3) + 1;
  }
  for (unsigned i = 0; i + 1 < mostRank; ++i)
    map.stride[i] = (words[Strides + i] |
                     uint64_t(field(words[StridesHigh], 4 * i, 4)) << 32)
                    << 4;
  map.box[0] = field(words[Steps], 24, 8) + 1;
  if (map.isIm2col) {
    unsigned width = cornerBits(map.rank());
    for (unsigned i = 0; i + 2 < map.rank() && i < 3; ++i) {
      map.lower[i] = signedField(words[Box], width * i, width);
      map.upper[i] = signedField(words[Box], 16 + width * i, width);
    }
    map.pixels = (words[Pixels] & 0xffff) + 1;
  } else {
    for (unsigned i = 1; i < mostRank; ++i)
      map.box[i] = field(words[Box], 8 * (i - 1), 8) + 1;
  }
  return map;
}

void TensorMap::encode(std::byte *to) const {
  uint32_t words[Count];
  std::memcpy(words, to, bytes);
  words[0] = uint32_t(address);
  words[1] = uint32_t(address >> 32);
  uint32_t &facts = words[Facts];
  bool isTf32 = elementType == typeTf32 || elementType == typeTf32Ftz;
  setField(facts, 0, 1, isIm2col);
  setField(facts, 4, 3, rankMinusOne);
  setField(facts, 7, 4, elementType - (isTf32 ? typeTf32 - typeF32 : 0));
  setField(facts, 11, 2, interleave);
  setField(facts, 13, 2, swizzle);
  setField(facts, 22, 1, 0); // a third bit of it
  setField(facts, 15, 1, fillsNan);
  facts = isTf32 ? facts | tf32Flag : facts & ~tf32Flag;
  for (unsigned i = 0; i < mostRank; ++i) {
    words[Sizes + i] = uint32_t(size[i] - 1);
    setField(words[Steps], 3 * i, 3, elementStride[i] - 1);
  }
  for (unsigned i = 0; i + 1 < mostRank; ++i) {
    words[Strides + i] = uint32_t(stride[i] >> 4);
    setField(words[StridesHigh], 4 * i, 4, uint32_t(stride[i] >> 36));
  }
  setField(words[Steps], 24, 8, box[0] - 1);
  // Kernels do not make im2col maps: the corners stay.
  if (!isIm2col)
    for (unsigned i = 1; i < mostRank; ++i)
      setField(words[Box], 8 * (i - 1), 8, box[i] - 1);
  std::memcpy(to, words, bytes);
}
