//===-- Tcgen05MmaShape.cpp - Instruction descriptors of tcgen05.mma ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Tcgen05Mma.h"
#include "tile/Simulator/Assumptions.h"

using namespace tile::sim;
using Kind = TensorMmaKind;

namespace {
/// The types of A or B by their code; None for others.
Type elementType(const TensorMmaForm &form, unsigned code) {
  static constexpr Type narrow[] = {Type::E4M3, Type::E5M2, Type::None,
                                    Type::E2M3, Type::E3M2, Type::E2M1,
                                    Type::None, Type::None};
  switch (form.kind) {
  case Kind::F16:
    return code == 0 ? Type::F16 : code == 1 ? Type::BF16 : Type::None;
  case Kind::TF32:
    return code == 2 ? Type::TF32 : Type::None;
  case Kind::I8:
    return code == 0 ? Type::U8 : code == 1 ? Type::S8 : Type::None;
  case Kind::F8F6F4:
  case Kind::MXF8F6F4:
    return narrow[code];
  default:
    return (code & 3) == 1 ? Type::E2M1 : Type::None;
  }
}

bool isValidShape(const TensorMmaForm &form, const TensorMmaShape &s) {
  auto isMultiple = [&](unsigned step) {
    return s.n >= step && s.n <= 256 && s.n % step == 0;
  };
  if (form.isWeightStationary)
    return (s.m == 32 || s.m == 64 || s.m == 128) &&
           (s.n == 64 || s.n == 128 || s.n == 256);
  if (form.group == 2) {
    // N-major bytes of B come in larger pieces.
    bool isWide = form.kind == Kind::I8 ||
                  (s.transposeB && bitsOf(s.b) == 8 && s.b != Type::TF32);
    return (s.m == 128 || s.m == 256) && isMultiple(isWide ? 32 : 16);
  }
  if (form.isScaled())
    return s.m == 128 && isMultiple(s.transposeB ? 16 : 8);
  if (s.m != 64 && s.m != 128)
    return false;
  if (form.kind == Kind::I8)
    return s.n <= 32 ? s.n == 8 || s.n == 16 || s.n == 24 || s.n == 32
                     : isMultiple(16);
  return isMultiple(s.transposeB && bitsOf(s.b) == 8 ? 16 : 8);
}

/// Three factors may begin at any byte, six at either half: the rest follows
/// in the next word.
bool isValidScaleId(unsigned id, unsigned factors) {
  if (factors == 3)
    return true;
  if (factors == 6)
    return id % 2 == 0;
  return id % factors == 0 && id + factors <= 4;
}

bool isValidSum(const TensorMmaForm &form, const TensorMmaShape &s) {
  switch (form.kind) {
  case Kind::F16:
    return s.d == Type::F32 ||
           (s.d == Type::F16 && s.a == Type::F16 && s.b == Type::F16);
  case Kind::F8F6F4:
    return s.d == Type::F32 || s.d == Type::F16;
  case Kind::I8:
    return s.d == Type::S32;
  default:
    return s.d == Type::F32;
  }
}
} // namespace

std::optional<TensorMmaShape> TensorMmaShape::decode(const TensorMmaForm &form,
                                                     uint32_t bits,
                                                     uint32_t assumptions,
                                                     std::string &why) {
  auto bad = [&](std::string text) -> std::optional<TensorMmaShape> {
    why = std::move(text);
    return std::nullopt;
  };
  auto field = [&](unsigned low, unsigned count) {
    return bits >> low & ((1u << count) - 1);
  };
  TensorMmaShape s{};
  if (field(2, 1) || field(0, 2))
    return bad("asks for a sparse product, which the simulator does not "
               "support");
  bool isScaled = form.isScaled();
  s.n = field(17, 6) * 8;
  s.m = field(24, 5) * 16;
  s.negateA = field(13, 1);
  s.negateB = field(14, 1);
  s.transposeA = field(15, 1);
  s.transposeB = field(16, 1);
  s.a = elementType(form, field(7, 3));
  s.b = elementType(form, form.isPackedFour() ? field(10, 2) : field(10, 3));
  if (s.a == Type::None || s.b == Type::None)
    return bad("names a type of elements that the kind does not have");
  s.scale = Type::None;
  s.d = Type::F32;
  bool isK96 = isScaled && field(31, 1);
  if (isK96 && (!form.isPackedFour() || !form.mayHaveK96))
    return bad("asks for K = 96, which only .kind::mxf4 and .kind::mxf4nvf4 "
               "of sm_103a have");
  if (isScaled) {
    s.scale = field(23, 1) ? Type::UE8M0 : Type::UE4M3;
    s.scaleIdA = field(29, 2);
    s.scaleIdB = field(4, 2);
    bool isUnsignedE4 = s.scale == Type::UE4M3;
    if (isUnsignedE4 && (form.kind != Kind::MXF4NVF4 || form.factors != 4))
      return bad("names scale factors that the kind does not have");
    s.factors = isK96 ? form.factors * 3u / 2 : form.factors;
    for (unsigned id : {s.scaleIdA, s.scaleIdB})
      if (!isValidScaleId(id, s.factors))
        return bad("names scale factors from byte " + std::to_string(id) +
                   " on, of which the instruction takes " +
                   std::to_string(s.factors));
  } else {
    static constexpr Type sums[] = {Type::F16, Type::F32, Type::S32,
                                    Type::None};
    s.d = sums[field(4, 2)];
    s.saturates = field(3, 1);
    if (form.isWeightStationary && field(30, 2))
      return bad("asks for a shift of B's columns, which the simulator does "
                 "not support");
    if (field(6, 1) || field(23, 1) || field(29, 3) ||
        (s.saturates && form.kind != Kind::I8))
      return bad("has bits that must be zero");
  }
  if (form.kind == Kind::I8 && (s.negateA || s.negateB))
    return bad("negates integers");
  if (!isValidSum(form, s))
    return bad("names a type of D that goes not with the others");
  s.k = isK96                     ? 96
        : form.isPackedFour()     ? 64
        : form.kind == Kind::F16  ? 16
        : form.kind == Kind::TF32 ? 8
                                  : 32;
  auto isNarrow = [](Type t) {
    return t == Type::E2M1 || t == Type::E2M3 || t == Type::E3M2;
  };
  if ((s.transposeA && (isNarrow(s.a) || form.isTensorA)) ||
      (s.transposeB && isNarrow(s.b)))
    return bad("names an operand that cannot lie along M or N");
  // Manuals have K = 96 for pairs of 256 rows; CUTLASS also for one CTA.
  bool isAlone = form.group == 1 && !(assumptions & AssumeK96PairsOnly);
  bool isWrongK = isK96 && !isAlone && s.m != 256;
  if (!isValidShape(form, s) || isWrongK)
    return bad("has M = " + std::to_string(s.m) + ", N = " +
               std::to_string(s.n) + ", which the kind does not have");
  if (form.shiftsA && s.m != 128 && s.m != 256)
    return bad("has M = " + std::to_string(s.m) +
               ", but .ashift needs 128 or 256");
  return s;
}

std::optional<ZeroColumns> ZeroColumns::decode(uint64_t bits,
                                               std::string &why) {
  ZeroColumns z;
  if (bits >> 56 & 63) {
    why = "shifts columns of B, which the simulator does not support";
    return std::nullopt;
  }
  z.isOn = bits >> 39 & 1;
  z.skipped = unsigned(bits >> 40 & 255) + 1;
  z.used = unsigned(bits >> 48 & 255) + 1;
  for (unsigned part = 0; part < mostParts; ++part) {
    z.counted[part] = unsigned(bits >> (8 * part) & 255);
    z.startsWithSkip[part] = bits >> (32 + part) & 1;
    if (z.isOn &&
        z.counted[part] >= (z.startsWithSkip[part] ? z.skipped : z.used)) {
      why = "begins behind the end of its first span";
      return std::nullopt;
    }
  }
  return z;
}

bool ZeroColumns::isZero(unsigned part, unsigned column) const {
  if (!isOn)
    return false;
  unsigned at = (column + counted[part]) % (used + skipped);
  return startsWithSkip[part] ? at < skipped : at >= used;
}
