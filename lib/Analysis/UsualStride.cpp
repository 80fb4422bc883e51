//===-- UsualStride.cpp - How far apart neighbours usually are ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Analysis/UsualStride.h"

#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::triton;

using Stride = std::optional<int64_t>;

/// What all elements of `value` are, if they are one constant.
static Stride getConstant(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)) &&
      constant.getSignificantBits() <= 32)
    return constant.getSExtValue();
  return std::nullopt;
}

static Stride add(Stride a, Stride b) {
  int64_t sum;
  if (!a || !b || llvm::AddOverflow(*a, *b, sum))
    return std::nullopt;
  return sum;
}

static Stride multiply(Stride a, Stride b) {
  int64_t product;
  if (!a || !b || llvm::MulOverflow(*a, *b, product))
    return std::nullopt;
  return product;
}

namespace {

/// Strides along one axis of the values that a value is computed of. Each is
/// computed once.
class Strides {
public:
  Stride get(Value value, unsigned axis);

private:
  Stride compute(Value value, unsigned axis);
  Stride ofBinary(Operation *op, unsigned axis);
  Stride ofProduct(Operation *op, unsigned axis);

  /// Where a value is not known yet, it is none: so loops end.
  llvm::DenseMap<std::pair<Value, unsigned>, Stride> known;
};

} // namespace

Stride Strides::get(Value value, unsigned axis) {
  auto [it, isNew] = known.try_emplace({value, axis}, std::nullopt);
  if (!isNew)
    return it->second;
  Stride stride = compute(value, axis);
  known[{value, axis}] = stride;
  return stride;
}

Stride Strides::ofProduct(Operation *op, unsigned axis) {
  Stride a = get(op->getOperand(0), axis), b = get(op->getOperand(1), axis);
  if (a == 0 && b == 0)
    return 0;
  if (a == 0)
    return multiply(b, getConstant(op->getOperand(0)));
  return b == 0 ? multiply(a, getConstant(op->getOperand(1))) : std::nullopt;
}

/// Of an operation on two integers.
Stride Strides::ofBinary(Operation *op, unsigned axis) {
  if (isa<arith::MulIOp>(op))
    return ofProduct(op, axis);
  Stride a = get(op->getOperand(0), axis), b = get(op->getOperand(1), axis);
  Stride constant = getConstant(op->getOperand(1));
  return llvm::TypeSwitch<Operation *, Stride>(op)
      .Case<AddPtrOp, arith::AddIOp>([&](auto) { return add(a, b); })
      .Case([&](arith::SubIOp) { return add(a, multiply(b, -1)); })
      .Case([&](arith::ShLIOp) -> Stride {
        if (!constant || *constant < 0 || *constant >= 32)
          return a == 0 && b == 0 ? Stride(0) : std::nullopt;
        return multiply(a, int64_t(1) << *constant);
      })
      .Case<arith::RemSIOp, arith::RemUIOp>(
          [&](auto) { return b == 0 ? a : std::nullopt; })
      .Case<arith::DivSIOp, arith::DivUIOp>([&](auto) -> Stride {
        if (a == 0 && b == 0)
          return 0;
        return a && constant && *constant > 0 ? Stride(*a / *constant)
                                              : std::nullopt;
      })
      .Default([&](Operation *) {
        return a == 0 && b == 0 ? Stride(0) : std::nullopt;
      });
}

Stride Strides::compute(Value value, unsigned axis) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return 0;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    OpOperand *init = loop ? loop.getTiedLoopInit(argument) : nullptr;
    return init ? get(init->get(), axis) : std::nullopt;
  }
  Operation *op = value.getDefiningOp();
  return llvm::TypeSwitch<Operation *, Stride>(op)
      .Case([&](MakeRangeOp) { return 1; })
      .Case([&](SplatOp) { return 0; })
      .Case([&](arith::ConstantOp) {
        return getConstant(value) ? Stride(0) : std::nullopt;
      })
      .Case([&](ExpandDimsOp expand) {
        unsigned added = expand.getAxis();
        return axis == added ? Stride(0)
                             : get(expand.getSrc(), axis - (axis > added));
      })
      .Case([&](BroadcastOp broadcast) {
        int64_t before = broadcast.getSrc().getType().getDimSize(axis);
        return before == 1 ? Stride(0) : get(broadcast.getSrc(), axis);
      })
      .Case([&](TransOp trans) {
        return get(trans.getSrc(), trans.getOrder()[axis]);
      })
      .Case<gpu::ConvertLayoutOp, arith::ExtSIOp, arith::ExtUIOp,
            arith::TruncIOp>(
          [&](Operation *op) { return get(op->getOperand(0), axis); })
      .Default([&](Operation *op) {
        bool isBinary =
            isa<AddPtrOp>(op) || op->hasTrait<mlir::OpTrait::Elementwise>();
        return isBinary && op->getNumOperands() == 2 ? ofBinary(op, axis)
                                                     : std::nullopt;
      });
}

Stride mlir::triton::getUsualStride(Value value, unsigned axis) {
  return Strides().get(value, axis);
}
