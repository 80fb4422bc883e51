//===-- Integers.cpp - Integers, pointers, selects ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Elementwise.h"
#include "Floats.h"

#include "tile/Dialect/Triton/IR/Dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::reference;

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

static uint64_t getBits(Attribute value) {
  if (auto number = dyn_cast<IntegerAttr>(value))
    return number.getValue().getRawData()[0];
  return cast<FloatAttr>(value).getValue().bitcastToAPInt().getRawData()[0];
}

static Step runConstant(Thread &thread, Operation *op) {
  Attribute value = cast<arith::ConstantOp>(op).getValue();
  uint64_t mask = maskOf(getElementBits(op->getResult(0).getType()));
  auto elements = dyn_cast<DenseElementsAttr>(value);
  if (!elements) {
    if (!isa<IntegerAttr, FloatAttr>(value))
      return thread.unknown(op, "a constant that is not known");
    thread.set(op->getResult(0), Tensor::scalar(getBits(value) & mask));
    return Step::Next;
  }
  Tensor result(elements.getType().getShape());
  if (elements.isSplat()) {
    result.bits.assign(result.size(),
                       getBits(elements.getSplatValue<Attribute>()) & mask);
  } else {
    for (auto [i, element] : llvm::enumerate(elements.getValues<Attribute>()))
      result.bits[i] = getBits(element) & mask;
  }
  thread.set(op->getResult(0), std::move(result));
  return Step::Next;
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

namespace {
/// The type of the elements that an operation computes on.
struct Width {
  explicit Width(Operation *op)
      : width(getElementBits(op->getOperand(0).getType())),
        mask(maskOf(width)) {}
  int64_t s(uint64_t bits) const { return signExtend(bits, width); }
  unsigned width;
  uint64_t mask;
};
} // namespace

/// An operation on two operands: `f(width, a, b)`.
template <uint64_t (*f)(const Width &, uint64_t, uint64_t)>
static Step binary(Thread &thread, Operation *op) {
  Width w(op);
  return compute<2>(
      thread, op, [&](uint64_t a, uint64_t b) { return f(w, a, b) & w.mask; });
}

/// The same; `isDefined` says of operands whether there is a result.
template <uint64_t (*f)(const Width &, uint64_t, uint64_t),
          bool (*isDefined)(const Width &, uint64_t, uint64_t)>
static Step partial(Thread &thread, Operation *op) {
  Width w(op);
  std::array in{&thread.tensor(op->getOperand(0)),
                &thread.tensor(op->getOperand(1))};
  std::vector<size_t> holes;
  size_t i = 0;
  Tensor result = computeElements(std::make_index_sequence<2>(), in,
                                  [&](uint64_t a, uint64_t b) {
                                    size_t at = i++;
                                    if (isDefined(w, a, b))
                                      return f(w, a, b) & w.mask;
                                    holes.push_back(at);
                                    return uint64_t(0);
                                  });
  for (size_t at : holes)
    result.setUndefined(at);
  thread.set(op->getResult(0), std::move(result));
  return Step::Next;
}

static bool isDivisible(const Width &w, uint64_t a, uint64_t b) {
  return b != 0;
}
/// The lowest number has no quotient by -1.
static bool isDivisibleSigned(const Width &w, uint64_t a, uint64_t b) {
  return b != 0 && !(w.s(b) == -1 && a == (w.mask >> 1) + 1);
}
static bool isShift(const Width &w, uint64_t a, uint64_t b) {
  return b < w.width;
}

/// `and`, `or`: one operand alone may decide the result.
template <bool isAnd> static Step logical(Thread &thread, Operation *op) {
  Width w(op);
  std::array in{&thread.tensor(op->getOperand(0)),
                &thread.tensor(op->getOperand(1))};
  Tensor result = computeElements(
      std::make_index_sequence<2>(), in,
      [&](uint64_t a, uint64_t b) { return isAnd ? (a & b) : (a | b); });
  uint64_t decides = isAnd ? 0 : w.mask;
  if (!result.undefined.empty())
    for (size_t i = 0; i < result.size(); ++i)
      for (const Tensor *operand : in) {
        size_t at = operand->size() > 1 ? i : 0;
        if (!operand->isUndefined(at) && operand->bits[at] == decides) {
          result.bits[i] = decides;
          result.undefined[i] = 0;
        }
      }
  thread.set(op->getResult(0), std::move(result));
  return Step::Next;
}

static Step runCompare(Thread &thread, Operation *op) {
  using P = arith::CmpIPredicate;
  Width w(op);
  auto run = [&](auto f) { return compute<2>(thread, op, f); };
  switch (cast<arith::CmpIOp>(op).getPredicate()) {
  case P::eq:
    return run([](uint64_t a, uint64_t b) { return a == b; });
  case P::ne:
    return run([](uint64_t a, uint64_t b) { return a != b; });
  case P::slt:
    return run([=](uint64_t a, uint64_t b) { return w.s(a) < w.s(b); });
  case P::sle:
    return run([=](uint64_t a, uint64_t b) { return w.s(a) <= w.s(b); });
  case P::sgt:
    return run([=](uint64_t a, uint64_t b) { return w.s(a) > w.s(b); });
  case P::sge:
    return run([=](uint64_t a, uint64_t b) { return w.s(a) >= w.s(b); });
  case P::ult:
    return run([](uint64_t a, uint64_t b) { return a < b; });
  case P::ule:
    return run([](uint64_t a, uint64_t b) { return a <= b; });
  case P::ugt:
    return run([](uint64_t a, uint64_t b) { return a > b; });
  case P::uge:
    return run([](uint64_t a, uint64_t b) { return a >= b; });
  }
  llvm_unreachable("all predicates are covered");
}

/// What is not chosen may be undefined.
static Step runSelect(Thread &thread, Operation *op) {
  const Tensor &condition = thread.tensor(op->getOperand(0));
  if (condition.size() == 1 && !condition.isUndefined(0)) {
    // Of anything: views and descriptors, too.
    Val chosen = thread.val(op->getOperand(condition.bits[0] & 1 ? 1 : 2));
    // A multiplication that is still computed has no value yet.
    if (chosen.tensor)
      chosen.object = nullptr;
    thread.set(op->getResult(0), chosen);
    return Step::Next;
  }
  if (!thread.val(op->getOperand(1)).tensor ||
      !thread.val(op->getOperand(2)).tensor)
    return thread.fault(op, "the condition is undefined");
  const Tensor &a = thread.tensor(op->getOperand(1)),
               &b = thread.tensor(op->getOperand(2));
  const Tensor *largest = &condition;
  for (const Tensor *tensor : {&a, &b})
    if (tensor->size() > largest->size())
      largest = tensor;
  Tensor result(largest->shape);
  auto at = [](const Tensor &tensor, size_t i) {
    return tensor.size() > 1 ? i : 0;
  };
  for (size_t i = 0; i < result.size(); ++i) {
    size_t c = at(condition, i);
    const Tensor &chosen = condition.bits[c] & 1 ? a : b;
    result.bits[i] = chosen.bits[at(chosen, i)];
    bool undefined = chosen.isUndefined(at(chosen, i));
    if (condition.isUndefined(c))
      // The same either way, it does not matter.
      undefined = a.isUndefined(at(a, i)) || b.isUndefined(at(b, i)) ||
                  a.bits[at(a, i)] != b.bits[at(b, i)];
    if (undefined)
      result.setUndefined(i);
  }
  thread.set(op->getResult(0), std::move(result));
  return Step::Next;
}

/// A multiplication by zero gives zero, whatever the other factor.
static Step runMultiply(Thread &thread, Operation *op) {
  Step step =
      binary<[](const Width &, uint64_t a, uint64_t b) { return a * b; }>(
          thread, op);
  const Tensor &known = thread.tensor(op->getResult(0));
  if (known.undefined.empty())
    return step;
  Tensor result = known;
  for (size_t i = 0; i < result.size(); ++i)
    for (Value value : op->getOperands()) {
      const Tensor &operand = thread.tensor(value);
      size_t at = operand.size() > 1 ? i : 0;
      if (!operand.isUndefined(at) && operand.bits[at] == 0)
        result.bits[i] = result.undefined[i] = 0;
    }
  thread.set(op->getResult(0), std::move(result));
  return step;
}

template <bool isSigned>
static Step multiplyLong(Thread &thread, Operation *op) {
  Width w(op);
  auto product = [=](uint64_t a, uint64_t b) {
    return isSigned ? (unsigned __int128)(__int128(w.s(a)) * w.s(b))
                    : (unsigned __int128)a * b;
  };
  compute<2>(thread, op, [=](uint64_t a, uint64_t b) {
    return uint64_t(product(a, b)) & w.mask;
  });
  std::array in{&thread.tensor(op->getOperand(0)),
                &thread.tensor(op->getOperand(1))};
  unsigned high = op->getNumResults() - 1;
  thread.set(op->getResult(high),
             computeElements(std::make_index_sequence<2>(), in,
                             [=](uint64_t a, uint64_t b) {
                               return uint64_t(product(a, b) >> w.width) &
                                      w.mask;
                             }));
  return Step::Next;
}

static Step addWithCarry(Thread &thread, Operation *op) {
  Width w(op);
  std::array in{&thread.tensor(op->getOperand(0)),
                &thread.tensor(op->getOperand(1))};
  compute<2>(thread, op,
             [=](uint64_t a, uint64_t b) { return (a + b) & w.mask; });
  thread.set(op->getResult(1),
             computeElements(std::make_index_sequence<2>(), in,
                             [=](uint64_t a, uint64_t b) -> uint64_t {
                               return ((a + b) & w.mask) < a;
                             }));
  return Step::Next;
}

//===----------------------------------------------------------------------===//
// Conversions and single operands
//===----------------------------------------------------------------------===//

static Step extendSigned(Thread &thread, Operation *op) {
  Width w(op);
  uint64_t mask = maskOf(getElementBits(op->getResult(0).getType()));
  return compute<1>(thread, op,
                    [=](uint64_t a) { return uint64_t(w.s(a)) & mask; });
}

static Step cut(Thread &thread, Operation *op) {
  uint64_t mask = maskOf(getElementBits(op->getResult(0).getType()));
  return compute<1>(thread, op, [=](uint64_t a) { return a & mask; });
}

template <uint64_t (*f)(const Width &, uint64_t)>
static Step unary(Thread &thread, Operation *op) {
  Width w(op);
  return compute<1>(thread, op, [=](uint64_t a) { return f(w, a) & w.mask; });
}

/// The offset counts elements.
static Step addPointer(Thread &thread, Operation *op) {
  auto pointer =
      cast<PointerType>(getElementTypeOrSelf(op->getOperand(0).getType()));
  uint64_t bytes = getElementBytes(pointer.getPointeeType());
  unsigned width = getElementBits(op->getOperand(1).getType());
  return compute<2>(thread, op, [=](uint64_t base, uint64_t offset) {
    return base + uint64_t(signExtend(offset, width)) * bytes;
  });
}

void mlir::triton::reference::registerIntegers(Handlers &handlers) {
  using W = const Width &;
  using U = uint64_t;
  handlers["arith.constant"] = runConstant;
  handlers["arith.addi"] = binary<[](W, U a, U b) { return a + b; }>;
  handlers["arith.subi"] = binary<[](W, U a, U b) { return a - b; }>;
  handlers["arith.muli"] = runMultiply;
  handlers["arith.divui"] =
      partial<[](W, U a, U b) { return a / b; }, isDivisible>;
  handlers["arith.remui"] =
      partial<[](W, U a, U b) { return a % b; }, isDivisible>;
  handlers["arith.divsi"] =
      partial<[](W w, U a, U b) { return U(w.s(a) / w.s(b)); },
              isDivisibleSigned>;
  handlers["arith.remsi"] =
      partial<[](W w, U a, U b) { return U(w.s(a) % w.s(b)); },
              isDivisibleSigned>;
  handlers["arith.ceildivui"] =
      partial<[](W, U a, U b) { return a / b + (a % b != 0); }, isDivisible>;
  handlers["arith.ceildivsi"] = partial<[](W w, U a, U b) {
    int64_t x = w.s(a), y = w.s(b);
    return U(x / y + (x % y != 0 && (x < 0) == (y < 0)));
  },
                                        isDivisibleSigned>;
  handlers["arith.floordivsi"] = partial<[](W w, U a, U b) {
    int64_t x = w.s(a), y = w.s(b);
    return U(x / y - (x % y != 0 && (x < 0) != (y < 0)));
  },
                                         isDivisibleSigned>;
  handlers["arith.andi"] = logical<true>;
  handlers["arith.ori"] = logical<false>;
  handlers["arith.xori"] = binary<[](W, U a, U b) { return a ^ b; }>;
  handlers["arith.shli"] = partial<[](W, U a, U b) { return a << b; }, isShift>;
  handlers["arith.shrui"] =
      partial<[](W, U a, U b) { return a >> b; }, isShift>;
  handlers["arith.shrsi"] =
      partial<[](W w, U a, U b) { return U(w.s(a) >> b); }, isShift>;
  handlers["arith.maxui"] = binary<[](W, U a, U b) { return std::max(a, b); }>;
  handlers["arith.minui"] = binary<[](W, U a, U b) { return std::min(a, b); }>;
  handlers["arith.maxsi"] =
      binary<[](W w, U a, U b) { return w.s(a) < w.s(b) ? b : a; }>;
  handlers["arith.minsi"] =
      binary<[](W w, U a, U b) { return w.s(b) < w.s(a) ? b : a; }>;
  handlers["arith.cmpi"] = runCompare;
  handlers["arith.select"] = runSelect;
  handlers["arith.mului_extended"] = multiplyLong<false>;
  handlers["arith.mulsi_extended"] = multiplyLong<true>;
  handlers["arith.addui_extended"] = addWithCarry;
  handlers["arith.extsi"] = handlers["arith.index_cast"] = extendSigned;
  for (StringRef name :
       {"arith.extui", "arith.trunci", "arith.index_castui", "arith.bitcast",
        "tt.bitcast", "tt.int_to_ptr", "tt.ptr_to_int"})
    handlers[name] = cut;
  handlers["tt.addptr"] = addPointer;
  handlers["tt.mulhiui"] = [](Thread &thread, Operation *op) {
    Width w(op);
    return compute<2>(thread, op, [=](U a, U b) {
      return U(((unsigned __int128)a * b) >> w.width) & w.mask;
    });
  };
  handlers["math.absi"] =
      unary<[](W w, U a) { return w.s(a) < 0 ? U(0) - a : a; }>;
  handlers["math.ctpop"] = unary<[](W, U a) { return U(llvm::popcount(a)); }>;
  handlers["math.ctlz"] =
      unary<[](W w, U a) { return U(llvm::countl_zero(a)) - (64 - w.width); }>;
  handlers["math.cttz"] = unary<[](W w, U a) {
    return std::min<U>(llvm::countr_zero(a), w.width);
  }>;
}
