//===-- Mma.cpp - mma.sync ------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "MatrixSums.h"
#include "ScaleFactors.h"
#include "SparseMetadata.h"

#include <charconv>
#include <optional>

using namespace tile::sim;

const float *tile::sim::fp8Table(Type type) {
  struct Tables {
    float e4m3[256], e5m2[256];
    Tables() {
      for (unsigned i = 0; i < 256; ++i) {
        e4m3[i] = float(decodeSmall(i, formatE4M3));
        e5m2[i] = float(decodeSmall(i, formatE5M2));
      }
    }
  };
  static const Tables tables;
  return type == Type::E4M3 ? tables.e4m3 : tables.e5m2;
}

namespace {
/// What the handler needs beyond the operand list: kept in imm.
struct Shape {
  uint8_t m;
  bool isSparse;
  uint16_t k;
  Type d, a, b, c;
  static constexpr unsigned n = 8;
  int64_t pack() const {
    return int64_t(m) | int64_t(isSparse) << 8 | int64_t(k) << 16 |
           int64_t(d) << 32 | int64_t(a) << 40 | int64_t(b) << 48 |
           int64_t(c) << 56;
  }
  static Shape unpack(int64_t v) {
    return {uint8_t(v),          (v >> 8 & 1) != 0,   uint16_t(v >> 16),
            Type(v >> 32 & 255), Type(v >> 40 & 255), Type(v >> 48 & 255),
            Type(v >> 56 & 255)};
  }
  /// Elements of a row of A that registers hold.
  unsigned stored() const { return isSparse ? k / 2u : k; }
  unsigned aRegs() const {
    return a == Type::F64 ? m * k / 32u : m * stored() * bitsOf(a) / 1024u;
  }
  unsigned bRegs() const {
    return b == Type::F64 ? n * k / 32u : n * k * bitsOf(b) / 1024u;
  }
  unsigned cRegs(Type t) const {
    return t == Type::F16 ? m * n / 64u : m * n / 32u;
  }
};

template <unsigned bits, class T, class Read>
void gatherElements(const Ctx &c, const uint32_t *slots, unsigned regs,
                    unsigned rows, unsigned columns, T *out, Read read) {
  constexpr unsigned e = 32 / bits;
  unsigned halves = rows / 8;
  for (unsigned r = 0; r < regs; ++r) {
    const uint32_t *lanes = c.src<uint32_t>(slots[r]);
    unsigned firstRow = 8 * (r % halves), firstK = 4 * e * (r / halves);
    for (unsigned l = 0; l < Lanes; ++l) {
      T *to = out + (l / 4 + firstRow) * columns + firstK + e * (l % 4);
      for (unsigned i = 0; i < e; ++i)
        to[i] = read(lanes[l] >> (bits * i) &
                     (bits == 32 ? ~0u : (1u << (bits & 31)) - 1));
    }
  }
}

/// Spreads a register list over a row-major matrix of `columns`, for A (rows =
/// M) or B (rows = N).
template <class T, class Read>
void gatherMatrix(const Ctx &c, const uint32_t *slots, unsigned regs, Type type,
                  unsigned rows, unsigned columns, T *out, Read read) {
  switch (type == Type::TF32 ? 32 : bitsOf(type)) {
  case 1:
    return gatherElements<1>(c, slots, regs, rows, columns, out, read);
  case 4:
    return gatherElements<4>(c, slots, regs, rows, columns, out, read);
  case 8:
    return gatherElements<8>(c, slots, regs, rows, columns, out, read);
  case 16:
    return gatherElements<16>(c, slots, regs, rows, columns, out, read);
  default:
    return gatherElements<32>(c, slots, regs, rows, columns, out, read);
  }
}

float readAccumulator(const Ctx &c, const uint32_t *slots, Type type,
                      unsigned l, unsigned i) {
  if (type == Type::F16)
    return floatFromHalf(
        uint16_t(c.src<uint32_t>(slots[i / 2])[l] >> (16 * (i % 2))));
  return c.src<float>(slots[i])[l];
}

/// op[0]: metadata; mod[2]: selector; mod[3]: its places must be in order.
std::optional<SparseColumns> sparseColumns(Ctx &c, const Inst &inst,
                                           const Shape &s) {
  SparseColumns columns(c.src<uint32_t>(inst.op[0]), s.a, s.k, inst.mod[2],
                        inst.mod[3]);
  if (columns.isMeaningful)
    return columns;
  c.fail(inst, 0, "bad-metadata",
         inst.mod[3] ? "the places that a chunk's metadata names must grow"
                     : "the places that a chunk's metadata names must differ");
  return std::nullopt;
}

Step execFloat(Ctx &c, const Inst &inst, uint32_t) {
  Shape s = Shape::unpack(inst.imm);
  const uint32_t *d = &c.code->ext[inst.ext], *a = d + s.cRegs(s.d),
                 *b = a + s.aRegs(), *acc = b + s.bRegs();
  std::optional<SparseColumns> columns;
  if (s.isSparse && !(columns = sparseColumns(c, inst, s)))
    return Step::Error;
  float numbers[16 * 64];
  unsigned stored = s.stored();
  auto fill = [&](Type type, const uint32_t *slots, unsigned regs,
                  unsigned rows, unsigned k, float *numbers) {
    switch (type) {
    case Type::F16:
      return gatherElements<16>(
          c, slots, regs, rows, k, numbers,
          [](uint32_t v) { return floatFromHalf(uint16_t(v)); });
    case Type::BF16:
      return gatherElements<16>(
          c, slots, regs, rows, k, numbers,
          [](uint32_t v) { return floatFromBf16(uint16_t(v)); });
    case Type::E4M3:
    case Type::E5M2:
      return gatherElements<8>(
          c, slots, regs, rows, k, numbers,
          [table = fp8Table(type)](uint32_t v) { return table[v]; });
    default:
      return gatherMatrix(c, slots, regs, type, rows, k, numbers,
                          [&](uint32_t v) { return matrixFloat(type, v); });
    }
  };
  // Of fp8, the first two of each four make the first group.
  bool isFp8 = bitsOf(s.a) == 8;
  auto place = [&](unsigned k) {
    return isFp8 ? k / 4 * 2 + k % 2 + k % 4 / 2 * (stored / 2) : k;
  };
  static thread_local SumOperand A, B;
  A.values.resize(s.m * stored);
  fill(s.a, a, s.aRegs(), s.m, stored, isFp8 ? numbers : A.values.data());
  for (unsigned m = 0; m < s.m && isFp8; ++m)
    for (unsigned k = 0; k < stored; ++k)
      A.values[m * stored + place(k)] = numbers[m * stored + k];
  A.findExponents(leastExponent(s.a, false));
  fill(s.b, b, s.bRegs(), s.n, s.k, numbers);
  // The rows of B that a row of A meets: all, or those of its columns.
  auto selectB = [&](unsigned m) {
    B.values.resize(s.n * stored);
    for (unsigned n = 0; n < s.n; ++n)
      for (unsigned k = 0; k < stored; ++k)
        B.values[place(k) * s.n + n] =
            numbers[n * s.k + (columns ? (*columns)(m, k) : k)];
    B.findExponents(leastExponent(s.b, false));
  };
  float sums[16][8];
  for (unsigned l = 0; l < Lanes; ++l)
    for (unsigned i = 0; i < 2u * (s.m / 8); ++i)
      sums[l / 4 + 8 * (i / 2)][2 * (l % 4) + i % 2] =
          readAccumulator(c, acc, s.c, l, i);
  SumRule rule = SumRule::of(s.a, stored, false);
  for (unsigned m = 0; m < s.m; ++m) {
    if (m == 0 || columns)
      selectB(m);
    addMatrixRow(rule, s.d, A, m * stored, B, stored, s.n, sums[m]);
  }
  for (unsigned l = 0; l < Lanes; ++l)
    for (unsigned i = 0; i < 2u * (s.m / 8); ++i) {
      float r = sums[l / 4 + 8 * (i / 2)][2 * (l % 4) + i % 2];
      if (s.d == Type::F16) {
        uint32_t &word = c.dst<uint32_t>(d[i / 2])[l];
        uint32_t half = halfFromDouble(r);
        word = i % 2 ? (word & 0xffff) | half << 16 : half;
      } else {
        c.dst<float>(d[i])[l] = canonical(r);
      }
    }
  c.worker->counters.addTensor(2ull * s.m * s.n * stored,
                               std::max(bitsOf(s.a), bitsOf(s.b)));
  return Step::Next;
}

/// mod[0]: saturate; mod[1]: 1 xor, 2 and of single bits.
Step execInteger(Ctx &c, const Inst &inst, uint32_t) {
  Shape s = Shape::unpack(inst.imm);
  const uint32_t *d = &c.code->ext[inst.ext], *a = d + s.cRegs(s.d),
                 *b = a + s.aRegs(), *acc = b + s.bRegs();
  std::optional<SparseColumns> columns;
  if (s.isSparse && !(columns = sparseColumns(c, inst, s)))
    return Step::Error;
  int32_t A[16 * 256], B[8 * 256];
  unsigned stored = s.stored();
  gatherMatrix(c, a, s.aRegs(), s.a, s.m, stored, A,
               [&](uint32_t v) { return matrixInteger(s.a, v); });
  gatherMatrix(c, b, s.bRegs(), s.b, 8, s.k, B,
               [&](uint32_t v) { return matrixInteger(s.b, v); });
  uint32_t out[4][Lanes];
  for (unsigned l = 0; l < Lanes; ++l)
    for (unsigned i = 0; i < 2u * (s.m / 8); ++i) {
      unsigned row = l / 4 + 8 * (i / 2);
      const int32_t *x = A + row * stored, *y = B + (2 * (l % 4) + i % 2) * s.k;
      int64_t sum = int32_t(c.src<uint32_t>(acc[i])[l]);
      for (unsigned k = 0; k < stored; ++k) {
        int32_t other = y[columns ? (*columns)(row, k) : k];
        sum += inst.mod[1] == 1 ? x[k] ^ other : x[k] * other;
      }
      out[i][l] = inst.mod[0] ? uint32_t(clampToS32(sum)) : uint32_t(sum);
    }
  for (unsigned i = 0; i < 2u * (s.m / 8); ++i)
    for (unsigned l = 0; l < Lanes; ++l)
      c.dst<uint32_t>(d[i])[l] = out[i][l];
  c.worker->counters.addTensor(2ull * s.m * s.n * stored,
                               std::max(bitsOf(s.a), bitsOf(s.b)));
  return Step::Next;
}

Step execDouble(Ctx &c, const Inst &inst, uint32_t) {
  Shape s = Shape::unpack(inst.imm);
  const uint32_t *d = &c.code->ext[inst.ext], *a = d + s.cRegs(s.d),
                 *b = a + s.aRegs(), *acc = b + s.bRegs();
  double A[16][16], B[8][16], out[4][Lanes];
  unsigned halves = s.m / 8;
  for (unsigned r = 0; r < s.aRegs(); ++r)
    for (unsigned l = 0; l < Lanes; ++l)
      A[l / 4 + 8 * (r % halves)][4 * (r / halves) + l % 4] =
          c.src<double>(a[r])[l];
  for (unsigned r = 0; r < s.bRegs(); ++r)
    for (unsigned l = 0; l < Lanes; ++l)
      B[l / 4][4 * r + l % 4] = c.src<double>(b[r])[l];
  for (unsigned l = 0; l < Lanes; ++l)
    for (unsigned i = 0; i < 2 * halves; ++i) {
      double sum = c.src<double>(acc[i])[l];
      for (unsigned k = 0; k < s.k; ++k)
        sum =
            std::fma(A[l / 4 + 8 * (i / 2)][k], B[2 * (l % 4) + i % 2][k], sum);
      out[i][l] = sum;
    }
  for (unsigned i = 0; i < 2 * halves; ++i)
    for (unsigned l = 0; l < Lanes; ++l)
      c.dst<double>(d[i])[l] = out[i][l];
  c.worker->counters.tensorFlops += 2ull * s.m * s.n * s.k;
  return Step::Next;
}

template <ExecFn Fn> Step whole(Ctx &c, const Inst &inst, uint32_t mask) {
  Step s = needWarp(c, inst, mask);
  return s == Step::Next ? Fn(c, inst, mask) : s;
}

bool isValid(const Shape &s) {
  auto shape = [&](unsigned m, std::initializer_list<unsigned> ks) {
    if (s.m != m)
      return false;
    for (unsigned k : ks)
      if (s.k == k)
        return true;
    return false;
  };
  bool floatAcc = s.c == Type::F32 && s.d == Type::F32,
       halfAcc = s.c == s.d && (s.c == Type::F16 || s.c == Type::F32);
  // Sparse shapes are twice as long.
  if (s.isSparse)
    switch (s.a) {
    case Type::F16:
      return s.b == s.a && halfAcc && shape(16, {16, 32});
    case Type::BF16:
      return s.b == s.a && floatAcc && shape(16, {16, 32});
    case Type::TF32:
      return s.b == s.a && floatAcc && shape(16, {8, 16});
    case Type::E4M3:
    case Type::E5M2:
      return (s.b == Type::E4M3 || s.b == Type::E5M2) && floatAcc &&
             shape(16, {64});
    case Type::S8:
    case Type::U8:
      return (s.b == Type::S8 || s.b == Type::U8) && shape(16, {32, 64});
    case Type::S4:
    case Type::U4:
      return (s.b == Type::S4 || s.b == Type::U4) && shape(16, {64, 128});
    default:
      return false;
    }
  switch (s.a) {
  case Type::F16:
    return s.b == s.a && halfAcc && shape(16, {8, 16});
  case Type::BF16:
    return s.b == s.a && floatAcc && shape(16, {8, 16});
  case Type::TF32:
    return s.b == s.a && floatAcc && shape(16, {4, 8});
  case Type::E4M3:
  case Type::E5M2:
    return (s.b == Type::E4M3 || s.b == Type::E5M2) && halfAcc &&
           shape(16, {16, 32});
  case Type::F64:
    return s.b == s.a && s.c == s.a && s.d == s.a &&
           (shape(8, {4}) || shape(16, {4, 8, 16}));
  case Type::S8:
  case Type::U8:
    return (s.b == Type::S8 || s.b == Type::U8) &&
           (shape(8, {16}) || shape(16, {16, 32}));
  case Type::S4:
  case Type::U4:
    return (s.b == Type::S4 || s.b == Type::U4) &&
           (shape(8, {32}) || shape(16, {32, 64}));
  case Type::B1:
    return s.b == s.a && (shape(8, {128}) || shape(16, {128, 256}));
  default:
    return false;
  }
}

bool decodeMma(FunctionDecoder &d) {
  d.has("sync");
  d.has("aligned");
  for (std::string_view modifier : d.in->modifiers)
    if (modifier.substr(0, 6) == "kind::")
      return decodeMmaKind(d);
  Shape s{};
  int sparse = d.hasOneOf({"sp", "sp::ordered_metadata"});
  s.isSparse = sparse >= 0;
  d.inst.mod[3] = sparse == 1;
  unsigned m, n, k;
  if (!takeMatrixShape(d, m, n, k))
    return false;
  s.m = uint8_t(m);
  s.k = uint16_t(k);
  d.has("row");
  d.has("col");
  d.inst.mod[0] = d.has("satfinite");
  int bits = d.hasOneOf({"xor", "and"});
  d.inst.mod[1] = uint8_t(bits + 1);
  d.has("popc");
  s.d = d.takeType();
  s.a = d.takeType();
  s.b = d.takeType();
  s.c = d.takeType();
  bool integer = isIntegerMatrix(s.a);
  if (integer && (s.c != Type::S32 || s.d != Type::S32))
    return d.error("integer matrices accumulate in .s32");
  if (n != s.n || !isValid(s) || (s.a == Type::B1) != (bits >= 0))
    return d.error("this shape and these types do not go together");
  size_t operands = s.isSparse ? 6 : 4;
  if (!d.expectOperands(operands, operands))
    return false;
  Type registerType = s.a == Type::F64 ? Type::F64 : Type::B32,
       accType = s.c == Type::F64 ? Type::F64 : Type::B32;
  std::vector<uint32_t> results, slots;
  if (!takeMatrixRegisters(d, d.operand(1), s.aRegs(), registerType, false,
                           slots) ||
      !takeMatrixRegisters(d, d.operand(2), s.bRegs(), registerType, false,
                           slots) ||
      !takeMatrixRegisters(d, d.operand(3), s.cRegs(s.c), accType, false,
                           slots) ||
      !takeMatrixRegisters(d, d.operand(0), s.cRegs(s.d), accType, true,
                           results))
    return false;
  if (s.isSparse && !takeMetadata(d, 4, s.a, s.k, d.inst.op[0], d.inst.mod[2]))
    return false;
  results.insert(results.end(), slots.begin(), slots.end());
  d.setExt(results);
  d.inst.imm = s.pack();
  return d.emit(s.a == Type::F64 ? whole<execDouble>
                : integer        ? whole<execInteger>
                                 : whole<execFloat>,
                Class::Tensor);
}
} // namespace

bool tile::sim::takeMatrixShape(FunctionDecoder &d, unsigned &m, unsigned &n,
                                unsigned &k) {
  std::string_view rest;
  if (!d.hasPrefix("m", rest))
    return d.error("needs a shape");
  size_t atN = rest.find('n'), atK = rest.find('k');
  if (atN == std::string_view::npos || atK == std::string_view::npos ||
      atK < atN)
    return d.error("needs a shape");
  m = n = k = 0;
  std::from_chars(rest.data(), rest.data() + atN, m);
  std::from_chars(rest.data() + atN + 1, rest.data() + atK, n);
  std::from_chars(rest.data() + atK + 1, rest.data() + rest.size(), k);
  return (m < 256 && n < 256 && k < 65536) || d.error("needs a shape");
}

bool tile::sim::takeMatrixRegisters(FunctionDecoder &d,
                                    const ast::Operand &operand, unsigned count,
                                    Type type, bool isResult,
                                    std::vector<uint32_t> &slots) {
  auto list = d.elements(operand);
  if (list.size() != count)
    return d.errorAt(operand, "expected " + std::to_string(count) +
                                  " registers, found " +
                                  std::to_string(list.size()));
  for (const ast::Operand *e : list)
    if (isResult ? !d.dst(*e, type, slots.emplace_back())
                 : !d.src(*e, type, slots.emplace_back()))
      return false;
  return true;
}

void tile::sim::registerMma(DecodeTable &t) { t.insert({{"mma", decodeMma}}); }
