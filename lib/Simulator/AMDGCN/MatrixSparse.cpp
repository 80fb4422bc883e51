//===-- MatrixSparse.cpp - SMFMAC: MFMA with a sparse A -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Of each four neighbours along K of a row of A, two are there; an index of two
// bits each says which. A lane holds e = M * K / 128 of them, and 2 e elements
// of a column of B:
//   row i of A, stored element s: lane i + M (s / e), item s % e
//   column j of B, element k: lane j + N (k / 2e), item k % 2e
// The indices of a lane's elements lie side by side in its register: four sets
// for elements of 16 bits, two for those of 8, of which abid chooses one, or
// the first if cbsz is not 0. The result, which is the sum, too, lies like
// those of other MFMA.
//
//===----------------------------------------------------------------------===//
#include "MatrixElements.h"

using namespace tile::sim;
using namespace tile::sim::amdgcn;

namespace {
struct Smfmac {
  const char *name;
  unsigned m, k;
  Element a, b;
};
constexpr Element F16 = Element::F16, BF16 = Element::BF16, S8 = Element::S8,
                  FP8 = Element::Fp8, BF8 = Element::Bf8;
const Smfmac smfmacs[] = {
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
};

/// op: result and sum, A, B, indices. mod[0]: the set of indices.
Step execSmfmac(Ctx &c, const Inst &inst, uint32_t) {
  const Smfmac &f = smfmacs[inst.imm];
  bool isOcp = programOf(c).target->name == "gfx950";
  Element ea = withFormats(f.a, isOcp), eb = withFormats(f.b, isOcp);
  unsigned bits = bitsOfElement(ea), each = f.m * f.k / 128;
  std::vector<double> a(f.m * f.k), b(f.m * f.k);
  const auto *indices = c.src<uint32_t>(inst.op[3]);
  for (unsigned i = 0; i < f.m; ++i) {
    for (unsigned s = 0; s < f.k / 2; ++s) {
      unsigned lane = i + f.m * (s / each), item = s % each;
      uint32_t set = indices[lane] >> inst.mod[0] * each * 2,
               index = set >> 2 * item & 3;
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
      ResultPlace place = placeOfResult(f.m, 4, i, j);
      unsigned at = place.item * 64 + place.lane;
      double sum = f.a == S8 ? double(int32_t(to[at])) : floatOfBits(to[at]);
      for (unsigned k = 0; k < f.k; ++k)
        sum += a[i * f.k + k] * b[j * f.k + k];
      to[at] = f.a == S8 ? uint32_t(int64_t(sum)) : bitsOfFloat(float(sum));
    }
  c.worker->counters.tensorFlops += 2ull * f.m * f.m * f.k;
  return Step::Next;
}

bool decodeSmfmac(InstDecoder &d) {
  size_t index = 0;
  while (d.in->opcode != smfmacs[index].name)
    ++index;
  const Smfmac &f = smfmacs[index];
  if (!d.target().gfx940)
    return d.error("the target has no such instruction");
  int64_t first = 0, set = 0;
  d.value("cbsz", first);
  d.value("abid", set);
  unsigned bits = bitsOfElement(f.a), sets = bits == 16 ? 4 : 2;
  d.inst.mod[0] = first ? 0 : uint8_t(uint64_t(set) % sets);
  d.inst.imm = int64_t(index);
  unsigned words = f.m * f.k / 128 * bits / 32, results = f.m * f.m / 64;
  return d.expect(4, 4) && d.vectorSource(1, words, 1, Needed) &&
         d.vectorSource(2, 2 * words, 2, Needed) &&
         d.vectorSource(3, 1, 3, Needed) &&
         d.vectorSource(0, results, 0, Needed) &&
         d.vectorResult(0, results, 0) && d.emit(execSmfmac, Class::Tensor);
}
} // namespace

void tile::sim::amdgcn::registerSparseMatrix(OpcodeTable &t) {
  for (const Smfmac &f : smfmacs)
    t.emplace(f.name, decodeSmfmac);
}
