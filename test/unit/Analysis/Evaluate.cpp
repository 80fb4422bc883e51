//===-- Evaluate.cpp - Index arithmetic, element by element ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Evaluate.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "llvm/ADT/TypeSwitch.h"
#include <optional>

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::test;

int64_t test::wrap(uint64_t value, unsigned width) {
  if (width == 1)
    return value & 1;
  return static_cast<int64_t>(value << (64 - width)) >> (64 - width);
}

namespace {
/// An operand's element, both ways to read it.
struct Number {
  unsigned width;
  int64_t bits;

  /// With a sign; of one bit, -1 or 0.
  __int128 s() const { return width == 1 ? -bits : bits; }
  __int128 u() const {
    return width == 64 ? static_cast<uint64_t>(bits)
                       : static_cast<uint64_t>(bits) & ((1ull << width) - 1);
  }
};
using Computed = std::optional<__int128>;
} // namespace

Elements Elements::of(Type type) {
  Elements result;
  Type element = type;
  size_t count = 1;
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    result.shape.assign(tensor.getShape().begin(), tensor.getShape().end());
    element = tensor.getElementType();
    for (int64_t size : result.shape)
      count *= size;
  }
  if (auto integer = dyn_cast<IntegerType>(element))
    result.width = integer.getWidth();
  result.values.assign(count, 0);
  result.known.assign(count, true);
  return result;
}

const Elements &Evaluator::get(Value value) const {
  return env.find(value)->second;
}

std::vector<Elements> Evaluator::getAll(ValueRange values) const {
  std::vector<Elements> result;
  for (Value value : values)
    result.push_back(get(value));
  return result;
}

void Evaluator::set(Value value, Elements elements) {
  visit(value, elements);
  env[value] = std::move(elements);
}

void Evaluator::setAll(ValueRange values, std::vector<Elements> elements) {
  for (auto [value, found] : llvm::zip_equal(values, elements))
    set(value, std::move(found));
}

bool Evaluator::run(Block &block) {
  for (Operation &op : block.without_terminator())
    if (!execute(&op))
      return false;
  return true;
}

bool Evaluator::execute(Operation *op) {
  if (isa<GetProgramIdOp, GetNumProgramsOp>(op))
    return env.contains(op->getResult(0));
  if (isa<scf::ForOp>(op))
    return executeFor(op);
  if (isa<scf::IfOp>(op))
    return executeIf(op);
  if (isa<scf::WhileOp>(op))
    return executeWhile(op);
  return executeShape(op) || executeMemory(op) || executeElementwise(op);
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

bool Evaluator::executeFor(Operation *op) {
  auto loop = cast<scf::ForOp>(op);
  const Elements first = get(loop.getLowerBound());
  const Elements end = get(loop.getUpperBound());
  const Elements step = get(loop.getStep());
  if (!first.known[0] || !end.known[0] || !step.known[0] ||
      step.values[0] == 0 || (step.values[0] < 0 && !loop.getUnsignedCmp()))
    return false;
  std::vector<Elements> carried = getAll(loop.getInitArgs());
  auto number = [&](const Elements &bound) -> __int128 {
    Number value{bound.width, bound.values[0]};
    return loop.getUnsignedCmp() ? value.u() : value.s();
  };
  __int128 index = number(first), last = number(end);
  for (int trips = 0; index < last; index += number(step)) {
    if (++trips > 8)
      return false;
    Elements induction = first;
    induction.values[0] = wrap(static_cast<uint64_t>(index), first.width);
    set(loop.getInductionVar(), induction);
    setAll(loop.getRegionIterArgs(), carried);
    if (!run(*loop.getBody()))
      return false;
    carried = getAll(loop.getBody()->getTerminator()->getOperands());
  }
  setAll(loop.getResults(), carried);
  return true;
}

bool Evaluator::executeIf(Operation *op) {
  auto branch = cast<scf::IfOp>(op);
  const Elements &condition = get(branch.getCondition());
  if (!condition.known[0])
    return false;
  Block *taken = condition.values[0] ? branch.thenBlock() : branch.elseBlock();
  if (!run(*taken))
    return false;
  setAll(branch.getResults(), getAll(taken->getTerminator()->getOperands()));
  return true;
}

bool Evaluator::executeWhile(Operation *op) {
  auto loop = cast<scf::WhileOp>(op);
  std::vector<Elements> carried = getAll(loop.getInits());
  for (int trips = 0; trips < 8; ++trips) {
    setAll(loop.getBeforeArguments(), carried);
    if (!run(*loop.getBeforeBody()))
      return false;
    auto test = loop.getConditionOp();
    const Elements &condition = get(test.getCondition());
    if (!condition.known[0])
      return false;
    std::vector<Elements> passed = getAll(test.getArgs());
    if (!condition.values[0]) {
      setAll(loop.getResults(), passed);
      return true;
    }
    setAll(loop.getAfterArguments(), passed);
    if (!run(*loop.getAfterBody()))
      return false;
    carried = getAll(loop.getAfterBody()->getTerminator()->getOperands());
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

static SmallVector<int64_t> unflatten(int64_t flat, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> coords(shape.size());
  for (unsigned dim = shape.size(); dim-- > 0; flat /= shape[dim])
    coords[dim] = flat % shape[dim];
  return coords;
}

static int64_t flatten(ArrayRef<int64_t> coords, ArrayRef<int64_t> shape) {
  int64_t flat = 0;
  for (auto [coord, size] : llvm::zip_equal(coords, shape))
    flat = flat * size + coord;
  return flat;
}

/// The tensor of `type` whose element at some coordinates is the one of
/// `source` that `from` names.
static Elements
rearrange(const Elements &source, Type type,
          llvm::function_ref<int64_t(SmallVector<int64_t>)> from) {
  Elements result = Elements::of(type);
  for (size_t i = 0; i < result.size(); ++i) {
    int64_t origin = from(unflatten(i, result.shape));
    result.values[i] = source.values[origin];
    result.known[i] = source.known[origin];
  }
  return result;
}

bool Evaluator::executeShape(Operation *op) {
  using Coords = SmallVector<int64_t>;
  if (auto range = dyn_cast<MakeRangeOp>(op)) {
    Elements result = Elements::of(range.getType());
    for (size_t i = 0; i < result.size(); ++i)
      result.values[i] = int64_t(int32_t(range.getStart())) + i;
    set(range, result);
    return true;
  }
  if (op->getNumOperands() == 0 || op->getNumResults() == 0)
    return false;
  const Elements source = get(op->getOperand(0));
  Type type = op->getResult(0).getType();
  auto move = [&](llvm::function_ref<int64_t(Coords)> from) {
    set(op->getResult(0), rearrange(source, type, from));
    return true;
  };
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<SplatOp, UnsplatOp>(
          [&](auto) { return move([](Coords) { return 0; }); })
      .Case([&](ExpandDimsOp expand) {
        return move([&](Coords at) {
          at.erase(at.begin() + expand.getAxis());
          return flatten(at, source.shape);
        });
      })
      .Case([&](BroadcastOp) {
        return move([&](Coords at) {
          for (auto [coord, size] : llvm::zip_equal(at, source.shape))
            coord = size == 1 ? 0 : coord;
          return flatten(at, source.shape);
        });
      })
      .Case([&](TransOp trans) {
        return move([&](Coords at) {
          Coords from(at.size());
          for (auto [dim, origin] : llvm::enumerate(trans.getOrder()))
            from[origin] = at[dim];
          return flatten(from, source.shape);
        });
      })
      .Case([&](ReshapeOp reshape) {
        Coords shape(cast<RankedTensorType>(type).getShape());
        // Any order will do, so one that is far from the natural one.
        bool reorder = reshape.getAllowReorder();
        int64_t count = source.size();
        return move([&](Coords at) {
          int64_t flat = flatten(at, shape);
          return reorder ? (flat * 5 + 3) % count : flat;
        });
      })
      .Case([&](JoinOp join) {
        const Elements &other = get(join.getRhs());
        Elements result = Elements::of(type);
        for (size_t i = 0; i < source.size(); ++i)
          for (int half : {0, 1}) {
            const Elements &from = half ? other : source;
            result.values[2 * i + half] = from.values[i];
            result.known[2 * i + half] = from.known[i];
          }
        set(join, result);
        return true;
      })
      .Case([&](SplitOp split) {
        for (int half : {0, 1})
          set(split->getResult(half), rearrange(source, type, [&](Coords at) {
                at.push_back(half);
                return flatten(at, source.shape);
              }));
        return true;
      })
      .Default([](Operation *) { return false; });
}

//===----------------------------------------------------------------------===//
// Pointers and memory
//===----------------------------------------------------------------------===//

/// By how many bytes a pointer of this type moves.
static int64_t getStride(Type type) {
  auto pointer = cast<PointerType>(getElementTypeOrSelf(type));
  Type pointee = pointer.getPointeeType();
  return pointee.isIntOrFloat()
             ? std::max<int64_t>(pointee.getIntOrFloatBitWidth() / 8, 1)
             : 8;
}

bool Evaluator::executeMemory(Operation *op) {
  if (auto add = dyn_cast<AddPtrOp>(op)) {
    Elements result = get(add.getPtr());
    const Elements &offset = get(add.getOffset());
    for (size_t i = 0; i < result.size(); ++i) {
      result.values[i] +=
          static_cast<uint64_t>(offset.values[i]) * getStride(add.getType());
      result.known[i] = result.known[i] && offset.known[i];
    }
    set(add, result);
    return true;
  }
  if (isa<BitcastOp, IntToPtrOp, PtrToIntOp>(op)) {
    set(op->getResult(0), get(op->getOperand(0)));
    return true;
  }
  auto load = dyn_cast<LoadOp>(op);
  if (!load)
    return false;
  // Memory is whatever the address makes of it.
  const Elements &address = get(load.getPtr());
  Elements result = Elements::of(load.getType());
  for (size_t i = 0; i < result.size(); ++i) {
    bool masked = load.getMask() && !get(load.getMask()).values[i];
    result.known[i] = address.known[i];
    if (load.getMask())
      result.known[i] = result.known[i] && get(load.getMask()).known[i];
    result.values[i] =
        wrap(static_cast<uint64_t>(address.values[i]) * 0x9e3779b97f4a7c15 >> 9,
             result.width);
    if (masked && load.getOther()) {
      result.values[i] = get(load.getOther()).values[i];
      result.known[i] = result.known[i] && get(load.getOther()).known[i];
    } else if (masked) {
      result.known[i] = false;
    }
  }
  set(load, result);
  return true;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

static __int128 floorDiv(__int128 x, __int128 y) {
  __int128 quotient = x / y;
  return x % y != 0 && (x < 0) != (y < 0) ? quotient - 1 : quotient;
}

static bool compare(arith::CmpIPredicate predicate, Number x, Number y) {
  using P = arith::CmpIPredicate;
  switch (predicate) {
  case P::eq:
    return x.u() == y.u();
  case P::ne:
    return x.u() != y.u();
  case P::slt:
    return x.s() < y.s();
  case P::sle:
    return x.s() <= y.s();
  case P::sgt:
    return x.s() > y.s();
  case P::sge:
    return x.s() >= y.s();
  case P::ult:
    return x.u() < y.u();
  case P::ule:
    return x.u() <= y.u();
  case P::ugt:
    return x.u() > y.u();
  case P::uge:
    return x.u() >= y.u();
  }
  llvm_unreachable("unknown predicate");
}

static Computed unary(Operation *op, Number x) {
  return llvm::TypeSwitch<Operation *, Computed>(op)
      .Case<arith::ExtSIOp, arith::TruncIOp>([&](auto) { return x.s(); })
      .Case([&](arith::ExtUIOp) { return x.u(); })
      .Case([&](math::AbsIOp) { return x.s() < 0 ? -x.s() : x.s(); })
      .Default([](Operation *) { return std::nullopt; });
}

static Computed binary(Operation *op, Number x, Number y) {
  __int128 lowest = -(__int128(1) << (x.width - 1));
  // Results that are not numbers of this width, and divisors that are zero.
  bool undefined = y.u() == 0 || (x.s() == lowest && y.s() == -1);
  auto ifDefined = [&](auto compute) {
    return y.u() == 0 ? Computed() : Computed(compute());
  };
  auto ifFits = [&](auto compute) {
    return undefined ? Computed() : Computed(compute());
  };
  auto ifInWidth = [&](auto compute) {
    return y.u() >= x.width ? Computed() : Computed(compute());
  };
  return llvm::TypeSwitch<Operation *, Computed>(op)
      .Case([&](arith::AddIOp) { return x.s() + y.s(); })
      .Case([&](arith::SubIOp) { return x.s() - y.s(); })
      .Case([&](arith::MulIOp) { return x.s() * y.s(); })
      .Case(
          [&](arith::DivSIOp) { return ifFits([&] { return x.s() / y.s(); }); })
      .Case(
          [&](arith::RemSIOp) { return ifFits([&] { return x.s() % y.s(); }); })
      .Case([&](arith::FloorDivSIOp) {
        return ifFits([&] { return floorDiv(x.s(), y.s()); });
      })
      .Case([&](arith::CeilDivSIOp) {
        return ifFits([&] { return -floorDiv(-x.s(), y.s()); });
      })
      .Case([&](arith::DivUIOp) {
        return ifDefined([&] { return x.u() / y.u(); });
      })
      .Case([&](arith::RemUIOp) {
        return ifDefined([&] { return x.u() % y.u(); });
      })
      .Case([&](arith::CeilDivUIOp) {
        return ifDefined([&] { return (x.u() + y.u() - 1) / y.u(); });
      })
      .Case([&](arith::AndIOp) { return __int128(x.bits & y.bits); })
      .Case([&](arith::OrIOp) { return __int128(x.bits | y.bits); })
      .Case([&](arith::XOrIOp) { return __int128(x.bits ^ y.bits); })
      .Case([&](arith::ShLIOp) {
        return ifInWidth([&] { return x.s() * (__int128(1) << y.bits); });
      })
      .Case([&](arith::ShRSIOp) {
        return ifInWidth([&] { return x.s() >> y.bits; });
      })
      .Case([&](arith::ShRUIOp) {
        return ifInWidth([&] { return x.u() >> y.bits; });
      })
      .Case([&](arith::MinSIOp) { return std::min(x.s(), y.s()); })
      .Case([&](arith::MaxSIOp) { return std::max(x.s(), y.s()); })
      .Case([&](arith::MinUIOp) { return std::min(x.u(), y.u()); })
      .Case([&](arith::MaxUIOp) { return std::max(x.u(), y.u()); })
      .Case([&](arith::CmpIOp cmp) {
        return __int128(compare(cmp.getPredicate(), x, y));
      })
      .Default([](Operation *) { return std::nullopt; });
}

bool Evaluator::executeElementwise(Operation *op) {
  Elements result = Elements::of(op->getResult(0).getType());
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    SmallVector<APInt> values;
    if (auto dense = dyn_cast<DenseIntElementsAttr>(constant.getValue()))
      values.assign(dense.value_begin<APInt>(), dense.value_end<APInt>());
    else
      values.push_back(cast<IntegerAttr>(constant.getValue()).getValue());
    for (auto [slot, value] : llvm::zip_equal(result.values, values))
      slot = wrap(value.getSExtValue(), result.width);
    set(constant, result);
    return true;
  }
  std::vector<const Elements *> args;
  for (Value operand : op->getOperands())
    args.push_back(&get(operand));
  for (size_t i = 0; i < result.size(); ++i) {
    auto at = [&](unsigned arg) {
      const Elements &elements = *args[arg];
      return Number{elements.width,
                    elements.values[elements.size() > 1 ? i : 0]};
    };
    auto knownAt = [&](unsigned arg) {
      return args[arg]->known[args[arg]->size() > 1 ? i : 0];
    };
    if (isa<arith::SelectOp>(op)) {
      unsigned chosen = at(0).bits ? 1 : 2;
      result.values[i] = at(chosen).bits;
      result.known[i] = knownAt(0) && knownAt(chosen);
      continue;
    }
    bool known = true;
    for (unsigned arg = 0; arg < args.size(); ++arg)
      known = known && knownAt(arg);
    Computed computed = !known             ? Computed()
                        : args.size() == 1 ? unary(op, at(0))
                                           : binary(op, at(0), at(1));
    bool mayOverflow =
        isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::ShLIOp>(op);
    if (computed && mayOverflow && !wraps &&
        *computed != wrap(static_cast<uint64_t>(*computed), result.width))
      computed.reset();
    result.known[i] = computed.has_value();
    if (computed)
      result.values[i] = wrap(static_cast<uint64_t>(*computed), result.width);
  }
  set(op->getResult(0), result);
  return true;
}
