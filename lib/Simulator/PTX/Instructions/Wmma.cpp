//===-- Wmma.cpp - wmma.load, wmma.mma, wmma.store ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The ISA leaves open which lane holds which element of a wmma fragment. Here
// it is as in mma.sync (MatrixTypes.h), with the tiles of a larger shape one
// after the other. An f16 operand has more registers than elements; the further
// ones repeat the first.
//
//===----------------------------------------------------------------------===//
#include "../../Memory.h"
#include "MatrixSums.h"

#include <cstring>

using namespace tile::sim;

namespace {
enum class Role : uint8_t { A, B, C };

/// A matrix spread over a warp's registers.
struct Spread {
  Role role = Role::A;
  Type type = Type::None;
  unsigned m = 0, n = 0, k = 0;

  unsigned bits() const { return bitsOf(type); }
  /// Bits of the register: 32, or 64 for f64.
  unsigned registerBits() const { return type == Type::F64 ? 64 : 32; }
  unsigned perRegister() const { return registerBits() / bits(); }
  unsigned elements() const {
    return role == Role::A ? m * k : role == Role::B ? n * k : m * n;
  }
  /// Registers that hold different elements, and those that the ISA lists.
  unsigned distinct() const { return elements() / perRegister() / Lanes; }
  unsigned registers() const {
    return role != Role::C && type == Type::F16 ? 8 : distinct();
  }
  unsigned rows() const { return role == Role::B ? k : m; }
  unsigned columns() const { return role == Role::A ? k : n; }

  struct MatrixElement {
    unsigned row, column;
  };
  MatrixElement place(unsigned lane, unsigned reg, unsigned i) const {
    unsigned e = perRegister(), group = lane / 4, quad = lane % 4,
             high = role == Role::B ? 8 : std::min(m, 16u), halves = high / 8;
    if (role == Role::C) {
      unsigned at = reg * e + i, perTile = 2 * halves, tile = at / perTile,
               in = at % perTile;
      return {tile / (n / 8) * high + group + 8 * (in / 2),
              tile % (n / 8) * 8 + 2 * quad + in % 2};
    }
    unsigned perTile = high * k / e / Lanes, tile = reg / perTile,
             in = reg % perTile;
    unsigned outer = tile * high + group + 8 * (in % halves),
             inner = 4 * e * (in / halves) + e * quad + i;
    return role == Role::A ? MatrixElement{outer, inner}
                           : MatrixElement{inner, outer};
  }
};

/// What follows the registers in the operand list of a load or store.
enum Extra { ExtraRole, ExtraType, ExtraM, ExtraN, ExtraK };
/// mod[0]: column by column; op[1]: base; op[2]: elements between rows (or
/// columns), or NoSlot.
template <bool Store> Step execMove(Ctx &c, const Inst &inst, uint32_t mask) {
  if (Step s = needWarp(c, inst, mask); s != Step::Next)
    return s;
  const uint32_t *slots = &c.code->ext[inst.ext],
                 *extra = slots + inst.extCount;
  Spread f{Role(extra[ExtraRole]), Type(extra[ExtraType]), extra[ExtraM],
           extra[ExtraN], extra[ExtraK]};
  bool byColumn = inst.mod[0];
  uint64_t base[Lanes];
  gatherAddresses(c, inst, inst.op[1], inst.imm, base);
  unsigned e = f.perRegister(), bits = f.bits();
  auto offset = [&](unsigned l, unsigned r, unsigned i) {
    uint64_t stride = inst.op[2] != NoSlot ? c.src<uint32_t>(inst.op[2])[l]
                      : byColumn           ? f.rows()
                                           : f.columns();
    Spread::MatrixElement p = f.place(l, r, i);
    return byColumn ? p.column * stride + p.row : p.row * stride + p.column;
  };
  // Neighbours of a register that are neighbours in memory move as one.
  bool whole = e == 1 || offset(0, 0, 1) == offset(0, 0, 0) + 1;
  unsigned pieces = whole ? 1 : e, size = (whole ? f.registerBits() : bits) / 8;
  for (unsigned r = 0; r < f.distinct(); ++r)
    for (unsigned i = 0; i < pieces; ++i) {
      Translation t;
      for (unsigned l = 0; l < Lanes; ++l) {
        uint64_t at = offset(l, r, i) * bits;
        if (at & 7)
          return c.fail(inst, l, "misaligned",
                        "a row of the matrix does not start at a whole byte");
        t.address[l] = base[l] + at / 8;
      }
      if (!translate(c, inst, FullMask, inst.space, size,
                     Store ? Access::Store : Access::Load, t))
        return Step::Error;
      for (unsigned l = 0; l < Lanes; ++l) {
        std::byte *held =
            f.registerBits() == 64
                ? reinterpret_cast<std::byte *>(c.dst<uint64_t>(slots[r]) + l)
                : reinterpret_cast<std::byte *>(c.dst<uint32_t>(slots[r]) + l);
        held += i * size;
        std::memcpy(Store ? t.host[l] : held, Store ? held : t.host[l], size);
      }
    }
  if (Store) {
    ++c.cluster->stores;
    return Step::Next;
  }
  for (unsigned r = f.distinct(); r < f.registers(); ++r)
    commit(c.dst<uint32_t>(slots[r]), c.src<uint32_t>(slots[r % f.distinct()]),
           FullMask);
  return Step::Next;
}

//===-- The product -------------------------------------------------------===//

/// The four matrices of a dot: kept in imm.
struct Product {
  uint8_t m, n, k;
  Type d, a, b, c;
  int64_t pack() const {
    return int64_t(m) | int64_t(n) << 8 | int64_t(k) << 16 | int64_t(d) << 24 |
           int64_t(a) << 32 | int64_t(b) << 40 | int64_t(c) << 48;
  }
  static Product unpack(int64_t v) {
    return {uint8_t(v),          uint8_t(v >> 8),     uint8_t(v >> 16),
            Type(v >> 24 & 255), Type(v >> 32 & 255), Type(v >> 40 & 255),
            Type(v >> 48 & 255)};
  }
  Spread spread(Role role, Type type) const { return {role, type, m, n, k}; }
  bool isValid() const {
    auto shape = [&](unsigned wantM, unsigned wantN, unsigned wantK) {
      return m == wantM && n == wantN && k == wantK;
    };
    bool large = shape(16, 16, 16) || shape(8, 32, 16) || shape(32, 8, 16),
         floats = c == Type::F32 && d == Type::F32;
    switch (a) {
    case Type::F16:
      return b == a && large && (c == Type::F16 || c == Type::F32) &&
             (d == Type::F16 || d == Type::F32);
    case Type::BF16:
      return b == a && large && floats;
    case Type::TF32:
      return b == a && shape(16, 16, 8) && floats;
    case Type::F64:
      return b == a && c == a && d == a && shape(8, 8, 4);
    case Type::S8:
    case Type::U8:
      return (b == Type::S8 || b == Type::U8) && large;
    case Type::S4:
    case Type::U4:
      return (b == Type::S4 || b == Type::U4) && shape(8, 8, 32);
    case Type::B1:
      return b == a && shape(8, 8, 128);
    default:
      return false;
    }
  }
};

/// An operand row by row along K: element (outer, k) at outer * K + k.
template <class T, class Read>
void gatherOperand(const Ctx &c, const Spread &f, const uint32_t *slots, T *out,
                   Read read) {
  unsigned e = f.perRegister(), bits = f.bits();
  for (unsigned r = 0; r < f.distinct(); ++r)
    for (unsigned l = 0; l < Lanes; ++l)
      for (unsigned i = 0; i < e; ++i) {
        Spread::MatrixElement p = f.place(l, r, i);
        unsigned at =
            f.role == Role::A ? p.row * f.k + p.column : p.column * f.k + p.row;
        if constexpr (std::is_same_v<T, double>) {
          if (f.type == Type::F64) {
            out[at] = c.src<double>(slots[r])[l];
            continue;
          }
        }
        out[at] = T(read(f.type, c.src<uint32_t>(slots[r])[l] >> (bits * i) &
                                     (bits == 32 ? ~0u : (1u << bits) - 1)));
      }
}

/// As mma.sync adds them; rows of K of A, columns of K of B.
void addRows(const Product &p, const double *a, const double *b, double *sums) {
  SumOperand A, B;
  A.values.assign(a, a + p.m * p.k);
  A.findExponents(leastExponent(p.a, false));
  B.values.resize(p.k * p.n);
  for (unsigned n = 0; n < p.n; ++n)
    for (unsigned k = 0; k < p.k; ++k)
      B.values[k * p.n + n] = float(b[n * p.k + k]);
  B.findExponents(leastExponent(p.b, false));
  // Of one of tf32, ptxas makes two instructions with half of K each.
  unsigned k = p.a == Type::TF32 ? p.k / 2 : p.k;
  for (unsigned m = 0; m < p.m; ++m) {
    float row[32];
    std::copy_n(sums + m * p.n, p.n, row);
    addMatrixRow(SumRule::of(p.a, k, false), p.d, A, m * p.k, B, p.k, p.n, row);
    std::copy_n(row, p.n, sums + m * p.n);
  }
}
void addRows(const Product &, const int64_t *, const int64_t *, int64_t *) {}

/// T: double for floating point, int64_t for integers. mod[0]: saturate;
/// mod[1]: 1 xor, 2 and of single bits.
template <class T> Step execProduct(Ctx &c, const Inst &inst, uint32_t mask) {
  if (Step s = needWarp(c, inst, mask); s != Step::Next)
    return s;
  Product p = Product::unpack(inst.imm);
  Spread fd = p.spread(Role::C, p.d), fa = p.spread(Role::A, p.a),
         fb = p.spread(Role::B, p.b), fc = p.spread(Role::C, p.c);
  const uint32_t *d = &c.code->ext[inst.ext], *a = d + fd.registers(),
                 *b = a + fa.registers(), *acc = b + fb.registers();
  T A[1024], B[1024], sums[1024]; // 8 x 128 and 32 x 16 are the largest
  auto read = [](Type type, uint32_t bits) {
    if constexpr (std::is_same_v<T, double>)
      return matrixFloat(type, bits);
    else
      return matrixInteger(type, bits);
  };
  gatherOperand(c, fa, a, A, read);
  gatherOperand(c, fb, b, B, read);
  for (unsigned r = 0; r < fc.distinct(); ++r)
    for (unsigned l = 0; l < Lanes; ++l)
      for (unsigned i = 0; i < fc.perRegister(); ++i) {
        Spread::MatrixElement at = fc.place(l, r, i);
        T &sum = sums[at.row * p.n + at.column];
        if constexpr (std::is_same_v<T, double>)
          sum = p.c == Type::F64   ? c.src<double>(acc[r])[l]
                : p.c == Type::F16 ? double(floatFromHalf(uint16_t(
                                         c.src<uint32_t>(acc[r])[l] >> 16 * i)))
                                   : double(c.src<float>(acc[r])[l]);
        else
          sum = int32_t(c.src<uint32_t>(acc[r])[l]);
      }
  bool isSum = std::is_same_v<T, double> && p.a != Type::F64;
  if (isSum)
    addRows(p, A, B, sums);
  for (unsigned m = 0; m < p.m && !isSum; ++m)
    for (unsigned n = 0; n < p.n; ++n) {
      const T *x = A + m * p.k, *y = B + n * p.k;
      T &sum = sums[m * p.n + n];
      for (unsigned k = 0; k < p.k; ++k)
        if constexpr (std::is_same_v<T, double>)
          sum = std::fma(x[k], y[k], sum);
        else
          sum += inst.mod[1] == 1 ? x[k] ^ y[k] : x[k] * y[k];
    }
  for (unsigned r = 0; r < fd.distinct(); ++r)
    for (unsigned l = 0; l < Lanes; ++l)
      for (unsigned i = 0; i < fd.perRegister(); ++i) {
        Spread::MatrixElement at = fd.place(l, r, i);
        T sum = sums[at.row * p.n + at.column];
        if constexpr (std::is_same_v<T, double>) {
          uint32_t half = 0;
          switch (p.d) {
          case Type::F64:
            c.dst<double>(d[r])[l] = sum;
            break;
          case Type::F16: {
            half = halfFromDouble(sum);
            uint32_t &word = c.dst<uint32_t>(d[r])[l];
            word = i ? (word & 0xffff) | half << 16 : half;
            break;
          }
          default:
            c.dst<float>(d[r])[l] = canonical(float(sum));
          }
        } else {
          c.dst<uint32_t>(d[r])[l] =
              inst.mod[0] ? uint32_t(clampToS32(sum)) : uint32_t(sum);
        }
      }
  c.worker->counters.addTensor(2ull * p.m * p.n * p.k, bitsOf(p.a));
  return Step::Next;
}

//===-- Decoding ----------------------------------------------------------===//

Type registerTypeOf(Type type) {
  return type == Type::F64 ? Type::F64 : Type::B32;
}

bool decodeMove(FunctionDecoder &d, bool store) {
  int role = d.hasOneOf({"a", "b", "c", "d"});
  if (role < 0 || store != (role == 3))
    return d.error(store ? "needs .d" : "needs .a, .b or .c");
  int layout = d.hasOneOf({"row", "col"});
  if (layout < 0)
    return d.error("needs .row or .col");
  Spread f;
  f.role = Role(std::min(role, 2));
  if (!takeMatrixShape(d, f.m, f.n, f.k))
    return false;
  if (f.k > 128)
    return d.error("there is no such shape");
  int space = d.hasOneOf({"global", "shared", "shared::cta"});
  d.inst.space = space < 0    ? Space::Generic
                 : space == 0 ? Space::Global
                              : Space::Shared;
  f.type = d.takeType();
  // Any dot that takes such a fragment will do.
  Product p{uint8_t(f.m), uint8_t(f.n), uint8_t(f.k), f.type,
            f.type,       f.type,       f.type};
  bool valid = false;
  if (f.role != Role::C) {
    p.c = p.d = f.type == Type::F64 ? Type::F64 : Type::F32;
    valid = p.isValid();
  } else {
    for (Type a :
         {Type::F16, Type::TF32, Type::F64, Type::S8, Type::S4, Type::B1}) {
      p.a = p.b = a;
      bool integer = isIntegerMatrix(a);
      valid |= integer == (f.type == Type::S32) && p.isValid();
    }
  }
  if (!valid)
    return d.error("this shape and this type do not go together");
  if (f.role != Role::C && f.bits() < 8 && (f.role == Role::A) != (layout == 0))
    return d.error("sub-byte elements need .row for a and .col for b");
  if (!d.expectOperands(2, 3))
    return false;
  Space ignored = d.inst.space;
  if (!d.address(d.operand(store ? 0 : 1), 1, ignored))
    return false;
  d.inst.space = ignored;
  if (d.operandCount() == 3 && !d.src(2, Type::B32, 2))
    return false;
  std::vector<uint32_t> slots;
  if (!takeMatrixRegisters(d, d.operand(store ? 1 : 0), f.registers(),
                           registerTypeOf(f.type), !store, slots))
    return false;
  // A store reads its registers through the same pointers as a load, so
  // constants, which live elsewhere, are not for it.
  for (uint32_t slot : slots)
    if (slot & ConstBit)
      return d.error("expected registers");
  // The fragment's shape stands behind the registers.
  auto registers = uint16_t(slots.size());
  slots.insert(slots.end(),
               {uint32_t(f.role), uint32_t(f.type), f.m, f.n, f.k});
  d.setExt(slots);
  d.inst.extCount = registers;
  d.inst.mod[0] = uint8_t(layout);
  return d.emit(store ? execMove<true> : execMove<false>,
                store ? Class::Store : Class::Load);
}

bool decodeProduct(FunctionDecoder &d) {
  int bits = d.hasOneOf({"xor", "and"});
  if (d.has("popc") != (bits >= 0))
    return d.error("single bits need .xor.popc or .and.popc");
  // The order in memory was settled by the load; here it only has to be there.
  for (int i = 0; i < 2; ++i)
    if (d.hasOneOf({"row", "col"}) < 0)
      return d.error("needs the layouts of a and b");
  unsigned m, n, k;
  if (!takeMatrixShape(d, m, n, k))
    return false;
  if (k > 128)
    return d.error("there is no such shape");
  Product p{uint8_t(m),   uint8_t(n), uint8_t(k), d.takeType(),
            d.takeType(), Type::None, Type::None};
  p.b = d.takeType();
  p.c = d.takeType();
  if (p.b == Type::None) {
    // Two types: of the result and of the accumulator; the operands are f16.
    p.c = p.a;
    p.a = p.b = Type::F16;
  }
  bool integer = isIntegerMatrix(p.a);
  if (integer)
    d.inst.mod[0] = d.has("satfinite");
  if (p.a == Type::F64)
    d.has("rn");
  d.inst.mod[1] = uint8_t(bits + 1);
  if (!p.isValid() || (integer && (p.c != Type::S32 || p.d != Type::S32)) ||
      (p.a == Type::B1) != (bits >= 0))
    return d.error("this shape and these types do not go together");
  if (!d.expectOperands(4, 4))
    return false;
  std::vector<uint32_t> slots, results;
  Spread spreads[] = {p.spread(Role::A, p.a), p.spread(Role::B, p.b),
                      p.spread(Role::C, p.c), p.spread(Role::C, p.d)};
  for (unsigned i = 0; i < 3; ++i)
    if (!takeMatrixRegisters(d, d.operand(i + 1), spreads[i].registers(),
                             registerTypeOf(spreads[i].type), false, slots))
      return false;
  if (!takeMatrixRegisters(d, d.operand(0), spreads[3].registers(),
                           registerTypeOf(p.d), true, results))
    return false;
  results.insert(results.end(), slots.begin(), slots.end());
  d.setExt(results);
  d.inst.imm = p.pack();
  return d.emit(integer ? execProduct<int64_t> : execProduct<double>,
                Class::Tensor);
}

bool decodeWmma(FunctionDecoder &d) {
  d.has("sync");
  d.has("aligned");
  if (d.has("load"))
    return decodeMove(d, false);
  if (d.has("store"))
    return decodeMove(d, true);
  return d.has("mma") ? decodeProduct(d) : d.error("unknown operation of wmma");
}
} // namespace

void tile::sim::registerWmma(DecodeTable &t) {
  t.insert({{"wmma", decodeWmma}});
}
