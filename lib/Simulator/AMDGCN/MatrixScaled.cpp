//===-- MatrixScaled.cpp - MFMA on elements of 4, 6 and 8 bits ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// v_mfma_f32_16x16x128_f8f6f4 and v_mfma_f32_32x32x64_f8f6f4, whose operands
// have a format each (cbsz, blgp), and those with scales: powers of two for 32
// elements along K. A lane has 32 elements of a row of A. Those of 4 and 6
// bits, and of 8 bits with h = K / 2:
//
//   lane i + k / 32 * M, item k % 32
//
//   lane i + k / 16 % (64 / M) * M, item k % 16 + k / h * 16
//
// The scale of elements k is in lane i + k / 32 * M, in a byte that op_sel and
// op_sel_hi choose. Results lie like those of other MFMA.
//
//===----------------------------------------------------------------------===//
#include "MatrixElements.h"

using namespace tile::sim;
using namespace tile::sim::amdgcn;

namespace {
constexpr unsigned Block = 32; ///< elements that share a scale, and of a lane
constexpr Element formats[] = {Element::OcpFp8, Element::OcpBf8, Element::Fp6,
                               Element::Bf6, Element::Fp4};

/// One row of A, or column of B, with its scales.
struct Operand {
  Element element;
  uint32_t slot, scales; ///< scales: NoSlot without
  unsigned byte;         ///< of each scale

  double scale(const Ctx &c, unsigned lane) const {
    if (scales == NoSlot)
      return 1;
    uint32_t word = scales & ScalarBit ? scalarOf<uint32_t>(c, scales)
                                       : c.src<uint32_t>(scales)[lane];
    unsigned exponent = word >> 8 * byte & 255;
    return exponent == 255 ? NAN : std::ldexp(1.0, int(exponent) - 127);
  }
  void read(const Ctx &c, unsigned row, unsigned m, unsigned k,
            double *out) const {
    unsigned bits = bitsOfElement(element), groups = 64 / m;
    for (unsigned i = 0; i < k; ++i) {
      unsigned group = i / Block, item = i % Block;
      if (bits == 8) {
        group = i / 16 % groups;
        item = i % 16 + 16 * (i / (k / 2));
      }
      out[i] =
          valueOf(element, elementAt(c, slot, row + m * group, item, bits)) *
          scale(c, row + m * (i / Block));
    }
  }
};

/// op: result, A, B, sum, scales of A and B. mod: format of A and B, bytes of
/// the scales (two bits each); imm: M.
Step execScaled(Ctx &c, const Inst &inst, uint32_t) {
  unsigned m = unsigned(inst.imm), k = m == 16 ? 128 : 64;
  Operand a{formats[inst.mod[0]], inst.op[1], inst.op[4],
            unsigned(inst.mod[2] & 3)},
      b{formats[inst.mod[1]], inst.op[2], inst.op[5],
        unsigned(inst.mod[2] >> 2)};
  std::vector<double> rows(m * k), others(m * k);
  for (unsigned i = 0; i < m; ++i) {
    a.read(c, i, m, k, &rows[i * k]);
    b.read(c, i, m, k, &others[i * k]);
  }
  bool constant = inst.op[3] & ScalarBit;
  std::vector<uint32_t> out(m * m);
  for (unsigned i = 0; i < m; ++i)
    for (unsigned j = 0; j < m; ++j) {
      ResultPlace place = placeOfResult(m, 4, i, j);
      unsigned at = place.item * 64 + place.lane;
      double sum = floatOfBits(constant ? scalarOf<uint32_t>(c, inst.op[3])
                                        : c.src<uint32_t>(inst.op[3])[at]);
      for (unsigned n = 0; n < k; ++n)
        sum += rows[i * k + n] * others[j * k + n];
      out[at] = bitsOfFloat(float(sum));
    }
  // All lanes, whatever EXEC says.
  std::copy(out.begin(), out.end(), c.dst<uint32_t>(inst.op[0]));
  c.worker->counters.tensorFlops += 2ull * m * m * k;
  return Step::Next;
}

template <unsigned M, bool Scaled> bool decodeScaled(InstDecoder &d) {
  if (d.target().name != "gfx950")
    return d.error("the target has no such instruction");
  unsigned words[2];
  const char *names[] = {"cbsz", "blgp"};
  for (unsigned i = 0; i < 2; ++i) {
    int64_t format = 0;
    d.value(names[i], format);
    if (format < 0 || format >= int64_t(std::size(formats)))
      return d.error(std::string(names[i]) + " is no format of elements");
    d.inst.mod[i] = uint8_t(format);
    words[i] = bitsOfElement(formats[format]);
  }
  // Like those of packed instructions, the upper bits are 1 unless said.
  auto byteOf = [&](unsigned i) {
    const Modifier *low = d.modifier("op_sel"), *high = d.modifier("op_sel_hi");
    unsigned l = low && i < low->values.size() && low->values[i],
             h = !high || (i < high->values.size() && high->values[i]);
    return l | h << 1;
  };
  if (Scaled)
    d.inst.mod[2] = uint8_t(byteOf(0) | byteOf(1) << 2);
  constexpr unsigned count = Scaled ? 6 : 4, results = M * M / 64;
  if (!d.expect(count, count) || !d.vectorSource(1, words[0], 1, Needed) ||
      !d.vectorSource(2, words[1], 2, Needed) ||
      !d.source(3, results, Imm::F32, 3, Needed))
    return false;
  for (unsigned i = 4; i < count; ++i)
    if (!d.source(i, 1, Imm::B32, i, Needed))
      return false;
  d.inst.imm = M;
  return d.vectorResult(0, results, 0) && d.emit(execScaled, Class::Tensor);
}
} // namespace

void tile::sim::amdgcn::registerScaledMatrix(OpcodeTable &t) {
  t.insert({{"v_mfma_f32_16x16x128_f8f6f4", decodeScaled<16, false>},
            {"v_mfma_f32_32x32x64_f8f6f4", decodeScaled<32, false>},
            {"v_mfma_scale_f32_16x16x128_f8f6f4", decodeScaled<16, true>},
            {"v_mfma_scale_f32_32x32x64_f8f6f4", decodeScaled<32, true>}});
}
