//===-- MatrixElements.h - What registers of matrices hold ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#pragma once

#include "FloatArith.h"

namespace tile::sim::amdgcn {

enum class Element : uint8_t {
  F16,
  BF16,
  F32,
  XF32,
  F64,
  S8,
  U8,
  S4,
  U4,
  Fp8,    ///< E4M3 with bias 8, whose -0 is no number (gfx942)
  Bf8,    ///< E5M2 likewise
  OcpFp8, ///< as OCP has it (gfx950)
  OcpBf8,
  Fp6, ///< E2M3
  Bf6, ///< E3M2
  Fp4, ///< E2M1
};

inline unsigned bitsOfElement(Element e) {
  switch (e) {
  case Element::F64:
    return 64;
  case Element::F32:
  case Element::XF32:
    return 32;
  case Element::F16:
  case Element::BF16:
    return 16;
  case Element::Fp6:
  case Element::Bf6:
    return 6;
  case Element::S4:
  case Element::U4:
  case Element::Fp4:
    return 4;
  default:
    return 8;
  }
}

inline double valueOf(Element e, uint64_t bits) {
  switch (e) {
  case Element::F16:
    return floatFromHalf(uint16_t(bits));
  case Element::BF16:
    return floatFromBf16(uint16_t(bits));
  case Element::F32:
    return floatOfBits(uint32_t(bits));
  case Element::XF32:
    // 10 bits of mantissa take part.
    return floatOfBits(uint32_t(bits) & ~0x1fffu);
  case Element::F64:
    return doubleOfBits(bits);
  case Element::S8:
    return int8_t(bits);
  case Element::U8:
    return uint8_t(bits);
  case Element::S4:
    return int32_t(uint32_t(bits) << 28) >> 28;
  case Element::U4:
    return double(bits & 15);
  case Element::Fp8:
    return decodeFnuz(uint8_t(bits), 3);
  case Element::Bf8:
    return decodeFnuz(uint8_t(bits), 2);
  case Element::OcpFp8:
    return decodeSmall(uint32_t(bits) & 255, formatE4M3);
  case Element::OcpBf8:
    return decodeSmall(uint32_t(bits) & 255, formatE5M2);
  case Element::Fp6:
    return decodeSmall(uint32_t(bits) & 63, formatE2M3);
  case Element::Bf6:
    return decodeSmall(uint32_t(bits) & 63, formatE3M2);
  case Element::Fp4:
    return decodeSmall(uint32_t(bits) & 15, formatE2M1);
  }
  return 0;
}

/// The format of 8-bit floats is the target's.
inline Element withFormats(Element e, bool isOcp) {
  if (!isOcp)
    return e;
  return e == Element::Fp8   ? Element::OcpFp8
         : e == Element::Bf8 ? Element::OcpBf8
                             : e;
}

/// Element `item` of a lane's registers.
inline uint64_t elementAt(const Ctx &c, uint32_t slot, unsigned lane,
                          unsigned item, unsigned bits) {
  unsigned lanes = programOf(c).waveLanes, at = item * bits;
  const auto *words = c.src<uint32_t>(slot);
  if (bits == 64)
    return words[item * 2 * lanes + lane] |
           uint64_t(words[(item * 2 + 1) * lanes + lane]) << 32;
  uint32_t word = words[at / 32 * lanes + lane] >> at % 32;
  // Those of 6 bits may lie in two registers.
  if (at % 32 + bits > 32)
    word |= words[(at / 32 + 1) * lanes + lane] << (32 - at % 32);
  return bits == 32 ? word : word & ((1u << bits) - 1);
}

/// Where an element of a result is.
struct ResultPlace {
  unsigned lane, item;
};
/// The lane and the register of element (i, j) of a result. A row has `width`
/// elements. A lane has `height` neighbours of a column in `height` registers
/// that follow each other.
inline ResultPlace placeOfResult(unsigned width, unsigned height, unsigned i,
                                 unsigned j) {
  unsigned group = i / height, columns = 64 / width;
  return {j + width * (group % columns),
          i % height + height * (group / columns)};
}

} // namespace tile::sim::amdgcn
