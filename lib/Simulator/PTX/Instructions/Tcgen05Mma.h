//===-- Tcgen05Mma.h - Products into tensor memory ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#pragma once

#include "Tcgen05.h"
#include "Tcgen05Operand.h"

namespace tile::sim {

enum class TensorMmaKind : uint8_t {
  F16,
  TF32,
  F8F6F4,
  I8,
  MXF8F6F4,
  MXF4,
  MXF4NVF4
};

/// What the text of the instruction says. Inst::imm has it.
struct TensorMmaForm {
  TensorMmaKind kind;
  uint8_t group;
  bool isTensorA; ///< A in tensor memory
  bool isWeightStationary;
  bool hasMask;       ///< of lanes
  bool shiftsA;       ///< .ashift
  bool mayHaveK96;    ///< the target has dots with K = 96
  uint8_t factors;    ///< scale factors of a row of K = 64; 0 without scales
  uint8_t scaleInput; ///< of D: a power of two
  bool isScaled() const { return factors != 0; }
  bool isPackedFour() const { return kind >= TensorMmaKind::MXF4; }
  int64_t pack() const {
    return int64_t(kind) | int64_t(group) << 8 | int64_t(isTensorA) << 16 |
           int64_t(isWeightStationary) << 17 | int64_t(hasMask) << 18 |
           int64_t(shiftsA) << 19 | int64_t(mayHaveK96) << 20 |
           int64_t(factors) << 24 | int64_t(scaleInput) << 32;
  }
  static TensorMmaForm unpack(int64_t v) {
    return {TensorMmaKind(v & 255), uint8_t(v >> 8),    (v >> 16 & 1) != 0,
            (v >> 17 & 1) != 0,     (v >> 18 & 1) != 0, (v >> 19 & 1) != 0,
            (v >> 20 & 1) != 0,     uint8_t(v >> 24),   uint8_t(v >> 32)};
  }
};

/// op: D, A or its descriptor, B's descriptor, the instruction's descriptor,
/// whether D is added, zero columns. ext: offsets of D and A; slots and offsets
/// of the scales of A and B, if any; the mask's words, if any.
Step execTensorMma(Ctx &c, const Inst &inst, uint32_t mask);

/// The instruction descriptor, and what follows from it.
struct TensorMmaShape {
  unsigned m, n, k;
  Type d, a, b, scale;
  bool transposeA, transposeB, negateA, negateB, saturates;
  unsigned scaleIdA, scaleIdB; ///< the first factor's byte
  unsigned factors;            ///< scale factors of a row
  /// Nothing, with a reason, for what the kind does not have.
  static std::optional<TensorMmaShape> decode(const TensorMmaForm &form,
                                              uint32_t bits,
                                              uint32_t assumptions,
                                              std::string &why);
};

/// The columns of B that count as zeros: the descriptor of tcgen05.mma.ws.
/// Spans of columns that are used and of zeros take turns in each part of N.
class ZeroColumns {
public:
  /// Nothing, with a reason, for what the simulator does not have.
  static std::optional<ZeroColumns> decode(uint64_t bits, std::string &why);
  /// Column `column` of part `part` of a row of D.
  bool isZero(unsigned part, unsigned column) const;
  bool any() const { return isOn; }

private:
  static constexpr unsigned mostParts = 4;
  bool isOn = false;
  unsigned used = 1, skipped = 1;   ///< columns of a span
  unsigned counted[mostParts] = {}; ///< of the first span, before column 0
  bool startsWithSkip[mostParts] = {};
};

} // namespace tile::sim
