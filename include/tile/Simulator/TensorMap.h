//===-- TensorMap.h - The simulator's tensor map --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The driver's 128-byte CUtensorMap is opaque; the simulator uses its own
// layout for the same facts. All zeros is a map that tensormap.replace can fill
// field by field, as kernels do.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>

namespace tile::sim {

struct TensorMap {
  uint64_t address = 0;
  uint8_t rankMinusOne = 0;
  uint8_t elementType = 0; ///< as in tensormap.replace.elemtype
  uint8_t interleave = 0;
  uint8_t swizzle = 0; ///< 0 none, 1 32 bytes, 2 64 bytes, 3 128 bytes
  uint8_t fill = 0;    ///< 0 zeros, 1 NaN
  uint8_t swizzleAtomicity = 0;
  uint8_t reserved[2] = {};
  uint32_t box[5] = {};
  uint32_t size[5] = {};
  uint32_t elementStride[5] = {};
  uint32_t pad = 0;
  uint64_t stride[4] = {}; ///< in bytes, of dimensions 1 to 4
  uint8_t tail[16] = {};

  unsigned rank() const { return rankMinusOne + 1u; }
  /// Bytes of an element; 0 for a type that is not supported.
  unsigned elementBytes() const {
    static constexpr uint8_t bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 4, 8, 2, 4, 4};
    return elementType < sizeof bytes ? bytes[elementType] : 0;
  }
};
static_assert(sizeof(TensorMap) == 128);

} // namespace tile::sim
