//===-- Wgmma.cpp - wgmma -------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The four warps of a group meet at the instruction, and the last one to come
// issues the product for all: warp w has rows 16 w to 16 w + 15 of the 64. It
// is formed at once, or, with a schedule, at some time until wgmma.wait_group:
// only then are registers and shared memory read. The checker hears of the
// reads at the instruction and holds both back until the wait.
//
// A descriptor names core matrices of 8 rows of 16 bytes. With a swizzle of W
// bytes (32, 64, 128), rows are W bytes apart and 16-byte chunks are permuted
// by the row's number, both seen in the address; the base offset is the number
// that the pattern's first row has there.
//
//===----------------------------------------------------------------------===//
#include "../Checkers/OrderChecker.h"
#include "../Memory.h"
#include "../Schedule.h"
#include "../Timeline.h"
#include "MatrixSums.h"

#include <algorithm>
#include <charconv>
#include <cstring>

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

/// Kept in Inst::imm.
struct Shape {
  uint16_t n, k;
  Type d, a, b;
  bool registersA, transposeA, transposeB, negateA, negateB;
  int64_t pack() const {
    return int64_t(n) | int64_t(k) << 16 | int64_t(d) << 32 | int64_t(a) << 40 |
           int64_t(b) << 48 |
           int64_t(registersA | transposeA << 1 | transposeB << 2 |
                   negateA << 3 | negateB << 4)
               << 56;
  }
  static Shape unpack(int64_t v) {
    unsigned flags = unsigned(v >> 56 & 255);
    return {uint16_t(v),         uint16_t(v >> 16),   Type(v >> 32 & 255),
            Type(v >> 40 & 255), Type(v >> 48 & 255), (flags & 1) != 0,
            (flags & 2) != 0,    (flags & 4) != 0,    (flags & 8) != 0,
            (flags & 16) != 0};
  }
  unsigned dRegs() const { return d == Type::F16 ? n / 4u : n / 2u; }
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
void takeRegisters(Ctx &c, const Inst &inst, const Shape &s) {
  if (!(c.checks & CheckAsync))
    return;
  MatrixState &m = c.warp->matrix;
  const uint32_t *slots = &c.code->ext[inst.ext];
  uint64_t shape = uint64_t(inst.imm) & 0xffffffffffull;
  bool fenced = m.fences, early = false;
  for (unsigned i = 0; i < inst.extCount; ++i) {
    MatrixState::Register &r = m.at(c.frame, slots[i]);
    bool isResult = i < s.dRegs();
    fenced &= r.touchedAt != m.fences + 1;
    // Products of one shape that add to the same registers follow each other.
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

/// Numbers of one operand; the tables of fp8 are looked up once.
template <class T> auto converter(Type type) {
  const float *table =
      type == Type::E4M3 || type == Type::E5M2 ? fp8Table(type) : nullptr;
  return [type, table](uint32_t v) -> T {
    (void)table;
    if constexpr (std::is_same_v<T, int32_t>)
      return matrixInteger(type, v);
    else
      return table ? table[v & 255] : matrixFloat(type, v);
  };
}

/// What the warps of a group gave a product when it was issued.
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
void setNumber(std::vector<int32_t> &numbers, size_t at, int32_t value, Type) {
  numbers[at] = value;
}
void setNumber(SumOperand &numbers, size_t at, float value, Type type) {
  numbers.set(at, value, leastExponent(type, true));
}

/// B, read once for the group: K rows of N.
template <class T>
bool readB(Ctx &c, const Inst &inst, const Shape &s, const Product &product,
           Numbers<T> &numbers) {
  std::vector<T> B(size_t(s.n) * s.k);
  if (!readOperand(c, inst, product.b, s.b, 0, s.n, s.k, s.transposeB, B.data(),
                   converter<T>(s.b)))
    return false;
  T sign = s.negateA != s.negateB ? T(-1) : T(1);
  numbers.resize(B.size());
  for (unsigned n = 0; n < s.n; ++n)
    for (unsigned k = 0; k < s.k; ++k)
      setNumber(numbers, size_t(k) * s.n + n, sign * B[size_t(n) * s.k + k],
                s.b);
  return true;
}

/// The 16 rows of A of one warp.
template <class T>
bool readA(Ctx &c, const Inst &inst, const Shape &s, const Product::Part &part,
           Numbers<T> &numbers) {
  std::vector<T> A(16 * s.k);
  if (s.registersA)
    readRegisters(c, &c.code->ext[inst.ext] + s.dRegs(), s.a, s.k, A.data(),
                  converter<T>(s.a));
  else if (!readOperand(c, inst, part.a, s.a, 16 * (part.warp->index % 4), 16,
                        s.k, s.transposeA, A.data(), converter<T>(s.a)))
    return false;
  numbers.resize(A.size());
  for (size_t i = 0; i < A.size(); ++i)
    setNumber(numbers, i, A[i], s.a);
  return true;
}

/// sums += A's row m * B.
void multiplyRow(const Shape &s, const std::vector<int32_t> &A,
                 const std::vector<int32_t> &B, unsigned m, int64_t *sums) {
  for (unsigned k = 0; k < s.k; ++k)
    for (unsigned n = 0; n < s.n; ++n)
      sums[n] += int64_t(A[m * s.k + k]) * B[size_t(k) * s.n + n];
}
void multiplyRow(const Shape &s, const SumOperand &A, const SumOperand &B,
                 unsigned m, float *sums) {
  addMatrixRow(SumRule::of(s.a, s.k, true), s.d, A, m * s.k, B, s.k, s.n, sums);
}

/// The rows of one warp.
template <class T>
bool multiply(Ctx &c, const Inst &inst, const Shape &s,
              const Product::Part &part, const Numbers<T> &B) {
  const uint32_t *d = &c.code->ext[inst.ext];
  Numbers<T> A;
  if (!readA<T>(c, inst, s, part, A))
    return false;
  using Sum = std::conditional_t<std::is_same_v<T, float>, float, int64_t>;
  std::vector<Sum> sums(16 * size_t(s.n));
  bool halves = s.d == Type::F16;
  auto eachSum = [&](auto f) {
    for (unsigned i = 0; i < s.n / 2u; ++i)
      for (unsigned l = 0; l < Lanes; ++l) {
        unsigned row = l / 4 + 8 * (i / 2 % 2),
                 column = i / 4 * 8 + 2 * (l % 4) + i % 2;
        f(c.dst<uint32_t>(d[halves ? i / 2 : i])[l], halves ? 16 * (i % 2) : 0,
          sums[size_t(row) * s.n + column]);
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
  for (unsigned m = 0; m < 16; ++m)
    multiplyRow(s, A, B, m, &sums[size_t(m) * s.n]);
  eachSum([&](uint32_t &word, unsigned shift, Sum sum) {
    if constexpr (std::is_same_v<T, int32_t>)
      word = inst.mod[0] ? uint32_t(clampToS32(sum)) : uint32_t(sum);
    else if (halves)
      word = (word & ~(0xffffu << shift)) | uint32_t(halfFromDouble(sum))
                                                << shift;
    else
      word = bitsOfFloat(canonical(sum));
  });
  c.worker->counters.tensorFlops += 2ull * 16 * s.n * s.k;
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
      if (c.warp != self && (frag.wait != Wait::Group ||
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
      here |= frag.wait == Wait::Group &&
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
  Shape s = Shape::unpack(inst.imm);
  Numbers<T> B;
  return readB<T>(c, inst, s, product, B) &&
         inPlaceOf(c, product, [&](const Product::Part &part) {
           return multiply<T>(c, inst, s, part, B);
         });
}

/// The product is formed later. Its reads are checked now; the frames stay
/// until then.
template <class T> bool putOff(Ctx &c, const Inst &inst, Product product) {
  Shape s = Shape::unpack(inst.imm);
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

/// ext: D, then A's registers if any; op[0]: A's descriptor, op[1]: B's, op[2]:
/// scale-d.
template <bool Integer>
Step execWgmma(Ctx &c, const Inst &inst, uint32_t mask) {
  if (Step s = checkWarp(c, inst, mask); s != Step::Next)
    return s;
  c.saveFragment();
  if (!groupIsHere(c, inst)) {
    c.warp->frags[c.current].wait = Wait::Group;
    return Step::Block;
  }
  Shape s = Shape::unpack(inst.imm);
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
  if (c.timeline)
    c.timeline->product(c, s.n);
  for (unsigned w = c.warp->index & ~3u, end = w + 4; w < end; ++w)
    for (Fragment &frag : c.cta->warps[w].frags)
      if (frag.wait == Wait::Group) {
        frag.wait = Wait::Ready;
        ++frag.pc;
      }
  return Step::Next;
}

Step execFence(Ctx &c, const Inst &, uint32_t) {
  ++c.warp->matrix.fences;
  return Step::Next;
}
Step execCommit(Ctx &c, const Inst &, uint32_t) {
  ++c.warp->matrix.group;
  if (c.timeline)
    c.timeline->commit(c, Timeline::Products);
  return Step::Next;
}
Step execWait(Ctx &c, const Inst &inst, uint32_t) {
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

bool isValid(const Shape &s) {
  if (s.n < 8 || s.n > 256 || s.n % 8)
    return false;
  bool f32 = s.d == Type::F32, half = f32 || s.d == Type::F16;
  switch (s.a) {
  case Type::F16:
    return s.b == s.a && s.k == 16 && half;
  case Type::BF16:
    return s.b == s.a && s.k == 16 && f32;
  case Type::TF32:
    return s.b == s.a && s.k == 8 && f32;
  case Type::E4M3:
  case Type::E5M2:
    return (s.b == Type::E4M3 || s.b == Type::E5M2) && s.k == 32 && half;
  case Type::S8:
  case Type::U8:
    return (s.b == Type::S8 || s.b == Type::U8) && s.k == 32 &&
           s.d == Type::S32;
  case Type::B1:
    return s.b == s.a && s.k == 256 && s.d == Type::S32;
  default:
    return false;
  }
}

bool sign(FunctionDecoder &d, size_t index, bool &negate) {
  int64_t v = 0;
  if (!d.immediate(d.operand(index), v))
    return false;
  negate = v == -1;
  return v == 1 || v == -1 || d.errorAt(d.operand(index), "expected 1 or -1");
}
bool flag(FunctionDecoder &d, size_t index, bool &out) {
  int64_t v = 0;
  if (!d.immediate(d.operand(index), v))
    return false;
  out = v == 1;
  return v == 0 || v == 1 || d.errorAt(d.operand(index), "expected 0 or 1");
}

bool decodeProduct(FunctionDecoder &d) {
  Shape s{};
  std::string_view rest;
  if (d.has("sp"))
    return d.error("sparse matrices are not supported by the simulator");
  if (!d.hasPrefix("m64n", rest))
    return d.error("needs a shape");
  unsigned n = 0, k = 0;
  size_t at = rest.find('k');
  if (at == std::string_view::npos)
    return d.error("needs a shape");
  std::from_chars(rest.data(), rest.data() + at, n);
  std::from_chars(rest.data() + at + 1, rest.data() + rest.size(), k);
  s.n = uint16_t(n);
  s.k = uint16_t(k);
  d.inst.mod[0] = d.has("satfinite");
  bool bits = d.has("and");
  d.has("popc");
  s.d = d.takeType();
  s.a = d.takeType();
  s.b = d.takeType();
  if (!isValid(s) || bits != (s.a == Type::B1))
    return d.error("this shape and these types do not go together");
  bool integer = isIntegerMatrix(s.a),
       half = s.a == Type::F16 || s.a == Type::BF16;
  s.registersA =
      d.operandCount() > 1 && d.operand(1).kind == ast::Operand::Kind::Vector;
  size_t operands = 4 + (integer ? 0 : 2) + (half ? (s.registersA ? 1 : 2) : 0);
  if (!d.expectOperands(operands, operands))
    return false;
  auto results = d.elements(d.operand(0));
  if (results.size() != s.dRegs())
    return d.errorAt(d.operand(0), "expected " + std::to_string(s.dRegs()) +
                                       " registers, found " +
                                       std::to_string(results.size()));
  std::vector<uint32_t> slots;
  for (const ast::Operand *e : results)
    if (!d.dst(*e, Type::B32, slots.emplace_back()))
      return false;
  if (s.registersA) {
    auto list = d.elements(d.operand(1));
    if (list.size() != 4)
      return d.errorAt(d.operand(1), "expected 4 registers");
    for (const ast::Operand *e : list)
      if (!d.src(*e, Type::B32, slots.emplace_back()))
        return false;
  } else if (!d.src(1, Type::B64, 0)) {
    return false;
  }
  if (!d.src(2, Type::B64, 1) || !d.src(3, Type::Pred, 2))
    return false;
  if (!integer && (!sign(d, 4, s.negateA) || !sign(d, 5, s.negateB)))
    return false;
  if (half) {
    if (!s.registersA && !flag(d, 6, s.transposeA))
      return false;
    if (!flag(d, operands - 1, s.transposeB))
      return false;
  }
  d.inst.ext = d.beginExt();
  d.inst.extCount = uint16_t(slots.size());
  for (uint32_t slot : slots)
    d.pushExt(slot);
  d.inst.imm = s.pack();
  d.inst.isWgmma = true;
  return d.emit(integer ? execWgmma<true> : execWgmma<false>, Class::Tensor);
}

bool decodeWgmma(FunctionDecoder &d) {
  d.has("sync");
  d.has("aligned");
  if (d.has("fence"))
    return d.expectOperands(0, 0) && d.emit(execFence, Class::Barrier);
  if (d.has("commit_group"))
    return d.expectOperands(0, 0) && d.emit(execCommit, Class::Barrier);
  if (d.has("wait_group"))
    return d.expectOperands(1, 1) && d.immediate(d.operand(0), d.inst.imm) &&
           d.emit(execWait, Class::Barrier);
  return d.has("mma_async") ? decodeProduct(d)
                            : d.error("unknown operation of wgmma");
}
} // namespace

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

void tile::sim::registerWgmma(DecodeTable &t) {
  t.insert({{"wgmma", decodeWgmma}});
}
