//===-- AffineForm.cpp - Tensors of offsets as sums -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "AffineForm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "llvm/ADT/TypeSwitch.h"
#include <algorithm>

using namespace mlir;
using namespace mlir::triton;

//===----------------------------------------------------------------------===//
// Polynomials
//===----------------------------------------------------------------------===//

Polynomial Polynomial::getConstant(int64_t value) {
  Polynomial result;
  result.add({}, value);
  return result;
}

Polynomial Polynomial::getSymbol(unsigned symbol) {
  Polynomial result;
  result.add({symbol}, 1);
  return result;
}

/// Factors wrap around at 64 bits, as what is computed from them does.
void Polynomial::add(const Product &product, int64_t factor) {
  auto it = terms.try_emplace(product, 0).first;
  it->second = int64_t(uint64_t(it->second) + uint64_t(factor));
  if (it->second == 0)
    terms.erase(it);
}

std::optional<int64_t> Polynomial::getConstantValue() const {
  if (terms.empty())
    return 0;
  if (terms.size() == 1 && terms.begin()->first.empty())
    return terms.begin()->second;
  return std::nullopt;
}

bool Polynomial::contains(unsigned symbol) const {
  return llvm::any_of(terms, [&](const auto &term) {
    return llvm::is_contained(term.first, symbol);
  });
}

std::pair<Polynomial, Polynomial> Polynomial::split(unsigned symbol) const {
  std::pair<Polynomial, Polynomial> result;
  for (const auto &[product, factor] : terms)
    (llvm::is_contained(product, symbol) ? result.first : result.second)
        .add(product, factor);
  return result;
}

Polynomial mlir::triton::operator+(const Polynomial &lhs,
                                   const Polynomial &rhs) {
  Polynomial result = lhs;
  for (const auto &[product, factor] : rhs.terms)
    result.add(product, factor);
  return result;
}

Polynomial mlir::triton::operator-(const Polynomial &lhs,
                                   const Polynomial &rhs) {
  return lhs + Polynomial::getConstant(-1) * rhs;
}

Polynomial mlir::triton::operator*(const Polynomial &lhs,
                                   const Polynomial &rhs) {
  Polynomial result;
  for (const auto &[left, leftFactor] : lhs.terms)
    for (const auto &[right, rightFactor] : rhs.terms) {
      Polynomial::Product product;
      std::merge(left.begin(), left.end(), right.begin(), right.end(),
                 std::back_inserter(product));
      result.add(product, int64_t(uint64_t(leftFactor) * rightFactor));
    }
  return result;
}

//===----------------------------------------------------------------------===//
// Forms
//===----------------------------------------------------------------------===//

/// Longer sums are left as the scalar that they are, if they are one.
static constexpr size_t kMostTerms = 16;

static unsigned getRank(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getRank() : 0;
}

static AffineForm makeForm(Value value, Polynomial first) {
  AffineForm form;
  form.first = std::move(first);
  form.steps.resize(getRank(value));
  return form;
}

AffineForms::AffineForms(scf::ForOp loop) : loop(loop) {
  symbols.push_back(Value());
}

unsigned AffineForms::getNumber(Value value) {
  auto it = llvm::find(symbols, value);
  if (it == symbols.end())
    it = symbols.insert(symbols.end(), value);
  return it - symbols.begin();
}

std::optional<AffineForm> AffineForms::getSymbol(Value value) {
  if (getRank(value) != 0 || !loop.isDefinedOutsideOfLoop(value) ||
      !isa<IntegerType, IndexType, PointerType>(value.getType()))
    return std::nullopt;
  return makeForm(value, Polynomial::getSymbol(getNumber(value)));
}

std::optional<AffineForm> AffineForms::get(Value value) {
  if (auto it = known.find(value); it != known.end())
    return it->second;
  // What a loop carries may come back to itself: it is unknown until then.
  known[value] = std::nullopt;
  std::optional<AffineForm> form = compute(value);
  if (!form || form->first.getTerms().size() > kMostTerms)
    form = getSymbol(value);
  known[value] = form;
  return form;
}

std::optional<AffineForm> AffineForms::compute(Value value) {
  Type element = getElementTypeOrSelf(value.getType());
  if (!isa<IntegerType, IndexType, PointerType>(element))
    return std::nullopt;
  // Sums of narrow integers do wrap around.
  constexpr unsigned kLeastWidth = 32;
  if (element.isInteger() && element.getIntOrFloatBitWidth() < kLeastWidth)
    return std::nullopt;
  if (auto arg = dyn_cast<BlockArgument>(value))
    return computeArgument(arg);
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return makeForm(value, Polynomial::getConstant(constant.getSExtValue()));
  return combine(value.getDefiningOp());
}

std::optional<AffineForm> AffineForms::computeArgument(BlockArgument arg) {
  if (arg.getOwner() != loop.getBody())
    return std::nullopt;
  if (arg != loop.getInductionVar())
    return computeCarried(arg);
  std::optional<AffineForm> lower = get(loop.getLowerBound());
  if (!lower)
    return std::nullopt;
  lower->first = lower->first + Polynomial::getSymbol(kProgress);
  return lower;
}

/// What goes on by the same distance in each iteration.
std::optional<AffineForm> AffineForms::computeCarried(BlockArgument arg) {
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  std::optional<AffineForm> init = get(loop.getTiedLoopInit(arg)->get());
  if (!step || *step <= 0 || !init)
    return std::nullopt;
  // The next one as a sum with the last one, which is a symbol for that long.
  DenseMap<Value, std::optional<AffineForm>> outside = known;
  unsigned self = getNumber(arg);
  known[arg] = makeForm(arg, Polynomial::getSymbol(self));
  std::optional<AffineForm> next =
      get(loop.getTiedLoopYieldedValue(arg)->get());
  known = std::move(outside);
  if (!next || llvm::any_of(next->steps, [](const Polynomial &along) {
        return !along.isZero();
      }))
    return std::nullopt;
  Polynomial distance = next->first - Polynomial::getSymbol(self);
  if (distance.contains(self) || distance.contains(kProgress))
    return std::nullopt;
  for (const auto &[product, factor] : distance.getTerms()) {
    if (factor % *step != 0)
      return std::nullopt;
    Polynomial each;
    each.add(product, factor / *step);
    init->first = init->first + each * Polynomial::getSymbol(kProgress);
  }
  init->remainders.insert_range(next->remainders);
  return init;
}

/// A remainder of what is less than the divisor is that itself.
std::optional<AffineForm> AffineForms::computeRemainder(Operation *op) {
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  auto divisor = op->getOperand(1).getDefiningOp<SplatOp>();
  std::optional<AffineForm> form = get(op->getOperand(0));
  if (!type || !form || !divisor || form->first.contains(kProgress) ||
      !loop.isDefinedOutsideOfLoop(divisor.getSrc()))
    return std::nullopt;
  int64_t last = 0;
  for (auto [extent, along] : llvm::zip(type.getShape(), form->steps)) {
    std::optional<int64_t> constant = along.getConstantValue();
    if (!constant || *constant < 0 || *constant > 1)
      return std::nullopt;
    last += *constant * (extent - 1);
  }
  Remainder remainder{form->first, last, divisor.getSrc()};
  auto it = llvm::find(remainders, remainder);
  if (it == remainders.end())
    it = remainders.insert(remainders.end(), remainder);
  form->remainders.insert(it - remainders.begin());
  return form;
}

std::optional<AffineForm> AffineForms::combine(Operation *op) {
  using Result = std::optional<AffineForm>;
  auto unary = [&](function_ref<void(AffineForm &)> change) {
    Result form = get(op->getOperand(0));
    if (form)
      change(*form);
    return form;
  };
  auto binary =
      [&](function_ref<bool(AffineForm &, const AffineForm &)> change) {
        Result lhs = get(op->getOperand(0)), rhs = get(op->getOperand(1));
        if (!lhs || !rhs || !change(*lhs, *rhs))
          return Result();
        lhs->remainders.insert_range(rhs->remainders);
        return lhs;
      };
  auto add = [](AffineForm &lhs, const AffineForm &rhs) {
    lhs.first = lhs.first + rhs.first;
    for (auto [left, right] : llvm::zip(lhs.steps, rhs.steps))
      left = left + right;
    return true;
  };
  auto multiply = [](AffineForm &lhs, const AffineForm &rhs) {
    auto isUniform = [](const AffineForm &form) {
      return llvm::all_of(form.steps, std::mem_fn(&Polynomial::isZero));
    };
    if (!isUniform(lhs) && !isUniform(rhs))
      return false;
    for (auto [left, right] : llvm::zip(lhs.steps, rhs.steps))
      left = left * rhs.first + right * lhs.first;
    lhs.first = lhs.first * rhs.first;
    return true;
  };
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case<arith::AddIOp, AddPtrOp>([&](auto) { return binary(add); })
      .Case([&](arith::SubIOp) {
        return binary([&](AffineForm &lhs, AffineForm rhs) {
          for (Polynomial &along : rhs.steps)
            along = Polynomial() - along;
          rhs.first = Polynomial() - rhs.first;
          return add(lhs, rhs);
        });
      })
      .Case([&](arith::MulIOp) { return binary(multiply); })
      .Case<arith::ExtSIOp, arith::IndexCastOp>(
          [&](auto) { return unary([](AffineForm &) {}); })
      .Case<arith::RemSIOp, arith::RemUIOp>(
          [&](auto) { return computeRemainder(op); })
      .Case([&](MakeRangeOp range) -> Result {
        AffineForm form =
            makeForm(range, Polynomial::getConstant(int32_t(range.getStart())));
        form.steps.front() = Polynomial::getConstant(1);
        return form;
      })
      .Case([&](SplatOp splat) {
        return unary(
            [&](AffineForm &form) { form.steps.resize(getRank(splat)); });
      })
      .Case([&](ExpandDimsOp expand) {
        return unary([&](AffineForm &form) {
          form.steps.insert(form.steps.begin() + expand.getAxis(),
                            Polynomial());
        });
      })
      .Case([&](BroadcastOp broadcast) {
        return unary([&](AffineForm &form) {
          auto type = cast<RankedTensorType>(broadcast.getSrc().getType());
          for (auto [extent, along] : llvm::zip(type.getShape(), form.steps))
            if (extent == 1)
              along = Polynomial();
        });
      })
      .Case([&](TransOp trans) {
        return unary([&](AffineForm &form) {
          SmallVector<Polynomial, 2> steps;
          for (int32_t dim : trans.getOrder())
            steps.push_back(form.steps[dim]);
          form.steps = std::move(steps);
        });
      })
      .Default([](Operation *) { return std::nullopt; });
}

Value AffineForms::materialize(OpBuilder &builder, Location loc,
                               const Polynomial &value, Value progress) const {
  Type i64 = builder.getI64Type();
  auto getNumber = [&](unsigned symbol) -> Value {
    if (symbol == kProgress)
      return progress;
    Value scalar = symbols[symbol];
    if (isa<IndexType>(scalar.getType()))
      return arith::IndexCastOp::create(builder, loc, i64, scalar);
    return scalar.getType() == i64
               ? scalar
               : builder.createOrFold<arith::ExtSIOp>(loc, i64, scalar);
  };
  Value sum;
  for (const auto &[product, factor] : value.getTerms()) {
    Value term;
    for (unsigned symbol : product)
      term = term ? builder.createOrFold<arith::MulIOp>(loc, term,
                                                        getNumber(symbol))
                  : getNumber(symbol);
    Value constant = arith::ConstantIntOp::create(builder, loc, i64, factor);
    term = !term ? constant
           : factor == 1
               ? term
               : builder.createOrFold<arith::MulIOp>(loc, term, constant);
    sum = sum ? builder.createOrFold<arith::AddIOp>(loc, sum, term) : term;
  }
  return sum ? sum : arith::ConstantIntOp::create(builder, loc, i64, 0);
}
