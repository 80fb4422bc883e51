//===-- CheckOffsets.cpp - Find offsets that overflow ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/Triton/Transforms/Passes.h"
#include "llvm/ADT/TypeSwitch.h"

#define DEBUG_TYPE "triton-check-offsets"

namespace mlir::triton {
#define GEN_PASS_DEF_TRITONCHECKOFFSETS
#include "tile/Dialect/Triton/Transforms/Passes.h.inc"
} // namespace mlir::triton

using namespace mlir;
using namespace mlir::triton;

namespace {

/// What the elements of a tensor of integers are, as if they had no width:
/// `constant` plus the coordinates times `strides`.
struct Affine {
  int64_t constant = 0;
  SmallVector<int64_t> strides;

  bool isConstant() const {
    return llvm::all_of(strides, [](int64_t s) { return s == 0; });
  }
};

/// Smallest and largest element. Both occur: each coordinate is independent of
/// the others.
struct Extremes {
  int64_t low, high;
};

class OffsetAnalysis {
public:
  /// An operation that the value is computed with and that overflows for sure.
  Operation *findOverflow(Value value);

  static Extremes getExtremes(const Affine &affine, ArrayRef<int64_t> shape);
  std::optional<Affine> getAffine(Value value);

private:
  std::optional<Affine> compute(Value value);
  std::optional<Affine> computeSum(Value lhs, Value rhs, int64_t sign);
  std::optional<Affine> computeProduct(Value lhs, Value rhs);

  DenseMap<Value, std::optional<Affine>> affine;
  DenseSet<Value> visited;
};

} // namespace

static ArrayRef<int64_t> getShape(Value value) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  return tensor ? tensor.getShape() : ArrayRef<int64_t>();
}

std::optional<Affine> OffsetAnalysis::getAffine(Value value) {
  auto [it, isNew] = affine.try_emplace(value);
  if (!isNew)
    return it->second;
  std::optional<Affine> result = compute(value);
  affine[value] = result;
  return result;
}

std::optional<Affine> OffsetAnalysis::computeSum(Value lhs, Value rhs,
                                                 int64_t sign) {
  std::optional<Affine> a = getAffine(lhs), b = getAffine(rhs);
  if (!a || !b)
    return std::nullopt;
  auto add = [&](int64_t &x, int64_t y) {
    return llvm::MulOverflow(y, sign, y) || llvm::AddOverflow(x, y, x);
  };
  if (add(a->constant, b->constant))
    return std::nullopt;
  for (auto [x, y] : llvm::zip_equal(a->strides, b->strides))
    if (add(x, y))
      return std::nullopt;
  return a;
}

std::optional<Affine> OffsetAnalysis::computeProduct(Value lhs, Value rhs) {
  std::optional<Affine> a = getAffine(lhs), b = getAffine(rhs);
  if (!a || !b)
    return std::nullopt;
  if (a->isConstant())
    std::swap(a, b);
  if (!b->isConstant())
    return std::nullopt;
  if (llvm::MulOverflow(a->constant, b->constant, a->constant))
    return std::nullopt;
  for (int64_t &stride : a->strides)
    if (llvm::MulOverflow(stride, b->constant, stride))
      return std::nullopt;
  return a;
}

std::optional<Affine> OffsetAnalysis::compute(Value value) {
  using Result = std::optional<Affine>;
  if (!getElementTypeOrSelf(value.getType()).isSignlessInteger())
    return std::nullopt;
  SmallVector<int64_t> zeros(getShape(value).size(), 0);
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return Affine{constant.getSExtValue(), zeros};
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  return TypeSwitch<Operation *, Result>(op)
      .Case([&](MakeRangeOp op) -> Result {
        return Affine{static_cast<int64_t>(op.getStart()), {1}};
      })
      .Case([&](SplatOp op) -> Result {
        Result source = getAffine(op.getSrc());
        return source ? Result({source->constant, zeros}) : std::nullopt;
      })
      .Case([&](BroadcastOp op) { return getAffine(op.getSrc()); })
      .Case([&](arith::ExtSIOp op) { return getAffine(op.getIn()); })
      .Case([&](ExpandDimsOp op) -> Result {
        Result source = getAffine(op.getSrc());
        if (source)
          source->strides.insert(source->strides.begin() + op.getAxis(), 0);
        return source;
      })
      .Case([&](arith::AddIOp op) {
        return computeSum(op.getLhs(), op.getRhs(), 1);
      })
      .Case([&](arith::SubIOp op) {
        return computeSum(op.getLhs(), op.getRhs(), -1);
      })
      .Case([&](arith::MulIOp op) {
        return computeProduct(op.getLhs(), op.getRhs());
      })
      .Default([](Operation *) { return std::nullopt; });
}

Extremes OffsetAnalysis::getExtremes(const Affine &affine,
                                     ArrayRef<int64_t> shape) {
  Extremes result{affine.constant, affine.constant};
  for (auto [stride, extent] : llvm::zip_equal(affine.strides, shape)) {
    int64_t reach = llvm::SaturatingMultiply<uint64_t>(std::abs(stride),
                                                       uint64_t(extent - 1)) >
                            uint64_t(INT64_MAX / 2)
                        ? INT64_MAX / 2
                        : std::abs(stride) * (extent - 1);
    if (stride < 0)
      (void)llvm::SubOverflow(result.low, reach, result.low);
    else
      (void)llvm::AddOverflow(result.high, reach, result.high);
  }
  return result;
}

Operation *OffsetAnalysis::findOverflow(Value value) {
  if (!visited.insert(value).second)
    return nullptr;
  Operation *op = value.getDefiningOp();
  if (!op) {
    // A value that a loop carries has its first one when the loop is entered.
    auto argument = cast<BlockArgument>(value);
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (loop && argument != loop.getInductionVar())
      return findOverflow(loop.getTiedLoopInit(argument)->get());
    return nullptr;
  }
  if (!isa<AddPtrOp, SplatOp, BroadcastOp, ExpandDimsOp, arith::ExtSIOp,
           arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
    return nullptr;
  // The operands first: the innermost overflow is the cause of the others.
  for (Value operand : op->getOperands())
    if (Operation *found = findOverflow(operand))
      return found;
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op) ||
      !getElementTypeOrSelf(value.getType()).isInteger(32))
    return nullptr;
  std::optional<Affine> affine = getAffine(value);
  if (!affine)
    return nullptr;
  Extremes extremes = getExtremes(*affine, getShape(value));
  return llvm::isInt<32>(extremes.low) && llvm::isInt<32>(extremes.high)
             ? nullptr
             : op;
}

namespace {

struct TritonCheckOffsets
    : public triton::impl::TritonCheckOffsetsBase<TritonCheckOffsets> {
  using Base::Base;

  void runOnOperation() override {
    OffsetAnalysis analysis;
    WalkResult result = getOperation()->walk([&](Operation *op) {
      Value pointer = getUnmaskedPointer(op);
      if (!pointer)
        return WalkResult::advance();
      Operation *overflow = analysis.findOverflow(pointer);
      if (!overflow)
        return WalkResult::advance();
      Value offset = overflow->getResult(0);
      Extremes extremes = OffsetAnalysis::getExtremes(
          *analysis.getAffine(offset), getShape(offset));
      bool high = !llvm::isInt<32>(extremes.high);
      InFlightDiagnostic diagnostic =
          overflow->emitError("this int32 offset overflows: it reaches ")
          << (high ? extremes.high : extremes.low) << ", and int32 ends at "
          << (high ? INT32_MAX : INT32_MIN)
          << "; convert an operand to int64 before this operation";
      diagnostic.attachNote(op->getLoc()) << "the address is used here";
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  /// The address of an access of which every element is accessed. Where there
  /// is a mask, it may be off for those that overflow.
  static Value getUnmaskedPointer(Operation *op) {
    return TypeSwitch<Operation *, Value>(op)
        .Case<LoadOp, StoreOp, AtomicRMWOp>(
            [](auto op) { return op.getMask() ? Value() : op.getPtr(); })
        .Case([](AtomicCASOp op) { return op.getPtr(); })
        .Default([](Operation *) { return Value(); });
  }
};

} // namespace
