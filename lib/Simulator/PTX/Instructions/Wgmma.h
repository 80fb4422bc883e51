//===-- Wgmma.h - Products of warp groups ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#pragma once

#include "MatrixTypes.h"

namespace tile::sim {

/// Kept in Inst::imm.
struct WgmmaShape {
  uint16_t n, k;
  Type d, a, b;
  bool registersA, transposeA, transposeB, negateA, negateB, isSparse;
  uint8_t selector; ///< of metadata
  int64_t pack() const {
    return int64_t(n) | int64_t(k) << 16 | int64_t(d) << 32 | int64_t(a) << 40 |
           int64_t(b) << 48 |
           int64_t(registersA | transposeA << 1 | transposeB << 2 |
                   negateA << 3 | negateB << 4 | isSparse << 5 | selector << 6)
               << 56;
  }
  static WgmmaShape unpack(int64_t v) {
    unsigned flags = unsigned(v >> 56 & 255);
    return {uint16_t(v),         uint16_t(v >> 16),   Type(v >> 32 & 255),
            Type(v >> 40 & 255), Type(v >> 48 & 255), (flags & 1) != 0,
            (flags & 2) != 0,    (flags & 4) != 0,    (flags & 8) != 0,
            (flags & 16) != 0,   (flags & 32) != 0,   uint8_t(flags >> 6)};
  }
  /// Elements of a row of A that are there.
  unsigned stored() const { return isSparse ? k / 2u : k; }
  unsigned dRegs() const { return d == Type::F16 ? n / 4u : n / 2u; }
};

/// ext: D, then A's registers if any, then metadata of a sparse A; op[0]: A's
/// descriptor, op[1]: B's, op[2]: scale-d.
Step execFloatWgmma(Ctx &c, const Inst &inst, uint32_t mask);
Step execIntegerWgmma(Ctx &c, const Inst &inst, uint32_t mask);
Step execWgmmaFence(Ctx &c, const Inst &inst, uint32_t mask);
Step execWgmmaCommit(Ctx &c, const Inst &inst, uint32_t mask);
Step execWgmmaWait(Ctx &c, const Inst &inst, uint32_t mask);

} // namespace tile::sim
