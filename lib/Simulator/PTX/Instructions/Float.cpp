//===-- Float.cpp - Single and double precision arithmetic ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Families.h"

#include <cfenv>

using namespace tile::sim;

namespace {
struct FAdd {
  static float f(float a, float b) { return a + b; }
};
struct FSub {
  static float f(float a, float b) { return a - b; }
};
struct FMul {
  static float f(float a, float b) { return a * b; }
};
struct FDiv {
  static float f(float a, float b) { return a / b; }
};
struct FFma {
  static float f(float a, float b, float c) { return fusedFloat(a, b, c); }
};

/// Applies flushing, the one NaN and saturation around an operation.
template <class Op, bool Ftz, bool Sat, class... A> inline float wrap(A... a) {
  float r = canonical(ftzIf<Ftz>(Op::f(ftzIf<Ftz>(a)...)));
  if constexpr (Sat)
    r = saturate(r);
  return r;
}
template <class Op, bool Ftz, bool Sat> float two(float a, float b) {
  return wrap<Op, Ftz, Sat>(a, b);
}
template <class Op, bool Ftz, bool Sat> float three(float a, float b, float c) {
  return wrap<Op, Ftz, Sat>(a, b, c);
}
template <class Op> ExecFn pickTwo(bool ftz, bool sat) {
  return ftz ? (sat ? map<two<Op, true, true>> : map<two<Op, true, false>>)
             : (sat ? map<two<Op, false, true>> : map<two<Op, false, false>>);
}
ExecFn pickFma(bool ftz, bool sat) {
  return ftz ? (sat ? map<three<FFma, true, true>>
                    : map<three<FFma, true, false>>)
             : (sat ? map<three<FFma, false, true>>
                    : map<three<FFma, false, false>>);
}

/// Two floats in one register: the operation on each half.
template <class Op, bool Ftz, class... A> uint64_t onHalves(A... a) {
  return uint64_t(bitsOfFloat(
             wrap<Op, Ftz, false>(floatOfBits(uint32_t(a >> 32))...)))
             << 32 |
         bitsOfFloat(wrap<Op, Ftz, false>(floatOfBits(uint32_t(a))...));
}
template <class Op, bool Ftz> uint64_t pairOfTwo(uint64_t a, uint64_t b) {
  return onHalves<Op, Ftz>(a, b);
}
template <class Op, bool Ftz>
uint64_t pairOfThree(uint64_t a, uint64_t b, uint64_t c) {
  return onHalves<Op, Ftz>(a, b, c);
}

//===-- Directed rounding -------------------------------------------------===//

double divideToOdd(double a, double b) {
  double q = a / b;
  if (q != q || std::isinf(q) || q == 0)
    return q;
  double rest = std::fma(-q, b, a);
  uint64_t bits = bitsOfDouble(q);
  if (rest == 0 || (bits & 1))
    return q;
  bool up = (rest > 0) == (b > 0) ? q > 0 : q < 0;
  return doubleOfBits(up ? bits + 1 : bits - 1);
}
double sqrtToOdd(double a) {
  double r = std::sqrt(a);
  if (!(r > 0) || std::isinf(r))
    return r;
  double rest = std::fma(-r, r, a);
  uint64_t bits = bitsOfDouble(r);
  return rest == 0 || (bits & 1) ? r
                                 : doubleOfBits(rest > 0 ? bits + 1 : bits - 1);
}

enum class FloatOp : uint8_t { Add, Sub, Mul, Div, Fma, Rcp, Sqrt };

/// How an operation in any direction rounds: mod[1] and mod[2].
struct Directed {
  FloatOp op;
  Round round;
  bool ftz;

  explicit Directed(const Inst &inst)
      : op(FloatOp(inst.mod[0])), round(Round(inst.mod[1])), ftz(inst.mod[2]) {}

  float operator()(float first, float second, float third) const {
    double a = ftz ? flush(first) : first, b = ftz ? flush(second) : second,
           k = ftz ? flush(third) : third;
    double r = getExact(a, b, k);
    // An exact zero from a sum of opposite numbers is negative when rounding
    // down.
    bool isSum = op == FloatOp::Add || op == FloatOp::Sub || op == FloatOp::Fma;
    if (r == 0 && round == Round::Down && isSum) {
      double x = op == FloatOp::Fma ? a * b : a, y = op == FloatOp::Fma   ? k
                                                     : op == FloatOp::Sub ? -b
                                                                          : b;
      if (!(std::signbit(x) == std::signbit(y) && !std::signbit(x)))
        r = -0.0;
    }
    float f = canonical(floatFromDouble(r, round));
    return ftz ? flush(f) : f;
  }

private:
  /// With enough bits to be rounded again.
  double getExact(double a, double b, double k) const {
    switch (op) {
    case FloatOp::Add:
      return addToOdd(a, b);
    case FloatOp::Sub:
      return addToOdd(a, -b);
    case FloatOp::Mul:
      return a * b;
    case FloatOp::Div:
      return divideToOdd(a, b);
    case FloatOp::Fma:
      return addToOdd(a * b, k);
    case FloatOp::Rcp:
      return divideToOdd(1.0, a);
    case FloatOp::Sqrt:
      return sqrtToOdd(a);
    }
    return 0;
  }
};

/// Any operation in any direction: mod[0] operation, mod[1] rounding, mod[2]
/// ftz, mod[3] sat.
Step execDirected32(Ctx &c, const Inst &inst, uint32_t mask) {
  float *out = c.dst<float>(inst.op[0]);
  const float *pa = c.src<float>(inst.op[1]);
  const float *pb = inst.op[2] != NoSlot ? c.src<float>(inst.op[2]) : pa;
  const float *pc = inst.op[3] != NoSlot ? c.src<float>(inst.op[3]) : pa;
  Directed compute(inst);
  eachLane(mask, [&](unsigned l) {
    float f = compute(pa[l], pb[l], pc[l]);
    out[l] = inst.mod[3] ? saturate(f) : f;
  });
  return Step::Next;
}

/// The same on both floats of a register.
Step execDirectedPair(Ctx &c, const Inst &inst, uint32_t mask) {
  uint64_t *out = c.dst<uint64_t>(inst.op[0]);
  const uint64_t *pa = c.src<uint64_t>(inst.op[1]);
  const uint64_t *pb = c.src<uint64_t>(inst.op[2]);
  const uint64_t *pc = inst.op[3] != NoSlot ? c.src<uint64_t>(inst.op[3]) : pa;
  Directed compute(inst);
  eachLane(mask, [&](unsigned l) {
    uint64_t pair = 0;
    for (unsigned shift : {0, 32}) {
      auto half = [&](const uint64_t *from) {
        return floatOfBits(uint32_t(from[l] >> shift));
      };
      pair |= uint64_t(bitsOfFloat(compute(half(pa), half(pb), half(pc))))
              << shift;
    }
    out[l] = pair;
  });
  return Step::Next;
}

Step execDirected64(Ctx &c, const Inst &inst, uint32_t mask) {
  double *out = c.dst<double>(inst.op[0]);
  const double *pa = c.src<double>(inst.op[1]);
  const double *pb = inst.op[2] != NoSlot ? c.src<double>(inst.op[2]) : pa;
  const double *pc = inst.op[3] != NoSlot ? c.src<double>(inst.op[3]) : pa;
  static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD,
                              FE_UPWARD, FE_TONEAREST};
  int saved = std::fegetround();
  std::fesetround(modes[inst.mod[1]]);
  eachLane(mask, [&](unsigned l) {
    // Volatile keeps the operation between the two changes of the rounding
    // mode.
    volatile double a = pa[l], b = pb[l], k = pc[l], r = 0;
    switch (FloatOp(inst.mod[0])) {
    case FloatOp::Add:
      r = a + b;
      break;
    case FloatOp::Sub:
      r = a - b;
      break;
    case FloatOp::Mul:
      r = a * b;
      break;
    case FloatOp::Div:
      r = a / b;
      break;
    case FloatOp::Fma:
      r = std::fma(a, b, k);
      break;
    case FloatOp::Rcp:
      r = 1.0 / a;
      break;
    case FloatOp::Sqrt:
      r = std::sqrt(a);
      break;
    }
    out[l] = r;
  });
  std::fesetround(saved);
  return Step::Next;
}

double dAdd(double a, double b) { return a + b; }
double dSub(double a, double b) { return a - b; }
double dMul(double a, double b) { return a * b; }
double dDiv(double a, double b) { return a / b; }
double dFma(double a, double b, double c) { return std::fma(a, b, c); }

//===-- Signs, minimum and maximum ----------------------------------------===//

template <bool Ftz> float fNeg(float a) {
  return canonical(floatOfBits(bitsOfFloat(ftzIf<Ftz>(a)) ^ 0x80000000));
}
template <bool Ftz> float fAbs(float a) {
  return canonical(floatOfBits(bitsOfFloat(ftzIf<Ftz>(a)) & 0x7fffffff));
}
double dNeg(double a) {
  return doubleOfBits(bitsOfDouble(a) ^ (uint64_t(1) << 63));
}
double dAbs(double a) {
  return doubleOfBits(bitsOfDouble(a) & ~(uint64_t(1) << 63));
}
float fCopysign(float a, float b) {
  return floatOfBits((bitsOfFloat(a) & 0x80000000) |
                     (bitsOfFloat(b) & 0x7fffffff));
}
double dCopysign(double a, double b) { return std::copysign(b, a); }

/// -0 is less than +0; one NaN is ignored unless Nan asks for it.
template <bool Max, bool Nan, bool Ftz, bool Xor>
float fMinMax(float a, float b) {
  a = ftzIf<Ftz>(a);
  b = ftzIf<Ftz>(b);
  uint32_t sign = Xor ? (bitsOfFloat(a) ^ bitsOfFloat(b)) & 0x80000000 : 0;
  if (Xor) {
    a = floatOfBits(bitsOfFloat(a) & 0x7fffffff);
    b = floatOfBits(bitsOfFloat(b) & 0x7fffffff);
  }
  bool signA = bitsOfFloat(a) >> 31;
  bool takeA = a == b ? (Max ? !signA : signA) : (Max ? a > b : a < b);
  float r = takeA ? a : b;
  r = a != a ? b : r;
  r = b != b ? a : r;
  r = (Nan && (a != a || b != b)) || r != r ? floatOfBits(nanF32) : r;
  return floatOfBits(Xor && r == r ? bitsOfFloat(r) | sign : bitsOfFloat(r));
}
template <bool Max, bool Nan, bool Ftz>
float fMinMax3(float a, float b, float c) {
  return fMinMax<Max, Nan, Ftz, false>(fMinMax<Max, Nan, Ftz, false>(a, b), c);
}
template <bool Max> double dMinMax(double a, double b) {
  if (a != a)
    return b != b ? doubleOfBits(0x7fffffffffffffff) : b;
  if (b != b)
    return a;
  if (a == b)
    return (Max ? !std::signbit(a) : std::signbit(a)) ? a : b;
  return (Max ? a > b : a < b) ? a : b;
}
template <bool Max>
ExecFn pickMinMax(bool nan, bool ftz, bool xorsign, bool three) {
  if (three)
    return nan ? (ftz ? map<fMinMax3<Max, true, true>>
                      : map<fMinMax3<Max, true, false>>)
               : (ftz ? map<fMinMax3<Max, false, true>>
                      : map<fMinMax3<Max, false, false>>);
  static const ExecFn table[2][2][2] = {
      {{map<fMinMax<Max, false, false, false>>,
        map<fMinMax<Max, false, false, true>>},
       {map<fMinMax<Max, false, true, false>>,
        map<fMinMax<Max, false, true, true>>}},
      {{map<fMinMax<Max, true, false, false>>,
        map<fMinMax<Max, true, false, true>>},
       {map<fMinMax<Max, true, true, false>>,
        map<fMinMax<Max, true, true, true>>}}};
  return table[nan][ftz][xorsign];
}

//===-- Decoders ----------------------------------------------------------===//

Round takeRound(FunctionDecoder &d, bool &given) {
  int mode = d.hasOneOf({"rn", "rz", "rm", "rp"});
  given = mode >= 0;
  return mode < 0 ? Round::Nearest : Round(mode);
}

/// The operands are there.
bool emitFloatOp(FunctionDecoder &d, Type type, FloatOp op, Round round,
                 bool ftz, bool sat) {
  d.inst.mod[0] = uint8_t(op);
  d.inst.mod[1] = uint8_t(round);
  d.inst.mod[2] = ftz;
  d.inst.mod[3] = sat;
  if (type == Type::F64) {
    ExecFn fn = execDirected64;
    if (round == Round::Nearest)
      fn = op == FloatOp::Add   ? map<dAdd>
           : op == FloatOp::Sub ? map<dSub>
           : op == FloatOp::Mul ? map<dMul>
           : op == FloatOp::Div ? map<dDiv>
           : op == FloatOp::Fma ? map<dFma>
                                : execDirected64;
    return d.emit(fn, Class::Float64);
  }
  ExecFn fn = execDirected32;
  if (round == Round::Nearest)
    switch (op) {
    case FloatOp::Add:
      fn = pickTwo<FAdd>(ftz, sat);
      break;
    case FloatOp::Sub:
      fn = pickTwo<FSub>(ftz, sat);
      break;
    case FloatOp::Mul:
      fn = pickTwo<FMul>(ftz, sat);
      break;
    case FloatOp::Div:
      fn = pickTwo<FDiv>(ftz, sat);
      break;
    case FloatOp::Fma:
      fn = pickFma(ftz, sat);
      break;
    default:
      break;
    }
  return d.emit(fn, Class::Float32);
}

bool emitFloat(FunctionDecoder &d, Type type, FloatOp op, Round round, bool ftz,
               bool sat, unsigned sources) {
  return uniformOperands(d, type, sources) &&
         emitFloatOp(d, type, op, round, ftz, sat);
}

/// Divisors beyond 2^126 have reciprocals that the approximation flushes.
struct FDivApprox {
  static float f(float a, float b) {
    float size = std::fabs(b);
    if (size > 0x1p126f && std::isfinite(size))
      return std::isfinite(a) ? std::copysign(0.0f, a) * std::copysign(1.0f, b)
                              : floatOfBits(nanF32);
    return a / b;
  }
};

bool decodeDivide(FunctionDecoder &d, Type type, bool ftz) {
  if (type == Type::F32 && d.has("approx"))
    return uniformOperands(d, type, 2) &&
           d.emit(pickTwo<FDivApprox>(ftz, false), Class::Float32);
  // .full is within 2 ulp; the nearest result is one of those.
  if (type == Type::F32 && d.has("full"))
    return emitFloat(d, type, FloatOp::Div, Round::Nearest, ftz, false, 2);
  bool given;
  Round round = takeRound(d, given);
  return given ? emitFloat(d, type, FloatOp::Div, round, ftz, false, 2)
               : d.error("needs .approx, .full or a rounding");
}

bool decodeFloatMinMax(FunctionDecoder &d, Type type, bool max) {
  if (type == Type::F64)
    return uniformOperands(d, type, 2) &&
           d.emit(max ? map<dMinMax<true>> : map<dMinMax<false>>,
                  Class::Float64);
  bool ftz = d.has("ftz"), nan = d.has("NaN"), xorsign = d.has("xorsign");
  bool absolute = d.has("abs");
  if (xorsign != absolute)
    return d.error(".xorsign and .abs go together");
  bool three = d.operandCount() == 4;
  if (three && xorsign)
    return d.error("three operands with .xorsign are not supported");
  return uniformOperands(d, type, three ? 3 : 2) &&
         d.emit(max ? pickMinMax<true>(nan, ftz, xorsign, three)
                    : pickMinMax<false>(nan, ftz, xorsign, three),
                Class::Float32);
}

/// rcp and sqrt, exact or approximate; both give the correctly rounded result.
double rcpCoarse(double a) {
  return coarse(a, [](double x) { return 1.0 / x; });
}
template <FloatOp Op> bool decodeRoot(FunctionDecoder &d) {
  bool approx = d.has("approx"), ftz = d.has("ftz"), given;
  Round round = takeRound(d, given);
  Type type = d.takeType();
  if (type != Type::F32 && type != Type::F64)
    return d.badType(type);
  if (!approx && !given)
    return d.error("needs .approx or a rounding");
  if (approx && type == Type::F64)
    return Op == FloatOp::Rcp && ftz
               ? uniformOperands(d, type, 1) &&
                     d.emit(map<rcpCoarse>, Class::Special)
               : d.error("the approximation of .f64 is rcp.approx.ftz");
  return emitFloat(d, type, Op, round, ftz, false, 1);
}

bool decodeFma(FunctionDecoder &d) { return decodeFloatArith(d, Arith::Fma); }

bool decodeCopysign(FunctionDecoder &d) {
  Type type = d.takeType();
  if (type != Type::F32 && type != Type::F64)
    return d.badType(type);
  return uniformOperands(d, type, 2) &&
         (type == Type::F32 ? d.emit(map<fCopysign>, Class::Float32)
                            : d.emit(map<dCopysign>, Class::Float64));
}

template <unsigned What, class F> bool testp(F a) {
  switch (What) {
  case 0:
    return std::isfinite(a);
  case 1:
    return std::isinf(a);
  case 2:
    return !std::isnan(a);
  case 3:
    return std::isnan(a);
  case 4:
    return std::isnormal(a) || a == 0; // zeros count as normal
  default:
    return std::fpclassify(a) == FP_SUBNORMAL;
  }
}
bool decodeTestp(FunctionDecoder &d) {
  int what = d.hasOneOf(
      {"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  Type type = d.takeType();
  if (what < 0 || (type != Type::F32 && type != Type::F64))
    return d.error("needs a property and .f32 or .f64");
  static const ExecFn single[] = {map<testp<0, float>>, map<testp<1, float>>,
                                  map<testp<2, float>>, map<testp<3, float>>,
                                  map<testp<4, float>>, map<testp<5, float>>};
  static const ExecFn twice[] = {map<testp<0, double>>, map<testp<1, double>>,
                                 map<testp<2, double>>, map<testp<3, double>>,
                                 map<testp<4, double>>, map<testp<5, double>>};
  return d.expectOperands(2, 2) && d.src(1, type, 1) &&
         d.dst(0, Type::Pred, 0) &&
         d.emit(type == Type::F32 ? single[what] : twice[what], Class::Compare);
}

float widenF16(Half a) { return floatFromHalf(a.bits); }
float widenBF16(Bf16 a) { return floatFromBf16(a.bits); }

/// add, sub and fma of .f32 whose factors, or first summand, have 16 bits: they
/// are widened, which is exact, and what follows is arithmetic of floats.
bool emitMixed(FunctionDecoder &d, Type narrow, FloatOp op, Round round,
               bool sat) {
  unsigned sources = op == FloatOp::Fma ? 3 : 2, narrows = sources - 1;
  if (!d.expectOperands(sources + 1, sources + 1))
    return false;
  for (unsigned i = 1; i <= sources; ++i)
    if (!d.src(i, i <= narrows ? narrow : Type::F32, i))
      return false;
  for (unsigned i = 1; i <= narrows; ++i) {
    uint32_t wide = d.temp(SlotClass::Word);
    d.emitMicro(narrow == Type::F16 ? map<widenF16> : map<widenBF16>,
                {wide, d.inst.op[i]});
    d.inst.op[i] = wide;
  }
  return d.dst(0, Type::F32, 0) &&
         emitFloatOp(d, Type::F32, op, round, false, sat);
}

/// add, sub, mul and fma of .f32x2.
bool decodeFloatPairs(FunctionDecoder &d, Arith op) {
  bool ftz = d.has("ftz"), given;
  if (Round round = takeRound(d, given); round != Round::Nearest) {
    bool isFma = op == Arith::Fma;
    if (!isFma && op != Arith::Add && op != Arith::Sub && op != Arith::Mul)
      return d.badType(Type::F32x2);
    FloatOp code = op == Arith::Add   ? FloatOp::Add
                   : op == Arith::Sub ? FloatOp::Sub
                   : op == Arith::Mul ? FloatOp::Mul
                                      : FloatOp::Fma;
    d.inst.mod[0] = uint8_t(code);
    d.inst.mod[1] = uint8_t(round);
    d.inst.mod[2] = ftz;
    return uniformOperands(d, Type::B64, isFma ? 3 : 2) &&
           d.emit(execDirectedPair, Class::Float32);
  }
  auto pick = [&](ExecFn plain, ExecFn flushing) {
    return uniformOperands(d, Type::B64, op == Arith::Fma ? 3 : 2) &&
           d.emit(ftz ? flushing : plain, Class::Float32);
  };
  switch (op) {
  case Arith::Add:
    return pick(map<pairOfTwo<FAdd, false>>, map<pairOfTwo<FAdd, true>>);
  case Arith::Sub:
    return pick(map<pairOfTwo<FSub, false>>, map<pairOfTwo<FSub, true>>);
  case Arith::Mul:
    return pick(map<pairOfTwo<FMul, false>>, map<pairOfTwo<FMul, true>>);
  case Arith::Fma:
    return pick(map<pairOfThree<FFma, false>>, map<pairOfThree<FFma, true>>);
  default:
    return d.badType(Type::F32x2);
  }
}
} // namespace

bool tile::sim::decodeFloatArith(FunctionDecoder &d, Arith op) {
  Type type = d.takeType();
  if (isHalfType(type))
    return decodeHalfArith(d, op, type);
  if (type == Type::F32x2)
    return decodeFloatPairs(d, op);
  if (type != Type::F32 && type != Type::F64)
    return d.badType(type);
  if (op == Arith::Min || op == Arith::Max)
    return decodeFloatMinMax(d, type, op == Arith::Max);
  bool ftz = type == Type::F32 && d.has("ftz");
  if (op == Arith::Neg || op == Arith::Abs) {
    if (!uniformOperands(d, type, 1))
      return false;
    if (type == Type::F64)
      return d.emit(op == Arith::Neg ? map<dNeg> : map<dAbs>, Class::Float64);
    return d.emit(op == Arith::Neg ? (ftz ? map<fNeg<true>> : map<fNeg<false>>)
                                   : (ftz ? map<fAbs<true>> : map<fAbs<false>>),
                  Class::Float32);
  }
  if (op == Arith::Div)
    return decodeDivide(d, type, ftz);
  bool sat = type == Type::F32 && d.has("sat"), given;
  Round round = takeRound(d, given);
  if (op == Arith::Fma && !given && d.in->opcode == "fma")
    return d.error("needs a rounding");
  FloatOp code = op == Arith::Add   ? FloatOp::Add
                 : op == Arith::Sub ? FloatOp::Sub
                 : op == Arith::Mul ? FloatOp::Mul
                                    : FloatOp::Fma;
  if (Type narrow = type == Type::F32 ? d.peekType() : Type::None;
      narrow == Type::F16 || narrow == Type::BF16) {
    d.takeType();
    return op == Arith::Mul || ftz || d.in->opcode == "mad"
               ? d.badType(narrow)
               : emitMixed(d, narrow, code, round, sat);
  }
  return emitFloat(d, type, code, round, ftz, sat, op == Arith::Fma ? 3 : 2);
}

void tile::sim::registerFloat(DecodeTable &t) {
  t.insert({{"fma", decodeFma},
            {"rcp", decodeRoot<FloatOp::Rcp>},
            {"sqrt", decodeRoot<FloatOp::Sqrt>},
            {"copysign", decodeCopysign},
            {"testp", decodeTestp}});
}
