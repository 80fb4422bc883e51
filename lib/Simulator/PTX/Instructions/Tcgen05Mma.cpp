//===-- Tcgen05Mma.cpp - tcgen05.mma --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One thread issues a dot for its CTA, or for a pair of them. Each CTA of a
// pair gives half of A's rows and half of B's columns and keeps its rows of D.
// What the dot touches is checked when it is issued; it is formed at once, or,
// with a schedule, at some time until the commit behind it arrives.
//
// How the hardware adds is not published. Sums are formed as those of Hopper,
// with all of a float's bits; with scale factors they are exact, up to double
// precision, and truncated once.
//
//===----------------------------------------------------------------------===//
#include "Tcgen05Mma.h"
#include "../../Checkers/OrderChecker.h"
#include "../../Schedule.h"
#include "../../Timeline.h"
#include "MatrixSums.h"
#include "tile/Simulator/Assumptions.h"

#include <algorithm>
#include <cmath>

using namespace tile::sim;

namespace {
/// Where a CTA's rows of D are: a row has its columns in one lane, or in equal
/// parts in several.
struct Placement {
  unsigned rows;  ///< of one CTA
  unsigned parts; ///< of a row
  unsigned lane;  ///< of the address: 0, or 16 for the second set of 64 rows
  bool isSpread;  ///< 64 rows in 16 lanes of each 32

  Placement(const TensorMmaForm &form, const TensorMmaShape &s, unsigned lane)
      : rows(form.group == 2 ? s.m / 2 : s.m), parts(1), lane(lane),
        isSpread(false) {
    if (form.group == 2)
      parts = s.m == 128 ? 2 : 1;
    else if (form.isWeightStationary)
      parts = 128 / s.m;
    else
      isSpread = s.m == 64;
  }
  unsigned laneOf(unsigned row, unsigned part) const {
    return isSpread ? row / 16 * 32 + row % 16 + lane : row + part * rows;
  }
  bool isValid() const { return lane == 0 || (isSpread && lane == 16); }
  void addLanes(TensorRegion &region) const {
    for (unsigned part = 0; part < parts; ++part)
      for (unsigned row = 0; row < rows; ++row)
        region.addLanes(laneOf(row, part), 1);
  }
};

/// A dot as it was issued.
struct Product {
  Product(const TensorMmaForm &form, const TensorMmaShape &shape, uint32_t d)
      : form(form), shape(shape), place(form, shape, tensorLane(d)), d(d) {}

  TensorMmaForm form;
  TensorMmaShape shape;
  Placement place;
  std::vector<Cta *> ctas;
  uint32_t d, a = 0, scalesA = 0, scalesB = 0;
  TensorMatrix matrixA{}, matrixB{}; ///< of one CTA
  bool accumulates = false;
  uint32_t kept[8] = {}; ///< lanes of D that stay as they are
  ZeroColumns zeros;
  uint32_t assumptions = 0;

  bool assumes(Assumption a) const { return assumptions & a; }
  unsigned partColumns() const { return shape.n / place.parts; }
  bool isKept(unsigned cta, unsigned lane) const {
    unsigned first = ctas.size() == 2
                         ? 4 * (cta ^ unsigned(assumes(AssumeMaskOddFirst)))
                         : 0;
    return kept[first + lane / 32] >> (lane % 32) & 1;
  }
};

//===-- Regions -----------------------------------------------------------===//

TensorRegion regionOfD(const Product &p, unsigned cta) {
  TensorRegion region;
  region.column = tensorColumn(p.d);
  region.columns = p.partColumns();
  p.place.addLanes(region);
  for (unsigned lane = 0; lane < TensorMemory::lanes && p.form.hasMask; ++lane)
    if (p.isKept(cta, lane))
      region.set[lane / 64] &= ~(uint64_t(1) << (lane % 64));
  return region;
}

/// Elements of A in a word of tensor memory.
unsigned elementsOfWord(const Product &p) {
  unsigned bits = p.form.isPackedFour()                ? 4
                  : p.form.kind == TensorMmaKind::TF32 ? 32
                  : p.form.kind == TensorMmaKind::F16  ? 16
                                                       : 8;
  return 32 / bits;
}

TensorRegion regionOfA(const Product &p) {
  TensorRegion region;
  region.column = tensorColumn(p.a);
  region.columns = p.shape.k / elementsOfWord(p);
  p.place.addLanes(region);
  return region;
}

/// Each quarter of the lanes reads scale factors in its own lanes. Those of A's
/// row i are in lane i % 32 of the quarter that has the row of D. Those of B's
/// column i are in lane i % 32 of every quarter.
struct ScalePlaces {
  unsigned column, count, first, factors;
  bool isDivided; ///< the upper half of the columns is in other lanes
  bool isInterleaved;

  ScalePlaces(const Product &p, bool isA)
      : column(tensorColumn(isA ? p.scalesA : p.scalesB)),
        count(isA ? p.place.rows : p.shape.n),
        first(isA ? p.shape.scaleIdA : p.shape.scaleIdB),
        factors(p.shape.factors), isDivided(!isA && p.place.parts == 2 &&
                                            !p.assumes(AssumeScalesTogether)),
        isInterleaved(p.assumes(AssumeK96ScalesInterleaved)) {
    if (isDivided)
      count /= 2;
  }
  /// Columns of 32 rows each.
  unsigned groups() const { return (count + 31) / 32; }
  unsigned words() const { return (first + factors + 3) / 4; }
  TensorRegion region() const {
    TensorRegion region;
    region.column = column;
    region.columns = groups() * words();
    for (unsigned quarter = 0; quarter < 4; ++quarter)
      region.addLanes(32 * quarter, std::min(count, 32u));
    return region;
  }
  /// Of a row's words, each of which has four factors.
  unsigned columnOf(unsigned row, unsigned word) const {
    return column + (isInterleaved ? row / 32 * words() + word
                                   : word * groups() + row / 32);
  }
};

/// Scale factors of row (or column) `i`, as the quarter `quarter` reads them.
void readScales(const Product &p, const Cta &cta, bool isA, unsigned i,
                unsigned quarter, double *out) {
  ScalePlaces places(p, isA);
  if (places.isDivided && i >= places.count)
    i -= places.count;
  for (unsigned f = 0; f < places.factors; ++f) {
    unsigned byte = places.first + f;
    uint32_t word =
        cta.tensor->at(32 * quarter + i % 32, places.columnOf(i, byte / 4));
    out[f] = scaleFactor(p.shape.scale, uint8_t(word >> (8 * (byte % 4))));
  }
}

//===-- Checks at the instruction -----------------------------------------===//

bool checkLane(Ctx &c, const Inst &inst, unsigned l, uint32_t address,
               unsigned lane, const char *what) {
  if (tensorLane(address) == lane)
    return true;
  c.fail(inst, l, "wrong-lanes",
         std::string("the address of ") + what + " names lane " +
             std::to_string(tensorLane(address)) + " of tensor memory, not " +
             std::to_string(lane));
  return false;
}

/// A read of all CTAs' tensor memory, or a write.
bool touch(Ctx &c, const Inst &inst, unsigned l, const Product &p,
           const TensorAccess &access, const char *what, bool needsWritten) {
  for (Cta *cta : p.ctas) {
    if (!checkTensor(c, inst, l, *cta, access.region, 0))
      return false;
    if (needsWritten)
      checkTensorWritten(c, inst, l, *cta, access.region, what);
    if (c.checker)
      c.checker->tensor().engineAccess(c, inst, l, *cta, access);
  }
  return true;
}

bool checkMode(Ctx &c, const Inst &inst, unsigned l, const TensorMatrix &m) {
  auto bad = [&](const char *why) {
    c.fail(inst, l, "bad-descriptor", why);
    return false;
  };
  const TensorDescriptor &d = m.descriptor;
  bool isAtoms = d.mode == TensorDescriptor::Atoms32, isK96 = m.k == 96;
  if (isAtoms != (m.isTransposed && m.type == Type::TF32))
    return bad(isAtoms ? "only tf32 along M or N has swizzled atoms of 32 bytes"
                       : "tf32 along M or N needs swizzled atoms of 32 bytes");
  if (d.isAbsolute &&
      (!isK96 || d.mode != TensorDescriptor::Swizzle128 || d.base))
    return bad("an absolute leading dimension goes with K = 96, a swizzle of "
               "128 bytes and no base offset");
  if (isK96 && !d.isAbsolute && d.leavesRow(48))
    return bad("48 bytes of K = 96 go beyond the swizzle's width, which needs "
               "an absolute leading dimension");
  return true;
}

bool checkProduct(Ctx &c, const Inst &inst, unsigned l, const Product &p,
                  uint32_t idesc) {
  using enum TensorKind;
  if (!p.place.isValid())
    return checkLane(c, inst, l, p.d, 0, "D");
  for (Cta *cta : p.ctas)
    if ((!p.form.isTensorA && !p.matrixA.check(c, inst, l, *cta)) ||
        !p.matrixB.check(c, inst, l, *cta))
      return false;
  if (p.form.isTensorA &&
      (!checkLane(c, inst, l, p.a, p.place.lane, "A") ||
       !touch(c, inst, l, p, {Product, false, regionOfA(p)}, "A", true)))
    return false;
  if (p.form.isScaled() &&
      (!checkLane(c, inst, l, p.scalesA, 0, "the scale factors of A") ||
       !checkLane(c, inst, l, p.scalesB, 0, "the scale factors of B") ||
       !touch(c, inst, l, p, {Product, false, ScalePlaces(p, true).region()},
              "the scale factors of A", true) ||
       !touch(c, inst, l, p, {Product, false, ScalePlaces(p, false).region()},
              "the scale factors of B", true)))
    return false;
  // M, N and, where there are no scale factors, the type of D.
  const uint32_t sameSum = p.form.isScaled() ? 0x1f7e0000 : 0x1f7e0030;
  uint64_t accumulator = uint64_t(1) << 63 |
                         uint64_t(p.form.isWeightStationary) << 62 |
                         uint64_t(idesc & sameSum) << 32 | p.d;
  for (unsigned i = 0; i < p.ctas.size(); ++i) {
    Cta &cta = *p.ctas[i];
    TensorRegion region = regionOfD(p, i);
    if (!checkTensor(c, inst, l, cta, region, 0))
      return false;
    if (p.accumulates)
      checkTensorWritten(c, inst, l, cta, region, "D");
    if (c.checker)
      c.checker->tensor().engineAccess(c, inst, l, cta,
                                       {Product, true, region, accumulator});
    markTensorWritten(cta, region);
  }
  return true;
}

//===-- Numbers -----------------------------------------------------------===//

float elementOfWord(const Product &p, uint32_t word, unsigned index) {
  switch (elementsOfWord(p)) {
  case 1:
    return matrixFloat(p.shape.a, word);
  case 2:
    return matrixFloat(p.shape.a, word >> (16 * index) & 0xffff);
  case 8:
    return float(decodeSmall(word >> (4 * index) & 15, formatE2M1));
  default: {
    auto byte = uint8_t(word >> (8 * index));
    if (p.shape.a == Type::S8 || p.shape.a == Type::U8)
      return float(matrixInteger(p.shape.a, byte));
    if (p.shape.a == Type::E2M1 && p.assumes(AssumeLowBits))
      byte = uint8_t(byte << 2);
    return float(valueInByte(p.shape.a, byte));
  }
  }
}

/// The row of A that .ashift puts in the place of one. Rows stay within their
/// 32 lanes, as those of tcgen05.shift do; one of them has no other to take.
unsigned shiftedRow(const Product &p, unsigned row) {
  if (!p.form.shiftsA)
    return row;
  unsigned window = p.assumes(AssumeAShiftAllLanes) ? p.place.rows : 32,
           at = row % window;
  if (p.assumes(AssumeShiftUp))
    return at ? row - 1 : row;
  return at + 1 < window ? row + 1 : row;
}

/// A CTA's rows of A.
void readA(const Product &p, const Cta &cta, std::vector<float> &out) {
  unsigned k = p.shape.k;
  out.resize(size_t(p.place.rows) * k);
  if (!p.form.isTensorA)
    return p.matrixA.read(cta, out.data(), k, 1);
  unsigned each = elementsOfWord(p);
  float sign = p.shape.negateA ? -1.0f : 1.0f;
  for (unsigned row = 0; row < p.place.rows; ++row) {
    unsigned lane = p.place.laneOf(shiftedRow(p, row), 0);
    for (unsigned i = 0; i < k; ++i)
      out[size_t(row) * k + i] =
          sign *
          elementOfWord(p, cta.tensor->at(lane, tensorColumn(p.a) + i / each),
                        i % each);
  }
}

/// All of B: K rows of N.
void readB(const Product &p, std::vector<float> &out) {
  out.resize(size_t(p.shape.k) * p.shape.n);
  unsigned each = p.matrixB.rows;
  for (unsigned i = 0; i < p.ctas.size(); ++i)
    p.matrixB.read(*p.ctas[i], out.data() + i * each, 1, p.shape.n);
  unsigned wide = p.partColumns();
  for (unsigned j = 0; p.zeros.any() && j < p.shape.n; ++j)
    if (p.zeros.isZero(j / wide, j % wide))
      for (unsigned i = 0; i < p.shape.k; ++i)
        out[size_t(i) * p.shape.n + j] = 0;
}

float readSum(const Product &p, uint32_t word) {
  float sum = p.shape.d == Type::F16 ? floatFromHalf(uint16_t(word))
                                     : floatOfBits(word);
  return p.form.scaleInput ? std::ldexp(sum, -int(p.form.scaleInput)) : sum;
}
uint32_t sumBits(const Product &p, float sum) {
  return p.shape.d == Type::F16 ? uint32_t(halfFromDouble(sum))
                                : bitsOfFloat(canonical(sum));
}

/// Calls f(word, column) for a row of D.
template <class F>
void eachSum(const Product &p, unsigned cta, unsigned row, F f) {
  unsigned wide = p.partColumns();
  for (unsigned part = 0; part < p.place.parts; ++part) {
    unsigned lane = p.place.laneOf(row, part);
    if (p.form.hasMask && p.isKept(cta, lane))
      continue;
    uint32_t *words = &p.ctas[cta]->tensor->at(lane, tensorColumn(p.d));
    for (unsigned i = 0; i < wide; ++i)
      f(words[i], part * wide + i);
  }
}

void multiplyIntegers(const Product &p, unsigned cta,
                      const std::vector<float> &A,
                      const std::vector<float> &B) {
  unsigned k = p.shape.k, n = p.shape.n;
  std::vector<int64_t> sums(n);
  for (unsigned row = 0; row < p.place.rows; ++row) {
    eachSum(p, cta, row, [&](uint32_t word, unsigned column) {
      sums[column] = p.accumulates ? int32_t(word) : 0;
    });
    for (unsigned i = 0; i < k; ++i)
      for (unsigned j = 0; j < n; ++j)
        sums[j] +=
            int64_t(A[size_t(row) * k + i]) * int64_t(B[size_t(i) * n + j]);
    eachSum(p, cta, row, [&](uint32_t &word, unsigned column) {
      word = p.shape.saturates ? uint32_t(clampToS32(sums[column]))
                               : uint32_t(sums[column]);
    });
  }
}

void multiplyFloats(const Product &p, unsigned cta, const SumOperand &A,
                    const SumOperand &B) {
  unsigned k = p.shape.k, n = p.shape.n;
  constexpr int kept = 23, fraction = 25;
  std::vector<float> sums(n);
  for (unsigned row = 0; row < p.place.rows; ++row) {
    eachSum(p, cta, row, [&](uint32_t word, unsigned column) {
      sums[column] = p.accumulates ? readSum(p, word) : 0.0f;
    });
    addMatrixRow({k, fraction, kept}, p.shape.d, A, size_t(row) * k, B, k, n,
                 sums.data());
    eachSum(p, cta, row, [&](uint32_t &word, unsigned column) {
      word = sumBits(p, sums[column]);
    });
  }
}

void multiplyScaled(const Product &p, unsigned cta, const std::vector<float> &A,
                    const std::vector<float> &B) {
  unsigned k = p.shape.k, n = p.shape.n, factors = p.shape.factors,
           block = k / factors;
  constexpr unsigned most = 6; // factors
  const Cta &own = *p.ctas[cta];
  // B's scale factors as each quarter of the lanes has them.
  std::vector<double> scalesB[4];
  std::vector<double> sums(n), part(n);
  for (unsigned row = 0; row < p.place.rows; ++row) {
    double scalesA[most];
    unsigned lane = p.place.laneOf(row, 0);
    readScales(p, own, true, row, lane / 32, scalesA);
    eachSum(p, cta, row, [&](uint32_t word, unsigned column) {
      sums[column] = p.accumulates ? double(readSum(p, word)) : 0.0;
    });
    for (unsigned f = 0; f < factors; ++f) {
      std::fill(part.begin(), part.end(), 0.0);
      for (unsigned i = f * block; i < (f + 1) * block; ++i) {
        double a = A[size_t(row) * k + i];
        const float *b = &B[size_t(i) * n];
        for (unsigned j = 0; j < n; ++j)
          part[j] += a * double(b[j]);
      }
      for (unsigned j = 0; j < n; ++j) {
        unsigned quarter = p.place.laneOf(row, j / p.partColumns()) / 32;
        std::vector<double> &scales = scalesB[quarter];
        if (scales.empty()) {
          scales.resize(size_t(n) * most);
          for (unsigned i = 0; i < n; ++i)
            readScales(p, own, false, i, quarter, &scales[size_t(i) * most]);
        }
        sums[j] += part[j] * scalesA[f] * scales[size_t(j) * most + f];
      }
    }
    eachSum(p, cta, row, [&](uint32_t &word, unsigned column) {
      word = bitsOfFloat(canonical(floatFromDouble(sums[column], Round::Zero)));
    });
  }
}

bool formProduct(Ctx &c, const Product &p) {
  SumOperand A, B;
  readB(p, B.values);
  bool isFloat = p.form.kind != TensorMmaKind::I8 && !p.form.isScaled();
  if (isFloat)
    B.findExponents(leastExponent(p.shape.b, true));
  // Both CTAs' rows are read before a row of D is written: D may be where A is.
  std::vector<float> rows[2];
  for (unsigned i = 0; i < p.ctas.size(); ++i)
    readA(p, *p.ctas[i], rows[i]);
  for (unsigned i = 0; i < p.ctas.size(); ++i) {
    A.values = std::move(rows[i]);
    if (p.form.kind == TensorMmaKind::I8) {
      multiplyIntegers(p, i, A.values, B.values);
    } else if (p.form.isScaled()) {
      multiplyScaled(p, i, A.values, B.values);
    } else {
      A.findExponents(leastExponent(p.shape.a, true));
      multiplyFloats(p, i, A, B);
    }
  }
  // Narrow elements of other kinds than mxf4 take a byte each.
  unsigned bits = p.form.isPackedFour()                ? 4
                  : p.form.kind == TensorMmaKind::F16  ? 16
                  : p.form.kind == TensorMmaKind::TF32 ? 32
                                                       : 8;
  c.worker->counters.addTensor(2ull * p.shape.m * p.shape.n * p.shape.k, bits);
  return true;
}

//===-- The instruction ---------------------------------------------------===//

std::optional<TensorMatrix> matrixOf(Ctx &c, const Inst &inst, unsigned l,
                                     const TensorMmaForm &form, uint64_t bits,
                                     Type type, bool isTransposed,
                                     bool isNegated, unsigned rows,
                                     unsigned k) {
  std::optional<TensorDescriptor> d =
      TensorDescriptor::decode(c, inst, l, bits);
  if (!d)
    return std::nullopt;
  TensorMatrix m{
      *d,   type, storageOf(type, form.isPackedFour()), isTransposed, isNegated,
      rows, k};
  if (!checkMode(c, inst, l, m))
    return std::nullopt;
  return m;
}

/// What one lane issues.
bool issue(Ctx &c, const Inst &inst, unsigned l) {
  TensorMmaForm form = TensorMmaForm::unpack(inst.imm);
  uint32_t idesc = c.src<uint32_t>(inst.op[3])[l];
  std::string why;
  std::optional<TensorMmaShape> shape =
      TensorMmaShape::decode(form, idesc, c.launch->config->assumptions, why);
  if (!shape) {
    c.fail(inst, l, "bad-descriptor", "the instruction descriptor " + why);
    return false;
  }
  const uint32_t *ext = &c.code->ext[inst.ext];
  auto address = [&](uint32_t slot, uint32_t offset) {
    return uint32_t(c.src<uint64_t>(slot)[l]) + offset;
  };
  uint32_t d = address(inst.op[0], *ext++), offsetA = *ext++;
  Product p(form, *shape, d);
  if (!ctasOfGroup(c, inst, l, form.group, p.ctas))
    return false;
  for (Cta *cta : p.ctas)
    tensorMemory(*cta);
  if (form.isTensorA) {
    p.a = address(inst.op[1], offsetA);
  } else {
    auto m =
        matrixOf(c, inst, l, form, c.src<uint64_t>(inst.op[1])[l], shape->a,
                 shape->transposeA, shape->negateA, p.place.rows, shape->k);
    if (!m)
      return false;
    p.matrixA = *m;
  }
  auto m = matrixOf(c, inst, l, form, c.src<uint64_t>(inst.op[2])[l], shape->b,
                    shape->transposeB, shape->negateB,
                    shape->n / unsigned(p.ctas.size()), shape->k);
  if (!m)
    return false;
  p.matrixB = *m;
  if (form.isScaled()) {
    p.scalesA = address(ext[0], ext[1]);
    p.scalesB = address(ext[2], ext[3]);
  }
  for (unsigned i = 0; form.hasMask && i < 4u * form.group; ++i)
    p.kept[i] = c.src<uint32_t>(ext[i])[l];
  if (inst.op[5] != NoSlot) {
    auto zeros = ZeroColumns::decode(c.src<uint64_t>(inst.op[5])[l], why);
    if (!zeros) {
      c.fail(inst, l, "bad-descriptor", "the mask of zero columns " + why);
      return false;
    }
    p.zeros = *zeros;
  }
  p.accumulates = c.pred(inst.op[4]) >> l & 1;
  p.assumptions = c.launch->config->assumptions;
  if (!checkProduct(c, inst, l, p, idesc))
    return false;
  uint64_t cycles = productCycles(p.shape.n);
  c.worker->counters.tensorCycles += p.ctas.size() * cycles;
  if (c.timeline)
    c.timeline->tensorWork(c, p.ctas, "tcgen05.mma", cycles, p.shape.n);
  return completeAsync(c, AsyncKind::Tensor, l, [p = std::move(p)](Ctx &c) {
    return formProduct(c, p);
  });
}
} // namespace

Step tile::sim::execTensorMma(Ctx &c, const Inst &inst, uint32_t mask) {
  for (; mask; mask &= mask - 1)
    if (!issue(c, inst, firstLane(mask)))
      return Step::Error;
  return Step::Next;
}
