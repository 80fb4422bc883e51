//===-- Wgmma.cpp - wgmma -------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The four warps of a group wait for each other at the instruction. The last
// one to arrive issues the dot for all: warp w has rows 16 w to 16 w + 15 of
// the 64. The dot is computed at once. With a schedule, it is computed at some
// time until wgmma.wait_group, and only then are registers and shared memory
// read. The checker hears of the reads at the instruction. It protects
// registers and shared memory until the wait.
//
// A descriptor names core matrices of 8 rows of 16 bytes. With a swizzle of W
// bytes (32, 64, 128), rows are W bytes apart, and the row's number permutes
// chunks of 16 bytes. Both are seen in the address. The base offset is the
// number that the pattern's first row has there.
//
//===----------------------------------------------------------------------===//
#include "Wgmma.h"
#include "../../Checkers/OrderChecker.h"
#include "../../Memory.h"
#include "../../Schedule.h"
#include "../../Timeline.h"
#include "../PtxProgram.h"
#include "MatrixSums.h"
#include "SparseMetadata.h"

#include <algorithm>
#include <cstring>
#include <optional>

using namespace tile::sim;

namespace {
struct Descriptor {
  uint32_t start, leading, stride, swizzle, base;
  explicit Descriptor(uint64_t bits)
      : start(uint32_t(bits & 0x3fff) << 4),
        leading(uint32_t(bits >> 16 & 0x3fff) << 4),
        stride(uint32_t(bits >> 32 & 0x3fff) << 4),
        swizzle(uint32_t(bits >> 62)), base(uint32_t(bits >> 49 & 7)) {}
  /// Bytes of a row of the swizzle pattern; 16 without one.
  uint32_t span() const {
    static constexpr uint32_t spans[] = {16, 128, 64, 32};
    return spans[swizzle];
  }
  uint32_t permute(uint32_t address) const {
    uint32_t chunks = span() / 16 - 1;
    return address ^ ((((address >> 7) - base) & chunks) << 4);
  }
  /// K-major: `row` of M or N, byte `k` along K.
  uint32_t rowAddress(uint32_t row, uint32_t k) const {
    uint32_t at = start + row / 8 * stride + row % 8 * span();
    return permute(swizzle ? at + k : at + k / 16 * leading + k % 16);
  }
  /// MN-major, 16-bit elements: element `mn` of M or N, `k` along K.
  uint32_t columnAddress(uint32_t mn, uint32_t k) const {
    uint32_t wide = span() / 2; // elements in a row of the pattern
    if (!swizzle)
      return start + mn / 8 * stride + mn % 8 * 2 + k % 8 * 16 +
             k / 8 * leading;
    return permute(start + mn / wide * leading + mn % wide * 2 +
                   k % 8 * span() + k / 8 * stride);
  }
};

unsigned elementBits(Type type) {
  return type == Type::TF32 ? 32 : bitsOf(type);
}

/// Reads `rows` rows of K elements through a descriptor; `convert` turns bits
/// into T.
template <unsigned width, class T, class F>
bool readWidth(Ctx &c, const Inst &inst, uint64_t bits, unsigned firstRow,
               unsigned rows, unsigned k, bool transposed, T *out, F convert) {
  Descriptor desc(bits);
  const std::vector<std::byte> &shared = c.cta->shared;
  // Whatever the layout, 16 bytes of a row (or column) stay together.
  auto chunk = [&](uint32_t at) -> const std::byte * {
    if (at + 16 > shared.size()) {
      c.fail(inst, 0, "out-of-bounds",
             "the matrix descriptor reaches byte " + std::to_string(at) +
                 " of shared memory, which has " +
                 std::to_string(shared.size()) + " bytes");
      return nullptr;
    }
    if (c.checker)
      c.checker->matrixRead(c, inst, at, 16);
    return shared.data() + at;
  };
  auto element = [&](const std::byte *from, unsigned index) {
    uint32_t value = 0;
    std::memcpy(&value, from + index * width / 8, std::max(1u, width / 8));
    return convert(width == 1 ? value >> (index % 8) & 1 : value);
  };
  constexpr unsigned together = 128 / width;
  if (transposed) {
    for (unsigned i = 0; i < k; ++i)
      for (unsigned r = 0; r < rows; r += together) {
        const std::byte *from = chunk(desc.columnAddress(firstRow + r, i));
        if (!from)
          return false;
        for (unsigned j = 0; j < together; ++j)
          out[(r + j) * k + i] = element(from, j);
      }
    return true;
  }
  for (unsigned r = 0; r < rows; ++r)
    for (unsigned i = 0; i < k; i += together) {
      const std::byte *from =
          chunk(desc.rowAddress(firstRow + r, i * width / 8));
      if (!from)
        return false;
      for (unsigned j = 0; j < together; ++j)
        out[r * k + i + j] = element(from, j);
    }
  return true;
}

template <class T, class F>
bool readOperand(Ctx &c, const Inst &inst, uint64_t bits, Type type,
                 unsigned firstRow, unsigned rows, unsigned k, bool transposed,
                 T *out, F convert) {
  switch (elementBits(type)) {
  case 1:
    return readWidth<1>(c, inst, bits, firstRow, rows, k, false, out, convert);
  case 8:
    return readWidth<8>(c, inst, bits, firstRow, rows, k, false, out, convert);
  case 16:
    return readWidth<16>(c, inst, bits, firstRow, rows, k, transposed, out,
                         convert);
  default:
    return readWidth<32>(c, inst, bits, firstRow, rows, k, false, out, convert);
  }
}

/// A from registers: the layout of mma.sync with 16 rows.
template <class T, class F>
void readRegisters(const Ctx &c, const uint32_t *slots, Type type, unsigned k,
                   T *out, F convert) {
  unsigned bits = elementBits(type), e = 32 / bits;
  for (unsigned r = 0; r < 4; ++r) {
    const uint32_t *lanes = c.src<uint32_t>(slots[r]);
    for (unsigned l = 0; l < Lanes; ++l)
      for (unsigned i = 0; i < e; ++i)
        out[(l / 4 + 8 * (r % 2)) * k + 4 * e * (r / 2) + e * (l % 4) + i] =
            convert(lanes[l] >> (bits * i) &
                    (bits == 32 ? ~0u : (1u << bits) - 1));
  }
}

Step checkWarp(Ctx &c, const Inst &inst, uint32_t mask) {
  bool retry;
  if ((c.warp->index & ~3u) + 4 > c.launch->warpsPerCta)
    return c.fail(inst, firstLane(mask), "missing-lanes",
                  "wgmma needs a warp group of four warps; the CTA has only " +
                      std::to_string(c.launch->warpsPerCta % 4) +
                      " of the last one");
  if (mask == FullMask)
    return Step::Next;
  if (!c.warp->exited && !c.gather(FullMask, retry))
    return retry ? Step::Jump : Step::Block;
  return c.fail(inst, firstLane(mask), "missing-lanes",
                "wgmma needs all lanes of the warp group");
}

/// Do the registers of this wgmma collide with one in flight, or were they
/// touched since the last fence? They are its own until the wait.
void takeRegisters(Ctx &c, const Inst &inst, const WgmmaShape &s) {
  if (!(c.checks & CheckAsync))
    return;
  MatrixState &m = c.warp->matrix;
  const uint32_t *slots = &c.code->ext[inst.ext];
  uint64_t shape = uint64_t(inst.imm) & 0xffffffffffull;
  bool fenced = m.fences, early = false;
  for (unsigned i = 0; i < inst.extCount; ++i) {
    if (slots[i] & ConstBit)
      continue;
    MatrixState::Register &r = m.at(c.frame, slots[i]);
    bool isResult = i < s.dRegs();
    fenced &= r.touchedAt != m.fences + 1;
    // Dots of one shape that add to the same registers follow each other.
    early |= (r.resultOf > m.waited && (!isResult || r.shape != shape)) ||
             (isResult && r.operandOf > m.waited);
    (isResult ? r.resultOf : r.operandOf) = m.group;
    if (isResult)
      r.shape = shape;
  }
  if (!fenced)
    c.note(inst, 0, "missing-fence",
           m.fences ? "registers of this wgmma.mma_async were used after the "
                      "last wgmma.fence.sync.aligned"
                    : "wgmma.mma_async without a wgmma.fence.sync.aligned "
                      "before it");
  if (early)
    c.note(inst, 0, "async-register",
           "a register of another wgmma that is still in flight is used before "
           "wgmma.wait_group");
}

/// Calls f with what makes numbers of an operand's bits.
template <class T, class F> auto withConverter(Type type, F f) {
  if constexpr (std::is_same_v<T, int32_t>) {
    return f([type](uint32_t v) { return matrixInteger(type, v); });
  } else {
    switch (type) {
    case Type::F16:
      return f([](uint32_t v) { return floatFromHalf(uint16_t(v)); });
    case Type::BF16:
      return f([](uint32_t v) { return floatFromBf16(uint16_t(v)); });
    case Type::E4M3:
    case Type::E5M2:
      return f([table = fp8Table(type)](uint32_t v) { return table[v & 255]; });
    default:
      return f([type](uint32_t v) { return matrixFloat(type, v); });
    }
  }
}

/// What the warps of a group gave a dot when it was issued.
struct Product {
  struct Part {
    Warp *warp;
    Frame *frame;
    uint64_t a; ///< the descriptor, if A is not in registers
    bool accumulates;
  };
  std::vector<Part> parts;
  uint64_t b = 0;
};

/// An operand's numbers: of integers, or what sums of floats are made from.
template <class T>
using Numbers =
    std::conditional_t<std::is_same_v<T, float>, SumOperand, std::vector<T>>;
std::vector<int32_t> &valuesOf(std::vector<int32_t> &numbers) {
  return numbers;
}
std::vector<float> &valuesOf(SumOperand &numbers) { return numbers.values; }
/// The values are there.
void finish(std::vector<int32_t> &, Type) {}
void finish(SumOperand &numbers, Type type) {
  numbers.findExponents(leastExponent(type, true));
}

/// B, read once for the group: K rows of N.
template <class T>
bool readB(Ctx &c, const Inst &inst, const WgmmaShape &s,
           const Product &product, Numbers<T> &numbers) {
  uint32_t span = Descriptor(product.b).span(),
           bytes = s.k * elementBits(s.b) / 8;
  if (!s.transposeB && span > 16 && span < bytes) {
    c.fail(inst, 0, "bad-descriptor",
           "a row of B of this sparse product has " + std::to_string(bytes) +
               " bytes along K, more than the swizzle pattern's " +
               std::to_string(span));
    return false;
  }
  std::vector<T> B(size_t(s.n) * s.k);
  if (!withConverter<T>(s.b, [&](auto convert) {
        return readOperand(c, inst, product.b, s.b, 0, s.n, s.k, s.transposeB,
                           B.data(), convert);
      }))
    return false;
  T sign = s.negateA != s.negateB ? T(-1) : T(1);
  std::vector<T> &values = valuesOf(numbers);
  values.resize(B.size());
  for (unsigned k = 0; k < s.k; ++k)
    for (unsigned n = 0; n < s.n; ++n)
      values[size_t(k) * s.n + n] = sign * B[size_t(n) * s.k + k];
  finish(numbers, s.b);
  return true;
}

/// The 16 rows of A of one warp.
template <class T>
bool readA(Ctx &c, const Inst &inst, const WgmmaShape &s,
           const Product::Part &part, Numbers<T> &numbers) {
  unsigned stored = s.stored();
  std::vector<T> &values = valuesOf(numbers);
  values.resize(16 * stored);
  bool good = withConverter<T>(s.a, [&](auto convert) {
    if (!s.registersA)
      return readOperand(c, inst, part.a, s.a, 16 * (part.warp->index % 4), 16,
                         stored, s.transposeA, values.data(), convert);
    readRegisters(c, &c.code->ext[inst.ext] + s.dRegs(), s.a, stored,
                  values.data(), convert);
    return true;
  });
  if (!good)
    return false;
  finish(numbers, s.a);
  return true;
}

/// Rows of B that a row of a sparse A meets.
template <class T>
void selectRows(const std::vector<T> &B, const WgmmaShape &s,
                const SparseColumns &columns, unsigned m, std::vector<T> &out) {
  out.resize(s.stored() * size_t(s.n));
  for (unsigned k = 0; k < s.stored(); ++k)
    std::copy_n(&B[size_t(columns(m, k)) * s.n], s.n, &out[size_t(k) * s.n]);
}
void selectRows(const SumOperand &B, const WgmmaShape &s,
                const SparseColumns &columns, unsigned m, SumOperand &out) {
  selectRows(B.values, s, columns, m, out.values);
  out.findExponents(leastExponent(s.b, true));
}

/// sums += A's row m * B.
void multiplyRow(const WgmmaShape &s, const std::vector<int32_t> &A,
                 const std::vector<int32_t> &B, unsigned m, int64_t *sums) {
  for (unsigned k = 0; k < s.stored(); ++k)
    for (unsigned n = 0; n < s.n; ++n)
      sums[n] += int64_t(A[m * s.stored() + k]) * B[size_t(k) * s.n + n];
}
void multiplyRow(const WgmmaShape &s, const SumOperand &A, const SumOperand &B,
                 unsigned m, float *sums) {
  unsigned k = s.stored();
  addMatrixRow(SumRule::of(s.a, k, true), s.d, A, m * k, B, k, s.n, sums);
}

/// The rows of one warp.
template <class T>
bool multiply(Ctx &c, const Inst &inst, const WgmmaShape &s,
              const Product::Part &part, const Numbers<T> &B) {
  const uint32_t *d = &c.code->ext[inst.ext];
  Numbers<T> A, selected;
  if (!readA<T>(c, inst, s, part, A))
    return false;
  std::optional<SparseColumns> columns;
  if (s.isSparse) {
    uint32_t slot = c.code->ext[inst.ext + inst.extCount - 1];
    columns.emplace(c.src<uint32_t>(slot), s.a, s.k, s.selector, false);
    if (!columns->isMeaningful) {
      c.fail(inst, 0, "bad-metadata",
             "the places that a chunk's metadata names must differ");
      return false;
    }
  }
  using Sum = std::conditional_t<std::is_same_v<T, float>, float, int64_t>;
  std::vector<Sum> sums(16 * size_t(s.n));
  bool halves = s.d == Type::F16;
  auto eachSum = [&](auto f) {
    for (unsigned i = 0; i < s.n / 2u; ++i) {
      uint32_t *words = c.dst<uint32_t>(d[halves ? i / 2 : i]);
      Sum *first = &sums[size_t(8 * (i / 2 % 2)) * s.n + i / 4 * 8 + i % 2];
      for (unsigned row = 0; row < 8; ++row)
        for (unsigned pair = 0; pair < 4; ++pair)
          f(words[4 * row + pair], halves ? 16 * (i % 2) : 0,
            first[size_t(row) * s.n + 2 * pair]);
    }
  };
  if (part.accumulates)
    eachSum([&](uint32_t word, unsigned shift, Sum &sum) {
      if constexpr (std::is_same_v<T, int32_t>)
        sum = int32_t(word);
      else
        sum =
            halves ? floatFromHalf(uint16_t(word >> shift)) : floatOfBits(word);
    });
  for (unsigned m = 0; m < 16; ++m) {
    if (columns)
      selectRows(B, s, *columns, m, selected);
    multiplyRow(s, A, columns ? selected : B, m, &sums[size_t(m) * s.n]);
  }
  eachSum([&](uint32_t &word, unsigned shift, Sum sum) {
    if constexpr (std::is_same_v<T, int32_t>)
      word = inst.mod[0] ? uint32_t(clampToS32(sum)) : uint32_t(sum);
    else if (halves)
      word = (word & ~(0xffffu << shift)) | uint32_t(halfFromDouble(sum))
                                                << shift;
    else
      word = bitsOfFloat(canonical(sum));
  });
  c.worker->counters.addTensor(2ull * 16 * s.n * s.stored(), bitsOf(s.a));
  return true;
}

/// Runs f in the place of each warp of the group, all of which stand at the
/// instruction; then the running one is back.
template <class F> bool eachWarp(Ctx &c, const Inst &inst, F f) {
  Warp *self = c.warp;
  uint32_t running = c.current;
  bool good = true;
  for (unsigned w = self->index & ~3u, end = w + 4; w < end && good; ++w) {
    c.warp = &c.cta->warps[w];
    for (uint32_t i = 0; i < c.warp->frags.size(); ++i) {
      const Fragment &frag = c.warp->frags[i];
      if (c.warp != self && (frag.wait != PtxWait::Group ||
                             &frag.frame->code->insts[frag.pc] != &inst))
        continue;
      if (c.warp == self && i != running)
        continue;
      c.loadFragment(i);
      good = f();
      break;
    }
  }
  if (!good)
    return false;
  c.warp = self;
  c.loadFragment(running);
  return true;
}

/// True once the other three warps of the group wait at the same instruction.
bool groupIsHere(const Ctx &c, const Inst &inst) {
  for (unsigned w = c.warp->index & ~3u, end = w + 4; w < end; ++w) {
    const Warp &warp = c.cta->warps[w];
    bool here = &warp == c.warp;
    for (const Fragment &frag : warp.frags)
      here |= frag.wait == PtxWait::Group &&
              &frag.frame->code->insts[frag.pc] == &inst;
    if (!here)
      return false;
  }
  return true;
}

/// The part of a handler that runs in the place of warps: their registers, then
/// those of the running warp again.
template <class F> bool inPlaceOf(Ctx &c, const Product &product, F f) {
  Warp *warp = c.warp;
  Frame *frame = c.frame;
  bool good = true;
  for (const Product::Part &part : product.parts) {
    c.warp = part.warp;
    c.setFrame(part.frame);
    good = good && f(part);
  }
  c.warp = warp;
  if (frame)
    c.setFrame(frame);
  return good;
}

template <class T>
bool formProduct(Ctx &c, const Inst &inst, const Product &product) {
  WgmmaShape s = WgmmaShape::unpack(inst.imm);
  Numbers<T> B;
  return readB<T>(c, inst, s, product, B) &&
         inPlaceOf(c, product, [&](const Product::Part &part) {
           return multiply<T>(c, inst, s, part, B);
         });
}

/// The dot is formed later. Its reads are checked now; the frames stay
/// until then.
template <class T> bool putOff(Ctx &c, const Inst &inst, Product product) {
  WgmmaShape s = WgmmaShape::unpack(inst.imm);
  Numbers<T> A, B;
  if (!readB<T>(c, inst, s, product, B) ||
      !inPlaceOf(c, product, [&](const Product::Part &part) {
        return readA<T>(c, inst, s, part, A);
      }))
    return false;
  for (const Product::Part &part : product.parts)
    ++part.frame->refs;
  c.cluster->schedule->addProduct(
      c, c.warp->matrix.group, [&inst, product = std::move(product)](Ctx &c) {
        OrderChecker *checker = std::exchange(c.checker, nullptr);
        bool good = formProduct<T>(c, inst, product);
        c.checker = checker;
        for (const Product::Part &part : product.parts)
          c.release(part.frame);
        return good;
      });
  return true;
}

template <bool Integer>
Step execWgmma(Ctx &c, const Inst &inst, uint32_t mask) {
  if (Step s = checkWarp(c, inst, mask); s != Step::Next)
    return s;
  c.saveFragment();
  if (!groupIsHere(c, inst)) {
    c.warp->frags[c.current].wait = PtxWait::Group;
    return Step::Block;
  }
  WgmmaShape s = WgmmaShape::unpack(inst.imm);
  using T = std::conditional_t<Integer, int32_t, float>;
  Product product;
  product.b = c.src<uint64_t>(inst.op[1])[0];
  bool good = eachWarp(c, inst, [&] {
    takeRegisters(c, inst, s);
    product.parts.push_back({c.warp, c.frame,
                             s.registersA ? 0 : c.src<uint64_t>(inst.op[0])[0],
                             (c.pred(inst.op[2]) & 1) != 0});
    if (c.src<uint64_t>(inst.op[1])[0] == product.b)
      return true;
    c.fail(inst, 0, "bad-descriptor",
           "the warps of a warp group give different descriptors");
    return false;
  });
  if (!good)
    return Step::Error;
  if (c.checker)
    c.checker->beginMatrix(c);
  if (!(c.cluster->schedule ? putOff<T>(c, inst, std::move(product))
                            : formProduct<T>(c, inst, product)))
    return Step::Error;
  c.worker->counters.tensorCycles += productCycles(s.n);
  if (c.timeline)
    c.timeline->product(c, s.n);
  for (unsigned w = c.warp->index & ~3u, end = w + 4; w < end; ++w)
    for (Fragment &frag : c.cta->warps[w].frags)
      if (frag.wait == PtxWait::Group) {
        frag.wait = Wait::Ready;
        ++frag.pc;
      }
  return Step::Next;
}
} // namespace

Step tile::sim::execFloatWgmma(Ctx &c, const Inst &inst, uint32_t mask) {
  return execWgmma<false>(c, inst, mask);
}
Step tile::sim::execIntegerWgmma(Ctx &c, const Inst &inst, uint32_t mask) {
  return execWgmma<true>(c, inst, mask);
}

Step tile::sim::execWgmmaFence(Ctx &c, const Inst &, uint32_t) {
  ++c.warp->matrix.fences;
  return Step::Next;
}
Step tile::sim::execWgmmaCommit(Ctx &c, const Inst &, uint32_t) {
  ++c.warp->matrix.group;
  if (c.timeline)
    c.timeline->commit(c, Timeline::Products);
  return Step::Next;
}
Step tile::sim::execWgmmaWait(Ctx &c, const Inst &inst, uint32_t) {
  uint32_t left = uint32_t(inst.imm);
  MatrixState &m = c.warp->matrix;
  if (m.group > left)
    m.waited = std::max(m.waited, m.group - 1 - left);
  if (c.checker)
    c.checker->waitMatrix(c, left);
  if (c.timeline)
    c.timeline->waitGroups(c, Timeline::Products, left);
  return c.cluster->schedule && !c.cluster->schedule->waitProducts(c, m.waited)
             ? Step::Error
             : Step::Next;
}

void tile::sim::touchMatrixRegisters(Ctx &c, const Inst &inst, uint32_t mask) {
  MatrixState &m = c.warp->matrix;
  bool found = false;
  for (uint32_t i = 0; i < inst.regCount; ++i) {
    RegisterUse use = c.code->registers[inst.regs + i];
    MatrixState::Register &r = m.at(c.frame, use.slot);
    // What wgmma only reads may be read by others, too.
    found |= r.resultOf > m.waited || (use.written && r.operandOf > m.waited);
    r.touchedAt = m.fences + 1;
  }
  if (found && (c.checks & CheckAsync))
    c.note(inst, firstLane(mask), "async-register",
           "a register of a wgmma that is still in flight is used before "
           "wgmma.wait_group");
}
