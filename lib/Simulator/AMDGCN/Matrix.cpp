//===-- Matrix.cpp - MFMA and WMMA ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// MFMA multiplies `blocks` pairs of M x K and K x N matrices. A lane holds
// e = M * K * blocks / 64 consecutive elements along K. Row i of A, block b,
// element k is here:
//
//   lane i + M (b + k / e * blocks), item k % e
//
// So are columns of B. CBSZ has groups of 2^CBSZ blocks all read the same
// matrix of A: that of their block ABID. Of the results, four rows lie in a
// lane, then come the other lanes of the column, then the next registers; of
// f64 one row. Row i, column j, with q = 64 / N:
//
//   lane j + i / h % q * N, item i % h + i / h / q * h
//
// WMMA has 16 rows and columns. On gfx11 a lane holds a whole row of A, or
// column of B. Those of the other half (or quarters) of the wave hold the same.
// The rows of a result are dealt out to the halves in turn. On gfx12 the halves
// of the wave hold those of K, and eight rows of the result each. Sums are
// formed in double precision and rounded once.
//
//===----------------------------------------------------------------------===//
#include "MatrixElements.h"

using namespace tile::sim;
using namespace tile::sim::amdgcn;

namespace {
//===-- MFMA --------------------------------------------------------------===//

struct Mfma {
  unsigned m, n, k, blocks;
  Element a, b;
  unsigned resultBits() const { return a == Element::F64 ? 64 : 32; }
  bool isInteger() const { return a == Element::S8; }
};
struct MfmaName {
  const char *name;
  Mfma shape;
};

constexpr Element F16 = Element::F16, BF16 = Element::BF16, F32 = Element::F32,
                  XF32 = Element::XF32, F64 = Element::F64, S8 = Element::S8,
                  FP8 = Element::Fp8, BF8 = Element::Bf8;
/// As gfx90a and as gfx940 write them.
const MfmaName mfmaNames[] = {
    {"f32_32x32x1_2b_f32", {32, 32, 1, 2, F32, F32}},
    {"f32_32x32x1f32", {32, 32, 1, 2, F32, F32}},
    {"f32_16x16x1_4b_f32", {16, 16, 1, 4, F32, F32}},
    {"f32_16x16x1f32", {16, 16, 1, 4, F32, F32}},
    {"f32_4x4x1_16b_f32", {4, 4, 1, 16, F32, F32}},
    {"f32_4x4x1f32", {4, 4, 1, 16, F32, F32}},
    {"f32_32x32x2_f32", {32, 32, 2, 1, F32, F32}},
    {"f32_32x32x2f32", {32, 32, 2, 1, F32, F32}},
    {"f32_16x16x4_f32", {16, 16, 4, 1, F32, F32}},
    {"f32_16x16x4f32", {16, 16, 4, 1, F32, F32}},
    {"f32_16x16x8_xf32", {16, 16, 8, 1, XF32, XF32}},
    {"f32_32x32x4_xf32", {32, 32, 4, 1, XF32, XF32}},
    {"f32_32x32x4_2b_f16", {32, 32, 4, 2, F16, F16}},
    {"f32_32x32x4f16", {32, 32, 4, 2, F16, F16}},
    {"f32_16x16x4_4b_f16", {16, 16, 4, 4, F16, F16}},
    {"f32_16x16x4f16", {16, 16, 4, 4, F16, F16}},
    {"f32_4x4x4_16b_f16", {4, 4, 4, 16, F16, F16}},
    {"f32_4x4x4f16", {4, 4, 4, 16, F16, F16}},
    {"f32_32x32x8_f16", {32, 32, 8, 1, F16, F16}},
    {"f32_32x32x8f16", {32, 32, 8, 1, F16, F16}},
    {"f32_16x16x16_f16", {16, 16, 16, 1, F16, F16}},
    {"f32_16x16x16f16", {16, 16, 16, 1, F16, F16}},
    {"f32_32x32x4_2b_bf16", {32, 32, 4, 2, BF16, BF16}},
    {"f32_32x32x4bf16_1k", {32, 32, 4, 2, BF16, BF16}},
    {"f32_16x16x4_4b_bf16", {16, 16, 4, 4, BF16, BF16}},
    {"f32_16x16x4bf16_1k", {16, 16, 4, 4, BF16, BF16}},
    {"f32_4x4x4_16b_bf16", {4, 4, 4, 16, BF16, BF16}},
    {"f32_4x4x4bf16_1k", {4, 4, 4, 16, BF16, BF16}},
    {"f32_32x32x8_bf16", {32, 32, 8, 1, BF16, BF16}},
    {"f32_32x32x8bf16_1k", {32, 32, 8, 1, BF16, BF16}},
    {"f32_16x16x16_bf16", {16, 16, 16, 1, BF16, BF16}},
    {"f32_16x16x16bf16_1k", {16, 16, 16, 1, BF16, BF16}},
    {"f32_32x32x16_f16", {32, 32, 16, 1, F16, F16}},
    {"f32_16x16x32_f16", {16, 16, 32, 1, F16, F16}},
    {"f32_32x32x16_bf16", {32, 32, 16, 1, BF16, BF16}},
    {"f32_16x16x32_bf16", {16, 16, 32, 1, BF16, BF16}},
    {"i32_32x32x4_2b_i8", {32, 32, 4, 2, S8, S8}},
    {"i32_32x32x4i8", {32, 32, 4, 2, S8, S8}},
    {"i32_16x16x4_4b_i8", {16, 16, 4, 4, S8, S8}},
    {"i32_16x16x4i8", {16, 16, 4, 4, S8, S8}},
    {"i32_4x4x4_16b_i8", {4, 4, 4, 16, S8, S8}},
    {"i32_4x4x4i8", {4, 4, 4, 16, S8, S8}},
    {"i32_32x32x8i8", {32, 32, 8, 1, S8, S8}},
    {"i32_16x16x16i8", {16, 16, 16, 1, S8, S8}},
    {"i32_32x32x16_i8", {32, 32, 16, 1, S8, S8}},
    {"i32_16x16x32_i8", {16, 16, 32, 1, S8, S8}},
    {"i32_32x32x32_i8", {32, 32, 32, 1, S8, S8}},
    {"i32_16x16x64_i8", {16, 16, 64, 1, S8, S8}},
    {"f32_16x16x32_fp8_fp8", {16, 16, 32, 1, FP8, FP8}},
    {"f32_16x16x32_fp8_bf8", {16, 16, 32, 1, FP8, BF8}},
    {"f32_16x16x32_bf8_fp8", {16, 16, 32, 1, BF8, FP8}},
    {"f32_16x16x32_bf8_bf8", {16, 16, 32, 1, BF8, BF8}},
    {"f32_32x32x16_fp8_fp8", {32, 32, 16, 1, FP8, FP8}},
    {"f32_32x32x16_fp8_bf8", {32, 32, 16, 1, FP8, BF8}},
    {"f32_32x32x16_bf8_fp8", {32, 32, 16, 1, BF8, FP8}},
    {"f32_32x32x16_bf8_bf8", {32, 32, 16, 1, BF8, BF8}},
    {"f64_16x16x4_f64", {16, 16, 4, 1, F64, F64}},
    {"f64_16x16x4f64", {16, 16, 4, 1, F64, F64}},
    {"f64_4x4x4_4b_f64", {4, 4, 4, 4, F64, F64}},
    {"f64_4x4x4f64", {4, 4, 4, 4, F64, F64}},
};

ResultPlace resultPlace(const Mfma &f, unsigned block, unsigned i, unsigned j) {
  unsigned height = f.a == Element::F64 ? 1 : 4, columns = 64 / f.n;
  // Small blocks lie side by side, first in the lanes.
  if (f.m < height * columns)
    return {j + f.n * (block + f.blocks * (i / height)), i % height};
  ResultPlace place = placeOfResult(f.n, height, i, j);
  place.item += block * (f.m / columns);
  return place;
}

/// The lane whose B a lane takes, by blgp: of the first or second 32 lanes, or
/// of one of the four 16.
unsigned laneOfB(unsigned pattern, unsigned lane) {
  if (!pattern)
    return lane;
  return pattern < 4 ? 32 * (pattern - 1) + lane % 32
                     : 16 * (pattern - 4) + lane % 16;
}

/// mod[0], mod[1]: cbsz and abid, mod[2]: blgp.
Step execMfma(Ctx &c, const Inst &inst, uint32_t) {
  const Mfma &f = mfmaNames[inst.imm].shape;
  bool isOcp = programOf(c).target->name == "gfx950";
  Element ea = withFormats(f.a, isOcp), eb = withFormats(f.b, isOcp);
  unsigned bits = bitsOfElement(ea), each = f.m * f.k * f.blocks / 64,
           wide = f.resultBits() / 32;
  std::vector<double> a(f.m * f.k), b(f.k * f.n);
  bool constant = inst.op[3] & ScalarBit;
  unsigned sharing = 1u << inst.mod[0];
  std::vector<uint32_t> out(f.m * f.n * f.blocks / 64 * wide * 64);
  for (unsigned block = 0; block < f.blocks; ++block) {
    for (unsigned k = 0; k < f.k; ++k) {
      unsigned lane = block + f.blocks * (k / each), item = k % each;
      unsigned laneOfA = lane - block % sharing + inst.mod[1];
      for (unsigned i = 0; i < f.m; ++i)
        a[i * f.k + k] = valueOf(
            ea, elementAt(c, inst.op[1], i + f.m * laneOfA, item, bits));
      for (unsigned j = 0; j < f.n; ++j)
        b[j * f.k + k] = valueOf(
            eb, elementAt(c, inst.op[2], laneOfB(inst.mod[2], j + f.n * lane),
                          item, bits));
    }
    for (unsigned i = 0; i < f.m; ++i)
      for (unsigned j = 0; j < f.n; ++j) {
        ResultPlace p = resultPlace(f, block, i, j);
        uint64_t start =
            constant ? scalarOf<uint64_t>(c, inst.op[3])
                     : elementAt(c, inst.op[3], p.lane, p.item, f.resultBits());
        const double *row = &a[i * f.k], *column = &b[j * f.k];
        if (f.isInteger()) {
          int64_t sum = int32_t(start);
          for (unsigned k = 0; k < f.k; ++k)
            sum += int64_t(row[k]) * int64_t(column[k]);
          out[p.item * 64 + p.lane] = uint32_t(sum);
        } else if (wide == 2) {
          double sum = doubleOfBits(start);
          for (unsigned k = 0; k < f.k; ++k)
            sum = std::fma(row[k], column[k], sum);
          uint64_t r = bitsOfDouble(sum);
          out[p.item * 2 * 64 + p.lane] = uint32_t(r);
          out[(p.item * 2 + 1) * 64 + p.lane] = uint32_t(r >> 32);
        } else {
          double sum = floatOfBits(uint32_t(start));
          for (unsigned k = 0; k < f.k; ++k)
            sum += row[k] * column[k];
          out[p.item * 64 + p.lane] = bitsOfFloat(float(sum));
        }
      }
  }
  // All lanes, whatever EXEC says.
  std::copy(out.begin(), out.end(), c.dst<uint32_t>(inst.op[0]));
  c.worker->counters.tensorFlops += 2ull * f.m * f.n * f.k * f.blocks;
  return Step::Next;
}

bool decodeMfma(InstDecoder &d) {
  std::string_view name = d.in->opcode;
  name.remove_prefix(std::string_view("v_mfma_").size());
  size_t index = 0;
  while (name != mfmaNames[index].name)
    ++index;
  const Mfma &f = mfmaNames[index].shape;
  if (d.program.waveLanes != 64)
    return d.error("needs waves of 64 lanes");
  int64_t cbsz = 0, abid = 0, blgp = 0;
  d.value("cbsz", cbsz);
  d.value("abid", abid);
  d.value("blgp", blgp);
  // 3 moves all lanes by 16, which way is not known; of f64, it has signs.
  if (blgp && (blgp < 0 || blgp > 7 || blgp == 3 || f.a == Element::F64))
    return d.error("this blgp is not supported");
  if (cbsz < 0 || cbsz > 4 || (1u << cbsz) > f.blocks)
    return d.error("cbsz has more blocks share a matrix than there are");
  if (abid < 0 || abid >= (1 << cbsz))
    return d.error("abid is not a block of those that share a matrix");
  d.inst.mod[0] = uint8_t(cbsz);
  d.inst.mod[1] = uint8_t(abid);
  d.inst.mod[2] = uint8_t(blgp);
  d.inst.imm = int64_t(index);
  unsigned bits = bitsOfElement(f.a);
  unsigned words = std::max(1u, f.m * f.k * f.blocks / 64 * bits / 32),
           results = f.m * f.n * f.blocks / 64 * (f.resultBits() / 32);
  Imm imm = f.isInteger() ? Imm::B32 : f.a == F64 ? Imm::F64 : Imm::F32;
  return d.expect(4, 4) && d.vectorSource(1, words, 1, Needed) &&
         d.vectorSource(2, words, 2, Needed) &&
         d.source(3, results, imm, 3, Needed) &&
         d.vectorResult(0, results, 0) && d.emit(execMfma, Class::Tensor);
}

//===-- WMMA --------------------------------------------------------------===//

struct Wmma {
  const char *name;
  Element a, b;
  unsigned resultBits; ///< 32, or 16 of the elements' type
  unsigned k = 16;
  unsigned generation = 11; ///< the first that has it
  bool gfx1250 = false;     ///< it alone has it
  Element result = F16;     ///< of 16 bits, if not the elements' type
  Element resultType() const { return a == F16 || a == BF16 ? a : result; }
};
constexpr Element FP8O = Element::OcpFp8, BF8O = Element::OcpBf8;
const Wmma wmmas[] = {
    {"v_wmma_f32_16x16x16_f16", F16, F16, 32},
    {"v_wmma_f32_16x16x16_bf16", BF16, BF16, 32},
    {"v_wmma_f16_16x16x16_f16", F16, F16, 16},
    {"v_wmma_bf16_16x16x16_bf16", BF16, BF16, 16},
    {"v_wmma_i32_16x16x16_iu8", Element::U8, Element::U8, 32},
    {"v_wmma_i32_16x16x16_iu4", Element::U4, Element::U4, 32},
    {"v_wmma_i32_16x16x32_iu4", Element::U4, Element::U4, 32, 32, 12},
    {"v_wmma_f32_16x16x16_fp8_fp8", FP8O, FP8O, 32, 16, 12},
    {"v_wmma_f32_16x16x16_fp8_bf8", FP8O, BF8O, 32, 16, 12},
    {"v_wmma_f32_16x16x16_bf8_fp8", BF8O, FP8O, 32, 16, 12},
    {"v_wmma_f32_16x16x16_bf8_bf8", BF8O, BF8O, 32, 16, 12},
    {"v_wmma_f32_16x16x4_f32", F32, F32, 32, 4, 12, true},
    {"v_wmma_f32_16x16x32_f16", F16, F16, 32, 32, 12, true},
    {"v_wmma_f32_16x16x32_bf16", BF16, BF16, 32, 32, 12, true},
    {"v_wmma_f16_16x16x32_f16", F16, F16, 16, 32, 12, true},
    {"v_wmma_bf16_16x16x32_bf16", BF16, BF16, 16, 32, 12, true},
    {"v_wmma_i32_16x16x64_iu8", Element::U8, Element::U8, 32, 64, 12, true},
    {"v_wmma_f32_16x16x64_fp8_fp8", FP8O, FP8O, 32, 64, 12, true},
    {"v_wmma_f32_16x16x64_fp8_bf8", FP8O, BF8O, 32, 64, 12, true},
    {"v_wmma_f32_16x16x64_bf8_fp8", BF8O, FP8O, 32, 64, 12, true},
    {"v_wmma_f32_16x16x64_bf8_bf8", BF8O, BF8O, 32, 64, 12, true},
    {"v_wmma_f16_16x16x64_fp8_fp8", FP8O, FP8O, 16, 64, 12, true},
    {"v_wmma_f16_16x16x64_fp8_bf8", FP8O, BF8O, 16, 64, 12, true},
    {"v_wmma_f16_16x16x64_bf8_fp8", BF8O, FP8O, 16, 64, 12, true},
    {"v_wmma_f16_16x16x64_bf8_bf8", BF8O, BF8O, 16, 64, 12, true},
    {"v_wmma_f32_16x16x128_fp8_fp8", FP8O, FP8O, 32, 128, 12, true},
    {"v_wmma_f32_16x16x128_fp8_bf8", FP8O, BF8O, 32, 128, 12, true},
    {"v_wmma_f32_16x16x128_bf8_fp8", BF8O, FP8O, 32, 128, 12, true},
    {"v_wmma_f32_16x16x128_bf8_bf8", BF8O, BF8O, 32, 128, 12, true},
    {"v_wmma_f16_16x16x128_fp8_fp8", FP8O, FP8O, 16, 128, 12, true},
    {"v_wmma_f16_16x16x128_fp8_bf8", FP8O, BF8O, 16, 128, 12, true},
    {"v_wmma_f16_16x16x128_bf8_fp8", BF8O, FP8O, 16, 128, 12, true},
    {"v_wmma_f16_16x16x128_bf8_bf8", BF8O, BF8O, 16, 128, 12, true},
};
constexpr unsigned mostK = 128;

/// Where row i and column j of a result are.
ResultPlace wmmaPlace(const Ctx &c, unsigned i, unsigned j) {
  if (programOf(c).target->generation >= 12)
    return {j + 16 * (i / 8), i % 8};
  unsigned step = programOf(c).waveLanes / 16;
  return {j + 16 * (i % step), i / step};
}

/// Elements along K of the rows of A, or the columns of B; even and odd ones
/// may be negated.
void readWmma(const Ctx &c, uint32_t slot, Element e, unsigned k,
              const bool (&negate)[2], double (&to)[16][mostK]) {
  unsigned each = programOf(c).target->generation >= 12 ? k / 2 : k;
  // Lanes of gfx1250 take turns after eight neighbours.
  unsigned chunk = programOf(c).target->gfx1250 ? std::min(each, 8u) : each;
  for (unsigned i = 0; i < 16; ++i)
    for (unsigned at = 0; at < k; ++at) {
      unsigned half = each == k ? 0 : at / chunk % 2,
               item = each == k ? at : at / (2 * chunk) * chunk + at % chunk;
      double v =
          valueOf(e, elementAt(c, slot, i + 16 * half, item, bitsOfElement(e)));
      to[i][at] = negate[at % 2] ? -v : v;
    }
}

/// mod[0]: neg_lo (bits 0 to 2) and neg_hi (3 to 5) of floats; of what is added
/// to, they are the sign and the absolute value.
/// mod[1]: signs of A and B (bits 0 and 1), and the half of the registers that
/// a result of 16 bits is in (bit 2). Then whether integers are clamped (bit
/// 3), and whether registers have two results of 16 bits (bit 4).
Step execWmma(Ctx &c, const Inst &inst, uint32_t) {
  const Wmma &w = wmmas[inst.imm];
  unsigned lanes = programOf(c).waveLanes;
  auto withSign = [&](Element e, unsigned source) {
    bool isSigned = inst.mod[1] >> source & 1;
    return e == Element::U8 && isSigned   ? Element::S8
           : e == Element::U4 && isSigned ? Element::S4
                                          : e;
  };
  double a[16][mostK], b[16][mostK];
  auto flag = [&](unsigned bit) { return bool(inst.mod[0] >> bit & 1); };
  readWmma(c, inst.op[1], withSign(w.a, 0), w.k, {flag(0), flag(3)}, a);
  readWmma(c, inst.op[2], withSign(w.b, 1), w.k, {flag(1), flag(4)}, b);
  bool constant = inst.op[3] & ScalarBit, isPacked = inst.mod[1] & 16;
  bool isInteger = w.a == Element::U8 || w.a == Element::U4;
  unsigned words = 256 / lanes / (isPacked ? 2 : 1);
  auto *to = c.dst<uint32_t>(inst.op[0]);
  std::vector<uint32_t> out(to, to + words * lanes);
  for (unsigned i = 0; i < 16; ++i)
    for (unsigned j = 0; j < 16; ++j) {
      ResultPlace p = wmmaPlace(c, i, j);
      bool high = isPacked ? p.item & 1 : inst.mod[1] & 4;
      unsigned at = (isPacked ? p.item / 2 : p.item) * lanes + p.lane;
      uint32_t start = constant ? scalarOf<uint32_t>(c, inst.op[3])
                                : c.src<uint32_t>(inst.op[3])[at];
      if (isInteger) {
        int64_t sum = int32_t(start);
        for (unsigned k = 0; k < w.k; ++k)
          sum += int64_t(a[i][k]) * int64_t(b[j][k]);
        if (inst.mod[1] & 8)
          sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
        out[at] = uint32_t(sum);
        continue;
      }
      if (w.resultBits == 16 && high && !constant)
        start >>= 16;
      double sum = w.resultBits == 32 ? floatOfBits(start)
                                      : valueOf(w.resultType(), start & 0xffff);
      sum = flag(5) ? std::fabs(sum) : sum;
      sum = flag(2) ? -sum : sum;
      for (unsigned k = 0; k < w.k; ++k)
        sum += a[i][k] * b[j][k];
      if (w.resultBits == 32) {
        out[at] = bitsOfFloat(float(sum));
        continue;
      }
      uint32_t r =
          w.resultType() == F16 ? halfFromDouble(sum) : bf16FromDouble(sum);
      out[at] =
          high ? (out[at] & 0xffff) | r << 16 : (out[at] & 0xffff0000) | r;
    }
  std::copy(out.begin(), out.end(), to);
  c.worker->counters.tensorFlops += 2ull * 16 * 16 * w.k;
  return Step::Next;
}

bool decodeWmma(InstDecoder &d) {
  size_t index = 0;
  while (d.in->opcode != wmmas[index].name)
    ++index;
  const Wmma &w = wmmas[index];
  if (d.target().generation < w.generation ||
      (w.gfx1250 && !d.target().gfx1250))
    return d.error("the target has no such instruction");
  // Hints about what the next one reads.
  d.has("matrix_a_reuse"), d.has("matrix_b_reuse");
  bool isGfx12 = d.target().generation >= 12;
  if (isGfx12 && d.program.waveLanes != 32)
    return d.error("only waves of 32 lanes are supported");
  d.inst.imm = int64_t(index);
  // All of K, or half of it.
  unsigned bits = bitsOfElement(w.a), words = bits * w.k / (isGfx12 ? 64 : 32),
           results = 256 / d.program.waveLanes;
  auto flag = [&](const char *name, unsigned i) {
    const Modifier *m = d.modifier(name);
    return m && i < m->values.size() && m->values[i];
  };
  bool isInteger = w.a == Element::U8 || w.a == Element::U4;
  if (isInteger)
    d.inst.mod[1] = uint8_t(flag("neg_lo", 0) | flag("neg_lo", 1) << 1 |
                            d.has("clamp") << 3);
  else if (w.resultBits == 16 && isGfx12)
    d.inst.mod[1] = 16, results /= 2;
  else if (w.resultBits == 16)
    d.inst.mod[1] = uint8_t(flag("op_sel", 2) << 2);
  // Floats of 8 bits keep their signs.
  for (unsigned i = isInteger ? 3 : bits == 8 || bits == 32 ? 2 : 0; i < 3; ++i)
    d.inst.mod[0] |=
        uint8_t(flag("neg_lo", i) << i | flag("neg_hi", i) << (i + 3));
  Imm imm = isInteger ? Imm::B32 : w.resultBits == 32 ? Imm::F32 : Imm::F16;
  return d.expect(4, 4) && d.vectorSource(1, words, 1, Needed) &&
         d.vectorSource(2, words, 2, Needed) &&
         d.source(3, results, imm, 3, Needed) &&
         d.vectorResult(0, results, 0) && d.emit(execWmma, Class::Tensor);
}
} // namespace

void tile::sim::amdgcn::registerMatrix(OpcodeTable &t) {
  for (const MfmaName &m : mfmaNames)
    t.emplace(keepName(std::string("v_mfma_") + m.name), decodeMfma);
  for (const Wmma &w : wmmas)
    t.emplace(w.name, decodeWmma);
}
