//===-- FloatOps.cpp - Floats ---------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Elementwise.h"
#include "Floats.h"

#include "tile/Dialect/Triton/IR/Dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/xxhash.h"

#include <cmath>

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::reference;

static const FloatFormat &getFormat(Value value) {
  return *FloatFormat::get(value.getType());
}

//===----------------------------------------------------------------------===//
// Functions of numbers
//===----------------------------------------------------------------------===//

template <double (*f)(double)>
static Step unary(Thread &thread, Operation *op) {
  const FloatFormat &format = getFormat(op->getResult(0));
  return compute<1>(thread, op, [&](uint64_t a) {
    return format.encode(f(format.decode(a)));
  });
}

template <double (*f)(double, double)>
static Step binary(Thread &thread, Operation *op) {
  const FloatFormat &format = getFormat(op->getResult(0));
  return compute<2>(thread, op, [&](uint64_t a, uint64_t b) {
    return format.encode(f(format.decode(a), format.decode(b)));
  });
}

static Step runFma(Thread &thread, Operation *op) {
  const FloatFormat &format = getFormat(op->getResult(0));
  return compute<3>(thread, op, [&](uint64_t a, uint64_t b, uint64_t c) {
    double x = format.decode(a), y = format.decode(b), z = format.decode(c);
    if (format.width == 32)
      return format.encode(std::fma(float(x), float(y), float(z)));
    return format.encode(std::fma(x, y, z));
  });
}

// Where one operand is NaN, the other one, or NaN.
static double maximum(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return NAN;
  return a == b ? (std::signbit(a) ? b : a) : std::max(a, b);
}
static double minimum(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return NAN;
  return a == b ? (std::signbit(a) ? a : b) : std::min(a, b);
}
static double maxnum(double a, double b) {
  return std::isnan(a) ? b : std::isnan(b) ? a : maximum(a, b);
}
static double minnum(double a, double b) {
  return std::isnan(a) ? b : std::isnan(b) ? a : minimum(a, b);
}

static Step runClamp(Thread &thread, Operation *op) {
  const FloatFormat &format = getFormat(op->getResult(0));
  bool propagate = cast<ClampFOp>(op).getPropagateNan() == PropagateNan::ALL;
  return compute<3>(thread, op, [&](uint64_t x, uint64_t low, uint64_t high) {
    double value = format.decode(x);
    if (propagate && std::isnan(value))
      return format.encode(NAN);
    return format.encode(
        minnum(maxnum(value, format.decode(low)), format.decode(high)));
  });
}

/// Flips the sign of zero and of NaN, too.
static Step negate(Thread &thread, Operation *op) {
  const FloatFormat &format = getFormat(op->getResult(0));
  uint64_t sign = uint64_t(1) << (format.width - 1);
  return compute<1>(thread, op, [=](uint64_t a) { return a ^ sign; });
}
static Step absolute(Thread &thread, Operation *op) {
  const FloatFormat &format = getFormat(op->getResult(0));
  uint64_t sign = uint64_t(1) << (format.width - 1);
  return compute<1>(thread, op, [=](uint64_t a) { return a & ~sign; });
}

static Step runCompare(Thread &thread, Operation *op) {
  using P = arith::CmpFPredicate;
  const FloatFormat &format = getFormat(op->getOperand(0));
  P predicate = cast<arith::CmpFOp>(op).getPredicate();
  return compute<2>(thread, op, [&](uint64_t x, uint64_t y) -> uint64_t {
    double a = format.decode(x), b = format.decode(y);
    bool unordered = std::isnan(a) || std::isnan(b);
    switch (predicate) {
    case P::AlwaysFalse:
      return false;
    case P::AlwaysTrue:
      return true;
    case P::ORD:
      return !unordered;
    case P::UNO:
      return unordered;
    case P::OEQ:
      return a == b;
    case P::OGT:
      return a > b;
    case P::OGE:
      return a >= b;
    case P::OLT:
      return a < b;
    case P::OLE:
      return a <= b;
    case P::ONE:
      return !unordered && a != b;
    case P::UEQ:
      return unordered || a == b;
    case P::UGT:
      return unordered || a > b;
    case P::UGE:
      return unordered || a >= b;
    case P::ULT:
      return unordered || a < b;
    case P::ULE:
      return unordered || a <= b;
    case P::UNE:
      return unordered || a != b;
    }
    llvm_unreachable("all predicates are covered");
  });
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

static Step convert(Thread &thread, Operation *op) {
  const FloatFormat &from = getFormat(op->getOperand(0)),
                    &to = getFormat(op->getResult(0));
  bool towardsZero = false;
  if (auto conversion = dyn_cast<FpToFpOp>(op))
    towardsZero = conversion.getRounding() == RoundingMode::RTZ;
  if (auto conversion = dyn_cast<arith::TruncFOp>(op))
    towardsZero =
        conversion.getRoundingmode() == arith::RoundingMode::toward_zero;
  return compute<1>(thread, op, [&](uint64_t a) {
    return to.encode(from.decode(a), towardsZero);
  });
}

template <bool isSigned>
static Step fromInteger(Thread &thread, Operation *op) {
  const FloatFormat &to = getFormat(op->getResult(0));
  unsigned width = getElementBits(op->getOperand(0).getType());
  return compute<1>(thread, op, [&](uint64_t a) {
    return encodeInteger(to, isSigned ? __int128(signExtend(a, width))
                                      : __int128(a));
  });
}

/// Saturates: out of range nothing is promised.
template <bool isSigned> static Step toInteger(Thread &thread, Operation *op) {
  const FloatFormat &from = getFormat(op->getOperand(0));
  unsigned width = getElementBits(op->getResult(0).getType());
  uint64_t mask = maskOf(width);
  double high = std::ldexp(1.0, isSigned ? width - 1 : width),
         low = isSigned ? -high : 0;
  return compute<1>(thread, op, [&](uint64_t a) -> uint64_t {
    double value = std::trunc(from.decode(a));
    if (std::isnan(value))
      return 0;
    if (value >= high)
      return isSigned ? mask >> 1 : mask;
    if (value <= low)
      return isSigned ? (mask >> 1) + 1 : 0;
    return (isSigned ? uint64_t(int64_t(value)) : uint64_t(value)) & mask;
  });
}

//===----------------------------------------------------------------------===//
// Code of others
//===----------------------------------------------------------------------===//

/// Stands in for a function that nobody here knows: any other one does, as long
/// as it is the same after each pass.
static Step standIn(Thread &thread, Operation *op, StringRef name, bool isPure,
                    unsigned pack) {
  if (!isPure)
    return thread.unknown(op, "code with effects");
  thread.machine.hasStandIns = true;
  size_t size = 1;
  for (Value operand : op->getOperands())
    size = std::max(size, thread.tensor(operand).size());
  for (OpResult result : op->getResults()) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    Tensor known(type ? type.getShape() : ArrayRef<int64_t>());
    const FloatFormat *format = FloatFormat::get(result.getType());
    uint64_t mask = maskOf(getElementBits(result.getType()));
    for (size_t i = 0; i < known.size(); ++i) {
      uint64_t hash = llvm::xxh3_64bits(name) + result.getResultNumber();
      // Elements that share registers: all of them may matter.
      for (size_t j = i / pack * pack;
           j < std::min(i / pack * pack + pack, size); ++j)
        for (Value operand : op->getOperands()) {
          const Tensor &in = thread.tensor(operand);
          size_t at = in.size() > 1 ? j : 0;
          hash = (hash ^ in.bits[at]) * 0x9e3779b97f4a7c15;
          hash ^= hash >> 32;
          if (in.isUndefined(at))
            known.setUndefined(i);
        }
      hash += i % pack;
      known.bits[i] = format ? format->encode(double(hash % 1024) / 1024 - 0.5)
                             : hash & mask;
    }
    thread.set(result, std::move(known));
  }
  return Step::Next;
}

static Step runExtern(Thread &thread, Operation *op) {
  auto call = cast<ExternElementwiseOp>(op);
  return standIn(thread, op, call.getSymbol(), call.getPure(), 1);
}

static Step runInlineAsm(Thread &thread, Operation *op) {
  auto code = cast<ElementwiseInlineAsmOp>(op);
  return standIn(thread, op, code.getAsmString(), code.getPure(),
                 code.getPackedElement());
}

void mlir::triton::reference::registerFloats(Handlers &handlers) {
  using D = double;
  handlers["arith.addf"] = binary<[](D a, D b) { return a + b; }>;
  handlers["arith.subf"] = binary<[](D a, D b) { return a - b; }>;
  handlers["arith.mulf"] = binary<[](D a, D b) { return a * b; }>;
  handlers["arith.divf"] = handlers["tt.precise_divf"] =
      binary<[](D a, D b) { return a / b; }>;
  handlers["arith.remf"] = binary<[](D a, D b) { return std::fmod(a, b); }>;
  handlers["arith.negf"] = negate;
  handlers["math.absf"] = absolute;
  handlers["arith.maximumf"] = binary<maximum>;
  handlers["arith.minimumf"] = binary<minimum>;
  handlers["arith.maxnumf"] = binary<maxnum>;
  handlers["arith.minnumf"] = binary<minnum>;
  handlers["arith.cmpf"] = runCompare;
  handlers["math.fma"] = runFma;
  handlers["tt.clampf"] = runClamp;
  handlers["math.exp"] = unary<[](D a) { return std::exp(a); }>;
  handlers["math.exp2"] = unary<[](D a) { return std::exp2(a); }>;
  handlers["math.expm1"] = unary<[](D a) { return std::expm1(a); }>;
  handlers["math.log"] = unary<[](D a) { return std::log(a); }>;
  handlers["math.log2"] = unary<[](D a) { return std::log2(a); }>;
  handlers["math.log1p"] = unary<[](D a) { return std::log1p(a); }>;
  handlers["math.sin"] = unary<[](D a) { return std::sin(a); }>;
  handlers["math.cos"] = unary<[](D a) { return std::cos(a); }>;
  handlers["math.tanh"] = unary<[](D a) { return std::tanh(a); }>;
  handlers["math.erf"] = unary<[](D a) { return std::erf(a); }>;
  handlers["math.sqrt"] = handlers["tt.precise_sqrt"] =
      unary<[](D a) { return std::sqrt(a); }>;
  handlers["math.rsqrt"] = unary<[](D a) { return 1 / std::sqrt(a); }>;
  handlers["math.floor"] = unary<[](D a) { return std::floor(a); }>;
  handlers["math.ceil"] = unary<[](D a) { return std::ceil(a); }>;
  handlers["math.round"] = unary<[](D a) { return std::round(a); }>;
  handlers["math.trunc"] = unary<[](D a) { return std::trunc(a); }>;
  handlers["math.roundeven"] = unary<[](D a) { return std::nearbyint(a); }>;
  handlers["math.powf"] = binary<[](D a, D b) { return std::pow(a, b); }>;
  handlers["math.copysign"] =
      binary<[](D a, D b) { return std::copysign(a, b); }>;
  for (StringRef name : {"arith.extf", "arith.truncf", "tt.fp_to_fp"})
    handlers[name] = convert;
  handlers["arith.sitofp"] = fromInteger<true>;
  handlers["arith.uitofp"] = fromInteger<false>;
  handlers["arith.fptosi"] = toInteger<true>;
  handlers["arith.fptoui"] = toInteger<false>;
  handlers["tt.extern_elementwise"] = runExtern;
  handlers["tt.elementwise_inline_asm"] = runInlineAsm;
}
