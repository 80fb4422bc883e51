//===-- MatrixSparse.cpp - SMFMAC and SWMMAC: a sparse A ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Of each four neighbours along K of a row of A, two are there. An index of two
// bits each says which. A lane of a wave of L holds e = M * K / 2 L of them,
// and 2 e elements of a column of B:
//
//   row i of A, stored element s: lane i + M (s / e), item s % e
//
//   column j of B, element k: lane j + N (k / 2e), item k % 2e
//
// The indices of a lane's elements lie side by side. A register may have
// several sets of them. For SMFMAC, abid chooses one, or the first one is taken
// if cbsz is not 0. For SWMMAC, index_key chooses. The result, which is the
// sum, too, lies like those of MFMA and WMMA.
//
//===----------------------------------------------------------------------===//
#include "MatrixElements.h"

#include <algorithm>

using namespace tile::sim;
using namespace tile::sim::amdgcn;

namespace {
/// The first targets that have an instruction.
enum class Since : uint8_t { Gfx940, Gfx950, Gfx12, Gfx1250 };

struct Sparse {
  const char *name;
  unsigned m, k;
  Element a, b;
  Since since = Since::Gfx940;
  Element result = Element::F32;
  bool isWmma() const { return since >= Since::Gfx12; }
  bool isInteger() const {
    return a == Element::S8 || a == Element::U8 || a == Element::U4;
  }
  unsigned resultBits() const { return bitsOfElement(result); }
};
constexpr Element F16 = Element::F16, BF16 = Element::BF16, S8 = Element::S8,
                  FP8 = Element::Fp8, BF8 = Element::Bf8,
                  FP8O = Element::OcpFp8, BF8O = Element::OcpBf8,
                  U8 = Element::U8, U4 = Element::U4;
constexpr Since Gfx950 = Since::Gfx950, Gfx12 = Since::Gfx12,
                Gfx1250 = Since::Gfx1250;
const Sparse instructions[] = {
    {"v_smfmac_f32_16x16x32_f16", 16, 32, F16, F16},
    {"v_smfmac_f32_32x32x16_f16", 32, 16, F16, F16},
    {"v_smfmac_f32_16x16x32_bf16", 16, 32, BF16, BF16},
    {"v_smfmac_f32_32x32x16_bf16", 32, 16, BF16, BF16},
    {"v_smfmac_i32_16x16x64_i8", 16, 64, S8, S8},
    {"v_smfmac_i32_32x32x32_i8", 32, 32, S8, S8},
    {"v_smfmac_f32_16x16x64_fp8_fp8", 16, 64, FP8, FP8},
    {"v_smfmac_f32_16x16x64_fp8_bf8", 16, 64, FP8, BF8},
    {"v_smfmac_f32_16x16x64_bf8_fp8", 16, 64, BF8, FP8},
    {"v_smfmac_f32_16x16x64_bf8_bf8", 16, 64, BF8, BF8},
    {"v_smfmac_f32_32x32x32_fp8_fp8", 32, 32, FP8, FP8},
    {"v_smfmac_f32_32x32x32_fp8_bf8", 32, 32, FP8, BF8},
    {"v_smfmac_f32_32x32x32_bf8_fp8", 32, 32, BF8, FP8},
    {"v_smfmac_f32_32x32x32_bf8_bf8", 32, 32, BF8, BF8},
    {"v_smfmac_f32_16x16x64_f16", 16, 64, F16, F16, Gfx950},
    {"v_smfmac_f32_32x32x32_f16", 32, 32, F16, F16, Gfx950},
    {"v_smfmac_f32_16x16x64_bf16", 16, 64, BF16, BF16, Gfx950},
    {"v_smfmac_f32_32x32x32_bf16", 32, 32, BF16, BF16, Gfx950},
    {"v_smfmac_i32_16x16x128_i8", 16, 128, S8, S8, Gfx950},
    {"v_smfmac_i32_32x32x64_i8", 32, 64, S8, S8, Gfx950},
    {"v_smfmac_f32_16x16x128_fp8_fp8", 16, 128, FP8, FP8, Gfx950},
    {"v_smfmac_f32_16x16x128_fp8_bf8", 16, 128, FP8, BF8, Gfx950},
    {"v_smfmac_f32_16x16x128_bf8_fp8", 16, 128, BF8, FP8, Gfx950},
    {"v_smfmac_f32_16x16x128_bf8_bf8", 16, 128, BF8, BF8, Gfx950},
    {"v_smfmac_f32_32x32x64_fp8_fp8", 32, 64, FP8, FP8, Gfx950},
    {"v_smfmac_f32_32x32x64_fp8_bf8", 32, 64, FP8, BF8, Gfx950},
    {"v_smfmac_f32_32x32x64_bf8_fp8", 32, 64, BF8, FP8, Gfx950},
    {"v_smfmac_f32_32x32x64_bf8_bf8", 32, 64, BF8, BF8, Gfx950},
    {"v_swmmac_f32_16x16x32_f16", 16, 32, F16, F16, Gfx12},
    {"v_swmmac_f32_16x16x32_bf16", 16, 32, BF16, BF16, Gfx12},
    {"v_swmmac_f16_16x16x32_f16", 16, 32, F16, F16, Gfx12, F16},
    {"v_swmmac_bf16_16x16x32_bf16", 16, 32, BF16, BF16, Gfx12, BF16},
    {"v_swmmac_i32_16x16x32_iu8", 16, 32, U8, U8, Gfx12},
    {"v_swmmac_i32_16x16x32_iu4", 16, 32, U4, U4, Gfx12},
    {"v_swmmac_i32_16x16x64_iu4", 16, 64, U4, U4, Gfx12},
    {"v_swmmac_f32_16x16x32_fp8_fp8", 16, 32, FP8O, FP8O, Gfx12},
    {"v_swmmac_f32_16x16x32_fp8_bf8", 16, 32, FP8O, BF8O, Gfx12},
    {"v_swmmac_f32_16x16x32_bf8_fp8", 16, 32, BF8O, FP8O, Gfx12},
    {"v_swmmac_f32_16x16x32_bf8_bf8", 16, 32, BF8O, BF8O, Gfx12},
    {"v_swmmac_f32_16x16x64_f16", 16, 64, F16, F16, Gfx1250},
    {"v_swmmac_f32_16x16x64_bf16", 16, 64, BF16, BF16, Gfx1250},
    {"v_swmmac_f16_16x16x64_f16", 16, 64, F16, F16, Gfx1250, F16},
    {"v_swmmac_bf16_16x16x64_bf16", 16, 64, BF16, BF16, Gfx1250, BF16},
    {"v_swmmac_i32_16x16x128_iu8", 16, 128, U8, U8, Gfx1250},
    {"v_swmmac_f32_16x16x128_fp8_fp8", 16, 128, FP8O, FP8O, Gfx1250},
    {"v_swmmac_f32_16x16x128_fp8_bf8", 16, 128, FP8O, BF8O, Gfx1250},
    {"v_swmmac_f32_16x16x128_bf8_fp8", 16, 128, BF8O, FP8O, Gfx1250},
    {"v_swmmac_f32_16x16x128_bf8_bf8", 16, 128, BF8O, BF8O, Gfx1250},
    {"v_swmmac_f16_16x16x128_fp8_fp8", 16, 128, FP8O, FP8O, Gfx1250, F16},
    {"v_swmmac_f16_16x16x128_fp8_bf8", 16, 128, FP8O, BF8O, Gfx1250, F16},
    {"v_swmmac_f16_16x16x128_bf8_fp8", 16, 128, BF8O, FP8O, Gfx1250, F16},
    {"v_swmmac_f16_16x16x128_bf8_bf8", 16, 128, BF8O, BF8O, Gfx1250, F16},
};

/// The elements as the target and the signs of the operands have them.
Element elementOf(const Ctx &c, Element e, bool isSigned) {
  if (isSigned && (e == U8 || e == U4))
    return e == U8 ? Element::S8 : Element::S4;
  return withFormats(e, programOf(c).target->name == "gfx950");
}

/// op: result and sum, A, B, indices. mod[0]: the set of indices; mod[1]: signs
/// of A and B (bits 0 and 1), whether integers are clamped (bit 2).
Step execSparse(Ctx &c, const Inst &inst, uint32_t) {
  const Sparse &f = instructions[inst.imm];
  unsigned lanes = programOf(c).waveLanes, each = f.m * f.k / (2 * lanes);
  Element ea = elementOf(c, f.a, inst.mod[1] & 1),
          eb = elementOf(c, f.b, inst.mod[1] & 2);
  unsigned bits = bitsOfElement(ea);
  std::vector<double> a(f.m * f.k), b(f.m * f.k);
  for (unsigned i = 0; i < f.m; ++i) {
    for (unsigned s = 0; s < f.k / 2; ++s) {
      unsigned lane = i + f.m * (s / each), item = s % each;
      auto index = unsigned(
          elementAt(c, inst.op[3], lane, inst.mod[0] * each + item, 2));
      a[i * f.k + s / 2 * 4 + index] +=
          valueOf(ea, elementAt(c, inst.op[1], lane, item, bits));
    }
    for (unsigned k = 0; k < f.k; ++k)
      b[i * f.k + k] =
          valueOf(eb, elementAt(c, inst.op[2], i + f.m * (k / (2 * each)),
                                k % (2 * each), bits));
  }
  auto *to = c.dst<uint32_t>(inst.op[0]);
  for (unsigned i = 0; i < f.m; ++i)
    for (unsigned j = 0; j < f.m; ++j) {
      ResultPlace place = f.isWmma() ? ResultPlace{j + 16 * (i / 8), i % 8}
                                     : placeOfResult(f.m, 4, i, j);
      unsigned width = f.resultBits();
      uint32_t &word = to[place.item * width / 32 * lanes + place.lane];
      unsigned shift = place.item * width % 32;
      double sum =
          f.isInteger()
              ? double(int32_t(word))
              : valueOf(f.result, width == 16 ? word >> shift & 0xffff : word);
      for (unsigned k = 0; k < f.k; ++k)
        sum += a[i * f.k + k] * b[j * f.k + k];
      if (f.isInteger() && (inst.mod[1] & 4))
        sum = std::clamp<double>(sum, INT32_MIN, INT32_MAX);
      if (f.isInteger())
        word = uint32_t(int64_t(sum));
      else if (width == 32)
        word = bitsOfFloat(float(sum));
      else
        word = (word & ~(0xffffu << shift)) |
               uint32_t(f.result == F16 ? halfFromDouble(sum)
                                        : bf16FromDouble(sum))
                   << shift;
    }
  c.worker->counters.tensorFlops += 2ull * f.m * f.m * f.k;
  return Step::Next;
}

bool has(const Target &target, Since since) {
  switch (since) {
  case Since::Gfx940:
    return target.gfx940;
  case Since::Gfx950:
    return target.name == "gfx950";
  case Since::Gfx12:
    return target.generation >= 12;
  case Since::Gfx1250:
    return target.gfx1250;
  }
  return false;
}

bool decodeSparse(InstDecoder &d) {
  size_t number = 0;
  while (d.in->opcode != instructions[number].name)
    ++number;
  const Sparse &f = instructions[number];
  unsigned lanes = d.program.waveLanes;
  if (!has(d.target(), f.since))
    return d.error("the target has no such instruction");
  if (f.isWmma() && lanes != 32)
    return d.error("only waves of 32 lanes are supported");
  unsigned each = f.m * f.k / (2 * lanes),
           words = each * bitsOfElement(f.a) / 32,
           indexWords = std::max(1u, each / 16), sets = std::max(1u, 16 / each);
  int64_t set = 0;
  if (f.isWmma()) {
    d.value("index_key", set);
    d.has("matrix_a_reuse"), d.has("matrix_b_reuse");
    auto isSigned = [&](unsigned i) {
      const Modifier *m = d.modifier("neg_lo");
      return m && i < m->values.size() && m->values[i];
    };
    if (f.isInteger())
      d.inst.mod[1] =
          uint8_t(isSigned(0) | isSigned(1) << 1 | d.has("clamp") << 2);
  } else {
    int64_t first = 0;
    d.value("cbsz", first);
    d.value("abid", set);
    set = first ? 0 : set;
  }
  d.inst.mod[0] = uint8_t(uint64_t(set) % sets);
  d.inst.imm = int64_t(number);
  unsigned results = f.m * f.m / lanes * f.resultBits() / 32;
  return d.expect(4, 4) && d.vectorSource(1, words, 1, Needed) &&
         d.vectorSource(2, 2 * words, 2, Needed) &&
         d.vectorSource(3, indexWords, 3, Needed) &&
         d.vectorSource(0, results, 0, Needed) &&
         d.vectorResult(0, results, 0) && d.emit(execSparse, Class::Tensor);
}
} // namespace

void tile::sim::amdgcn::registerSparseMatrix(OpcodeTable &t) {
  for (const Sparse &f : instructions)
    t.emplace(f.name, decodeSparse);
}
