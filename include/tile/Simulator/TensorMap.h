//===-- TensorMap.h - The facts in a tensor map ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The 128 bytes of a tensor map are laid out as the driver's encoder for sm_90
// lays them out (test/gpu/encode_tensor_maps.py asks it). So maps of the
// driver, of tile.sim and those that kernels fill by tensormap.replace are the
// same thing. What the bits are that the simulator does not read is not known;
// they stay what they were.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>
#include <cstdint>

namespace tile::sim {

struct TensorMap {
  static constexpr unsigned bytes = 128;
  static constexpr unsigned mostRank = 5;
  static constexpr uint64_t strideLimit = uint64_t(1) << 40;

  uint64_t address = 0;
  bool isIm2col = false;
  uint8_t rankMinusOne = 0;
  uint8_t elementType = 0; ///< as in tensormap.replace.elemtype
  uint8_t interleave = 0;
  uint8_t swizzle = 0; ///< 0 none, 1 32 bytes, 2 64 bytes, 3 128 bytes
  bool fillsNan = false;
  uint32_t elementStride[mostRank] = {1, 1, 1, 1, 1};
  uint64_t size[mostRank] = {1, 1, 1, 1, 1};
  uint64_t stride[mostRank - 1] = {}; ///< in bytes, of dimensions 1 to 4
  /// Elements of the box; of an im2col map, dimension 0 has the channels of a
  /// pixel.
  uint32_t box[mostRank] = {1, 1, 1, 1, 1};
  // Of im2col maps: corners of the box of pixels, relative to the first pixel
  // and to the last, from dimension 1 on.
  int32_t lower[mostRank - 2] = {}, upper[mostRank - 2] = {};
  uint32_t pixels = 1;

  static TensorMap decode(const std::byte *from);
  /// Changes the known bits alone.
  void encode(std::byte *to) const;

  unsigned rank() const { return rankMinusOne + 1u; }
  /// 4-bit elements. 16 of them, in 8 bytes, become 16 bytes of shared memory.
  static constexpr uint8_t padded4 = 14;
  bool isPadded() const { return elementType == padded4; }
  /// Whether loads round elements of f32 to tf32.
  bool roundsToTf32() const { return elementType == 11 || elementType == 12; }
  /// Bytes of an element; 0 for a type that is not supported. Of 4-bit elements
  /// copies move pairs (`countPairs`).
  unsigned elementBytes() const {
    static constexpr uint8_t sizes[] = {1, 2, 4, 4, 8, 8, 2, 4, 4, 8, 2, 4, 4};
    if (isPadded())
      return 1;
    return elementType < sizeof sizes ? sizes[elementType] : 0;
  }
  /// Has the innermost dimension count bytes instead of 4-bit elements.
  void countPairs() {
    size[0] /= 2;
    box[0] /= 2;
  }
};

} // namespace tile::sim
