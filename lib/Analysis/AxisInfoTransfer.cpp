//===-- AxisInfoTransfer.cpp - Axis info operation by operation -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "AxisInfoTransfer.h"
#include "tile/Dialect/Triton/IR/MemoryOps.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::axis;

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

static unsigned getIntWidth(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isInteger() ? element.getIntOrFloatBitWidth() : 64;
}

/// The canonical form of a known value: sign-extended, but i1 is 0 or 1.
static int64_t canonical(const APInt &value) {
  return value.getBitWidth() == 1 ? value.getZExtValue() : value.getSExtValue();
}

AxisInfo axis::build(Type type, function_ref<Axis(unsigned dim)> rule,
                     std::optional<int64_t> constant) {
  DimVector shape = AxisInfo::getShape(type);
  if (constant && !isa<PointerType>(getElementTypeOrSelf(type)))
    return AxisInfo::getConstant(shape, *constant);
  // Half of what the type can count: longer runs have a sign change inside.
  int64_t longest = int64_t(1) << (std::min(getIntWidth(type), 63u) - 1);
  DimVector contiguity, divisibility, constancy;
  for (unsigned dim = 0; dim < shape.size(); ++dim) {
    Axis axis = rule(dim);
    if (axis.contiguity > longest)
      axis = {longest, gcd(axis.divisibility, longest), axis.constancy};
    contiguity.push_back(axis.contiguity);
    divisibility.push_back(axis.divisibility);
    constancy.push_back(axis.constancy);
  }
  return AxisInfo(std::move(contiguity), std::move(divisibility),
                  std::move(constancy), std::nullopt, AxisInfo::getUnit(type));
}

/// Describes a scalar as the tensor of that shape which repeats it.
static AxisInfo repeat(const AxisInfo &scalar, Type type) {
  return build(
      type,
      [&](unsigned dim) {
        return Axis{1, scalar.getDivisibility(0),
                    AxisInfo::getShape(type)[dim]};
      },
      scalar.getConstantValue());
}

/// What is known of a result of which only equality with its operands' pattern
/// counts: equal operands give equal results.
static AxisInfo constancyOnly(Type type, ArrayRef<AxisInfo> operands) {
  DimVector shape = AxisInfo::getShape(type);
  return build(type, [&](unsigned dim) {
    int64_t constancy = shape[dim];
    for (const AxisInfo &operand : operands)
      if (operand.getRank() == shape.size() && shape.size() != 0)
        constancy = gcd(constancy, operand.getConstancy(dim));
    return Axis{1, 1, constancy};
  });
}

//===----------------------------------------------------------------------===//
// Known values
//===----------------------------------------------------------------------===//

/// Evaluates an integer operation whose operands are known.
static std::optional<int64_t> evaluate(Operation *op,
                                       ArrayRef<AxisInfo> operands) {
  SmallVector<Attribute> values;
  for (auto [operand, info] : llvm::zip(op->getOperands(), operands)) {
    Type element = getElementTypeOrSelf(operand.getType());
    if (!info.getConstantValue() || !isa<IntegerType, IndexType>(element))
      return std::nullopt;
    APInt value(getIntWidth(element), *info.getConstantValue(),
                /*isSigned=*/true, /*implicitTrunc=*/true);
    Attribute attr = IntegerAttr::get(element, value);
    if (auto tensor = dyn_cast<RankedTensorType>(operand.getType()))
      attr = DenseElementsAttr::get(tensor, value);
    values.push_back(attr);
  }
  SmallVector<OpFoldResult> folded;
  if (values.empty() || failed(op->fold(values, folded)) || folded.size() != 1)
    return std::nullopt;
  auto attr = dyn_cast<Attribute>(folded[0]);
  if (auto integer = dyn_cast_or_null<IntegerAttr>(attr))
    return canonical(integer.getValue());
  if (auto dense = dyn_cast_or_null<DenseIntElementsAttr>(attr))
    if (dense.isSplat())
      return canonical(dense.getSplatValue<APInt>());
  return std::nullopt;
}

static AxisInfo inferConstant(arith::ConstantOp op) {
  Type type = op.getType();
  DimVector shape = AxisInfo::getShape(type);
  if (auto integer = dyn_cast<IntegerAttr>(op.getValue()))
    return AxisInfo::getConstant(shape, canonical(integer.getValue()));
  auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!dense)
    return AxisInfo::getPessimistic(type);
  if (dense.isSplat()) {
    if (auto ints = dyn_cast<DenseIntElementsAttr>(op.getValue()))
      return AxisInfo::getConstant(shape,
                                   canonical(ints.getSplatValue<APInt>()));
    return build(type, [&](unsigned dim) { return Axis{1, 1, shape[dim]}; });
  }
  return AxisInfo::getPessimistic(type);
}

//===----------------------------------------------------------------------===//
// Choices and casts
//===----------------------------------------------------------------------===//

static AxisInfo inferSelect(arith::SelectOp op, ArrayRef<AxisInfo> operands) {
  const AxisInfo &yes = operands[1], &no = operands[2];
  if (std::optional<int64_t> known = operands[0].getConstantValue())
    return *known ? yes : no;
  bool scalarCondition = !isa<RankedTensorType>(op.getCondition().getType());
  std::optional<int64_t> constant;
  if (yes.getConstantValue() == no.getConstantValue())
    constant = yes.getConstantValue();
  return build(
      op.getType(),
      [&](unsigned dim) {
        Along x(yes, dim), y(no, dim);
        int64_t whole = AxisInfo::getShape(op.getType())[dim];
        int64_t uniform =
            scalarCondition ? whole : operands[0].getConstancy(dim);
        Axis result;
        result.contiguity = gcd(x.contiguity(), y.contiguity(), uniform);
        result.constancy = gcd(x.constancy(), y.constancy(), uniform);
        result.divisibility = gcd(x.divisibilityAt(result.contiguity),
                                  y.divisibilityAt(result.contiguity));
        return result;
      },
      constant);
}

/// Integer width changes that keep the value.
static AxisInfo inferCast(Operation *op, const AxisInfo &source) {
  Type type = op->getResult(0).getType();
  return build(
      type,
      [&](unsigned dim) {
        return Axis{source.getContiguity(dim), source.getDivisibility(dim),
                    source.getConstancy(dim)};
      },
      evaluate(op, source));
}

/// Pointers and the integers they are: runs survive only where a step means the
/// same on both sides.
static AxisInfo inferReinterpretation(Operation *op, const AxisInfo &source) {
  Type type = op->getResult(0).getType();
  bool isInteger = isa<PointerType, IntegerType>(getElementTypeOrSelf(type)) &&
                   isa<PointerType, IntegerType>(
                       getElementTypeOrSelf(op->getOperand(0).getType()));
  bool sameUnit = AxisInfo::getUnit(type) == source.getUnit();
  return build(type, [&](unsigned dim) {
    Axis result{1, 1, source.getConstancy(dim)};
    if (isInteger) {
      result.contiguity = sameUnit ? source.getContiguity(dim) : 1;
      result.divisibility = source.getDivisibilityAt(dim, result.contiguity);
    }
    return result;
  });
}

//===----------------------------------------------------------------------===//
// Dispatch
//===----------------------------------------------------------------------===//

bool mlir::triton::dependsOnSigns(Operation *op) {
  return isa<arith::DivSIOp, arith::RemSIOp, arith::FloorDivSIOp>(op) &&
         isa<RankedTensorType>(op->getResult(0).getType());
}

using NonNegative = function_ref<bool(unsigned)>;

/// Calls `rule` along each dimension of two operands.
template <typename Rule>
static AxisInfo inferBinary(Operation *op, ArrayRef<AxisInfo> operands,
                            Rule rule) {
  return build(
      op->getResult(0).getType(),
      [&](unsigned dim) {
        return rule(Along(operands[0], dim), Along(operands[1], dim));
      },
      evaluate(op, operands));
}

/// A known shift to the right is a division that rounds down.
static AxisInfo inferShiftRight(Operation *op, ArrayRef<AxisInfo> operands) {
  Type type = op->getResult(0).getType();
  std::optional<int64_t> shift = operands[1].getConstantValue();
  if (!shift || *shift < 0 || *shift > 62)
    return constancyOnly(type, operands);
  AxisInfo divisor =
      AxisInfo::getConstant(AxisInfo::getShape(type), int64_t(1) << *shift);
  return build(
      type,
      [&](unsigned dim) {
        return divAlong(Along(operands[0], dim), Along(divisor, dim),
                        /*constantOverRuns=*/true);
      },
      evaluate(op, operands));
}

/// Arithmetic on integers and pointers; nothing for other operations.
static std::optional<AxisInfo> inferArithmetic(Operation *op,
                                               ArrayRef<AxisInfo> operands,
                                               NonNegative isNonNegative) {
  using Result = std::optional<AxisInfo>;
  auto binary = [&](auto rule) -> Result {
    return inferBinary(op, operands, rule);
  };
  auto divide = [&](bool constantOverRuns) {
    return binary(
        [=](Along x, Along y) { return divAlong(x, y, constantOverRuns); });
  };
  auto remainder = [&](bool countsUp) {
    return binary([=](Along x, Along y) { return remAlong(x, y, countsUp); });
  };
  auto add = [](Along x, Along y) { return addAlong(x, y, false); };
  auto sub = [](Along x, Along y) { return addAlong(x, y, true); };
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](arith::AddIOp) { return binary(add); })
      .Case([&](arith::SubIOp) { return binary(sub); })
      .Case([&](AddPtrOp pointer) {
        return binary([&](Along x, Along y) {
          return addAlong(x, y, false, AxisInfo::getUnit(pointer.getType()));
        });
      })
      .Case([&](arith::MulIOp) { return binary(mulAlong); })
      .Case([&](arith::DivUIOp) { return divide(true); })
      // Rounds towards zero, so -1/16 and 0/16 are the same but -16/16 is not
      // like -15/16.
      .Case([&](arith::DivSIOp) { return divide(isNonNegative(0)); })
      // Rounds down, but by -16 the other way.
      .Case([&](arith::FloorDivSIOp) { return divide(isNonNegative(1)); })
      .Case([&](arith::RemUIOp) { return remainder(true); })
      // Negative for a negative dividend.
      .Case([&](arith::RemSIOp) { return remainder(isNonNegative(0)); })
      .Case([&](arith::AndIOp) { return binary(andAlong); })
      .Case<arith::OrIOp, arith::XOrIOp>([&](auto) { return binary(orAlong); })
      .Case([&](arith::ShLIOp) { return binary(shlAlong); })
      .Case<arith::ShRSIOp, arith::ShRUIOp>(
          [&](auto) -> Result { return inferShiftRight(op, operands); })
      .Case<arith::MaxSIOp, arith::MaxUIOp, arith::MinSIOp, arith::MinUIOp>(
          [&](auto) { return binary(extremeAlong); })
      .Case([&](arith::CmpIOp cmp) {
        return binary([&](Along x, Along y) {
          return cmpAlong(cmp.getPredicate(), x, y);
        });
      })
      .Default([](Operation *) { return std::nullopt; });
}

void mlir::triton::inferAxisInfo(Operation *op, ArrayRef<AxisInfo> operands,
                                 NonNegative isNonNegative,
                                 MutableArrayRef<AxisInfo> results) {
  if (results.empty())
    return;
  if (auto split = dyn_cast<SplitOp>(op)) {
    for (auto [half, info] : llvm::zip(split->getResults(), results))
      info = inferSplit(half, operands[0]);
    return;
  }
  if (results.size() != 1)
    return;
  if (auto info = inferArithmetic(op, operands, isNonNegative)) {
    results[0] = *info;
    return;
  }

  Type type = op->getResult(0).getType();
  results[0] =
      llvm::TypeSwitch<Operation *, AxisInfo>(op)
          .Case([](arith::ConstantOp op) { return inferConstant(op); })
          .Case([&](arith::SelectOp select) {
            return inferSelect(select, operands);
          })
          .Case<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp,
                arith::IndexCastOp, arith::IndexCastUIOp>(
              [&](auto) { return inferCast(op, operands[0]); })
          .Case<BitcastOp, IntToPtrOp, PtrToIntOp>(
              [&](auto) { return inferReinterpretation(op, operands[0]); })
          .Case([](MakeRangeOp range) { return inferMakeRange(range); })
          .Case([&](SplatOp) { return repeat(operands[0], type); })
          .Case([&](UnsplatOp) {
            return build(
                type,
                [&](unsigned) {
                  return Axis{1, operands[0].getDivisibilityOfAll(), 1};
                },
                operands[0].getConstantValue());
          })
          .Case(
              [&](ExpandDimsOp op) { return inferExpandDims(op, operands[0]); })
          .Case([&](BroadcastOp op) { return inferBroadcast(op, operands[0]); })
          .Case([&](TransOp op) { return inferTrans(op, operands[0]); })
          .Case([&](ReshapeOp op) { return inferReshape(op, operands[0]); })
          .Case([&](JoinOp op) {
            return inferJoin(op, operands[0], operands[1]);
          })
          .Case([&](gpu::ConvertLayoutOp) {
            return inferPassThrough(type, operands[0]);
          })
          // Equal addresses, masks and defaults load equal values.
          .Case([&](LoadOp load) {
            bool throughBlockPointer =
                isa<RankedTensorType>(type) &&
                !isa<RankedTensorType>(load.getPtr().getType());
            if (throughBlockPointer || isFreshRead(load))
              return AxisInfo::getPessimistic(type);
            return constancyOnly(type, operands);
          })
          // Assembly on several elements at once may tell them apart.
          .Case([&](ElementwiseInlineAsmOp inlineAsm) {
            if (inlineAsm.getPackedElement() != 1 || !isMemoryEffectFree(op))
              return AxisInfo::getPessimistic(type);
            return constancyOnly(type, operands);
          })
          .Default([&](Operation *op) {
            if (op->hasTrait<mlir::OpTrait::Elementwise>() &&
                isMemoryEffectFree(op))
              return constancyOnly(type, operands);
            return AxisInfo::getPessimistic(type);
          });
}
