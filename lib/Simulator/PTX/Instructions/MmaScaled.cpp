//===-- MmaScaled.cpp - mma.sync of narrow floats and block scales --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Kinds f8f6f4 and mxf8f6f4 have one element in each byte: an e2m1 in bits 5 to
// 2, a type of six bits in bits 5 to 0. Kinds mxf4 and mxf4nvf4 have two e2m1
// in a byte. Of scale factors, some lanes hold words:
// Of A, lane 4 g + 2 t holds those of row g, lane 4 g + 2 t + 1 those of row g
// + 8. Of B, lane 4 g + t holds those of column g; t is the thread selector. A
// byte of the word, named by the byte selector, or the two or four from there
// on, scale the blocks along K.
//
// How the hardware rounds such sums is not published. Here they are exact, up
// to double precision, and rounded once.
//
//===----------------------------------------------------------------------===//
#include "ScaleFactors.h"

#include <array>

using namespace tile::sim;

namespace {
enum class Kind : uint8_t { F8F6F4, MXF8F6F4, MXF4, MXF4NVF4 };

/// Kept in Inst::imm. Accumulators have the type of the results.
struct Shape {
  Kind kind;
  Type d, a, b, scale;
  uint8_t factors; ///< of a row or column; 0 without scales
  static constexpr unsigned rows = 16, columns = 8;
  bool isPacked() const { return kind >= Kind::MXF4; }
  unsigned k() const { return isPacked() ? 64 : 32; }
  unsigned accumulators() const { return d == Type::F16 ? 2 : 4; }
  int64_t pack() const {
    return int64_t(kind) | int64_t(d) << 8 | int64_t(a) << 16 |
           int64_t(b) << 24 | int64_t(scale) << 32 | int64_t(factors) << 40;
  }
  static Shape unpack(int64_t v) {
    return {Kind(v & 255),       Type(v >> 8 & 255),  Type(v >> 16 & 255),
            Type(v >> 24 & 255), Type(v >> 32 & 255), uint8_t(v >> 40 & 255)};
  }
};

/// The number that registers hold at a row (or column) and a place along K.
double element(const Ctx &c, const uint32_t *slots, const Shape &s, Type type,
               unsigned row, unsigned k, bool isA) {
  unsigned each = s.isPacked() ? 8 : 4; // in a register
  unsigned lane = 4 * (row % 8) + k / each % 4,
           place = k / (4 * each) * (isA ? 2 : 1) + row / 8;
  uint32_t word = c.src<uint32_t>(slots[place])[lane];
  unsigned bits = 32 / each;
  uint32_t value = word >> (k % each * bits);
  return s.isPacked() ? decodeSmall(value & 15, formatE2M1)
                      : valueInByte(type, uint8_t(value));
}

constexpr unsigned mostFactors = 4;
using Factors = std::array<double, mostFactors>;

/// op: scales of A, byte, thread; of B, byte, thread.
struct Selection {
  uint32_t slot;
  unsigned byte, thread;
  Selection(const Ctx &c, const Inst &inst, unsigned first)
      : slot(inst.op[first]), byte(c.src<uint32_t>(inst.op[first + 1])[0]),
        thread(c.src<uint32_t>(inst.op[first + 2])[0]) {}
  bool isValid(const Shape &s, bool isA) const {
    return byte % s.factors == 0 && byte + s.factors <= 4 &&
           thread < (isA ? 2 : 4);
  }
  Factors read(const Ctx &c, const Shape &s, unsigned row, bool isA) const {
    unsigned lane = 4 * (row % 8) + (isA ? 2 * thread + row / 8 : thread);
    uint32_t word = c.src<uint32_t>(slot)[lane] >> (8 * byte);
    Factors out;
    for (unsigned i = 0; i < s.factors; ++i)
      out[i] = scaleFactor(s.scale, uint8_t(word >> (8 * i)));
    return out;
  }
};

Step execScaled(Ctx &c, const Inst &inst, uint32_t mask) {
  if (Step step = needWarp(c, inst, mask); step != Step::Next)
    return step;
  Shape s = Shape::unpack(inst.imm);
  const uint32_t *d = &c.code->ext[inst.ext], *a = d + s.accumulators(),
                 *b = a + 4, *acc = b + 2;
  std::array<Factors, Shape::rows> scalesA;
  std::array<Factors, Shape::columns> scalesB;
  scalesA.fill({1});
  scalesB.fill({1});
  if (s.factors) {
    Selection ofA(c, inst, 0), ofB(c, inst, 3);
    if (!ofA.isValid(s, true) || !ofB.isValid(s, false))
      return c.fail(inst, 0, "bad-selector",
                    "the byte and thread selectors of the scale factors name "
                    "what is not there");
    for (unsigned m = 0; m < Shape::rows; ++m)
      scalesA[m] = ofA.read(c, s, m, true);
    for (unsigned n = 0; n < Shape::columns; ++n)
      scalesB[n] = ofB.read(c, s, n, false);
  }
  unsigned k = s.k(), block = s.factors ? k / s.factors : k;
  double A[Shape::rows][64], B[Shape::columns][64];
  for (unsigned i = 0; i < k; ++i) {
    for (unsigned m = 0; m < Shape::rows; ++m)
      A[m][i] = element(c, a, s, s.a, m, i, true);
    for (unsigned n = 0; n < Shape::columns; ++n)
      B[n][i] = element(c, b, s, s.b, n, i, false);
  }
  bool isHalf = s.d == Type::F16;
  uint32_t out[4][Lanes] = {};
  for (unsigned l = 0; l < Lanes; ++l)
    for (unsigned i = 0; i < 4; ++i) {
      unsigned m = l / 4 + 8 * (i / 2), n = 2 * (l % 4) + i % 2;
      uint32_t word = c.src<uint32_t>(acc[isHalf ? i / 2 : i])[l];
      double sum = isHalf ? floatFromHalf(uint16_t(word >> (16 * (i % 2))))
                          : floatOfBits(word);
      for (unsigned at = 0; at < k; at += block) {
        double part = 0;
        for (unsigned j = at; j < at + block; ++j)
          part += A[m][j] * B[n][j];
        sum += part * scalesA[m][at / block] * scalesB[n][at / block];
      }
      if (isHalf)
        out[i / 2][l] |= uint32_t(halfFromDouble(sum)) << (16 * (i % 2));
      else
        out[i][l] = bitsOfFloat(canonical(float(sum)));
    }
  for (unsigned i = 0; i < s.accumulators(); ++i)
    for (unsigned l = 0; l < Lanes; ++l)
      c.dst<uint32_t>(d[i])[l] = out[i][l];
  c.worker->counters.addTensor(2ull * Shape::rows * Shape::columns * k,
                               k == 64 ? 4 : 8);
  return Step::Next;
}

bool isNarrow(Type type) {
  return type == Type::E4M3 || type == Type::E5M2 || type == Type::E3M2 ||
         type == Type::E2M3 || type == Type::E2M1;
}

/// A word of scale factors, {byte, thread}.
bool takeScale(FunctionDecoder &d, size_t operand, const Shape &s,
               unsigned threads, unsigned to) {
  auto word = d.elements(d.operand(operand));
  auto selectors = d.elements(d.operand(operand + 1));
  if (word.size() != 1 || selectors.size() != 2)
    return d.errorAt(d.operand(operand),
                     "expected a register of scale factors and {byte, thread}");
  if (!d.src(*word[0], Type::B32, d.inst.op[to]))
    return false;
  for (unsigned i = 0; i < 2; ++i) {
    if (selectors[i]->kind == ast::Operand::Kind::Int) {
      int64_t value = selectors[i]->imm, most = i ? threads : 4 - s.factors + 1;
      if (value < 0 || value >= most || (i == 0 && value % s.factors != 0))
        return d.errorAt(*selectors[i], "this selector is out of range");
    }
    if (!d.src(*selectors[i], Type::B16, d.inst.op[to + 1 + i]))
      return false;
  }
  return true;
}

bool takeVector(FunctionDecoder &d, Shape &s) {
  int vector = d.hasOneOf({"scale_vec::1X", "scale_vec::2X", "scale_vec::4X"});
  if (!d.has("block_scale") && (s.kind != Kind::F8F6F4 || vector >= 0))
    return d.error("needs .block_scale");
  if (s.kind == Kind::F8F6F4)
    return true;
  if (vector < 0 && s.kind == Kind::MXF4NVF4)
    return d.error("needs .scale_vec::2X or .scale_vec::4X");
  if (vector < 0)
    vector = s.kind == Kind::MXF8F6F4 ? 0 : 1;
  s.factors = uint8_t(1 << vector);
  s.scale = d.takeType();
  bool isGood = s.kind == Kind::MXF8F6F4 ? s.factors == 1
                : s.kind == Kind::MXF4   ? s.factors == 2
                                         : s.factors >= 2;
  if (s.scale == Type::UE4M3)
    isGood &= s.kind == Kind::MXF4NVF4 && s.factors == 4;
  else
    isGood &= s.scale == Type::UE8M0;
  return isGood ||
         d.error("this kind, scale type and scale vector do not go together");
}
} // namespace

bool tile::sim::decodeMmaKind(FunctionDecoder &d) {
  int kind = d.hasOneOf(
      {"kind::f8f6f4", "kind::mxf8f6f4", "kind::mxf4", "kind::mxf4nvf4"});
  if (kind < 0)
    return d.error("unknown kind");
  if (d.has("sp::ordered_metadata") || d.has("sp"))
    return d.error("sparse matrices of this kind are not supported by the "
                   "simulator");
  Shape s{};
  s.kind = Kind(kind);
  unsigned m, n, k;
  if (!takeMatrixShape(d, m, n, k))
    return false;
  d.has("row");
  d.has("col");
  s.d = d.takeType();
  s.a = d.takeType();
  s.b = d.takeType();
  Type accumulator = d.takeType();
  if (!takeVector(d, s))
    return false;
  bool isGood = m == 16 && n == 8 && k == s.k() && accumulator == s.d &&
                (s.d == Type::F32 || (s.d == Type::F16 && !s.factors)) &&
                isNarrow(s.a) && isNarrow(s.b) &&
                (!s.isPacked() || (s.a == Type::E2M1 && s.b == Type::E2M1));
  if (!isGood)
    return d.error("this shape and these types do not go together");
  size_t operands = s.factors ? 8 : 4;
  if (!d.expectOperands(operands, operands))
    return false;
  std::vector<uint32_t> slots;
  unsigned count = s.accumulators();
  if (!takeMatrixRegisters(d, d.operand(0), count, Type::B32, true, slots) ||
      !takeMatrixRegisters(d, d.operand(1), 4, Type::B32, false, slots) ||
      !takeMatrixRegisters(d, d.operand(2), 2, Type::B32, false, slots) ||
      !takeMatrixRegisters(d, d.operand(3), count, Type::B32, false, slots))
    return false;
  if (s.factors && (!takeScale(d, 4, s, 2, 0) || !takeScale(d, 6, s, 4, 3)))
    return false;
  d.setExt(slots);
  d.inst.imm = s.pack();
  return d.emit(execScaled, Class::Tensor);
}
