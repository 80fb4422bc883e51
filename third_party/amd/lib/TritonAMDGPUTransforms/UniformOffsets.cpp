//===-- UniformOffsets.cpp - Offsets that all lanes share -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "amd/TritonAMDGPUTransforms/UniformOffsets.h"

#include "tile/Analysis/AxisInfo.h"
#include "tile/Analysis/ValueRanges.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"

#include "mlir/Analysis/DataFlow/ConstantPropagationAnalysis.h"
#include "mlir/Analysis/DataFlow/DeadCodeAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::amd;
using dataflow::IntegerValueRangeLattice;

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

FailureOr<std::unique_ptr<OffsetRanges>>
OffsetRanges::compute(Operation *root) {
  std::unique_ptr<OffsetRanges> ranges(new OffsetRanges());
  DataFlowSolver &solver = ranges->solver;
  solver.load<dataflow::DeadCodeAnalysis>();
  solver.load<dataflow::SparseConstantPropagation>();
  solver.load<ValueRangeAnalysis>(ValueRangeAnalysis::Overflow::NeverHappens);
  if (failed(solver.initializeAndRun(root)))
    return failure();
  return ranges;
}

bool OffsetRanges::isNonNegative(Value value) const {
  auto *range = solver.lookupState<IntegerValueRangeLattice>(value);
  return range && triton::isNonNegative(range->getValue());
}

int64_t OffsetRanges::getMax(Value value) const {
  auto *range = solver.lookupState<IntegerValueRangeLattice>(value);
  if (!range || range->getValue().isUninitialized())
    return INT64_MAX;
  return range->getValue().getValue().smax().getSExtValue();
}

//===----------------------------------------------------------------------===//
// Splitting
//===----------------------------------------------------------------------===//

/// Whether users state something of the value that its parts do not tell.
static bool hasHints(Operation *op) {
  return op->hasAttr(kDivisibilityAttr) || op->hasAttr(kContiguityAttr) ||
         op->hasAttr(kConstancyAttr);
}

/// Operations that only rename elements.
static bool isView(Operation *op) {
  return isa<BroadcastOp, ExpandDimsOp, gpu::ConvertLayoutOp>(op);
}

bool amd::isSplat(Value offset) {
  Operation *op = offset.getDefiningOp();
  if (!op)
    return false;
  DenseElementsAttr constant;
  if (matchPattern(offset, m_Constant(&constant)))
    return constant.isSplat();
  if (isa<SplatOp>(op))
    return true;
  return (isView(op) ||
          isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::ExtSIOp>(
              op)) &&
         llvm::all_of(op->getOperands(), isSplat);
}

Value amd::makeScalar(OpBuilder &b, Value splat) {
  Operation *op = splat.getDefiningOp();
  if (auto made = dyn_cast<SplatOp>(op))
    return made.getSrc();
  if (isView(op))
    return makeScalar(b, op->getOperand(0));
  Type element = getElementTypeOrSelf(splat.getType());
  DenseElementsAttr constant;
  if (matchPattern(splat, m_Constant(&constant)))
    return arith::ConstantOp::create(
        b, op->getLoc(), cast<TypedAttr>(constant.getSplatValue<Attribute>()));
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(makeScalar(b, operand));
  OperationState state(op->getLoc(), op->getName(), operands, element);
  return b.create(state)->getResult(0);
}

Value amd::toI64(OpBuilder &b, Location loc, Value scalar) {
  Type i64 = b.getI64Type();
  return scalar.getType() == i64
             ? scalar
             : arith::ExtSIOp::create(b, loc, i64, scalar).getResult();
}

template <typename OpT>
static Value combineScalars(OpBuilder &b, Location loc, Value x, Value y) {
  if (x.getType() != y.getType()) {
    x = toI64(b, loc, x);
    y = toI64(b, loc, y);
  }
  return OpT::create(b, loc, x, y);
}

static Type withShapeOf(Type element, Type shaped) {
  return cast<RankedTensorType>(shaped).clone(element);
}

static int64_t saturatingAdd(int64_t x, int64_t y) {
  int64_t sum;
  return llvm::AddOverflow(x, y, sum) ? INT64_MAX : sum;
}

static int64_t saturatingMul(int64_t x, int64_t y) {
  int64_t product;
  return llvm::MulOverflow(x, y, product) ? INT64_MAX : product;
}

static std::optional<SplitOffset> keepWhole(OpBuilder &b, Value offset,
                                            const OffsetRanges &ranges) {
  int64_t max = ranges.getMax(offset);
  if (getElementTypeOrSelf(offset.getType()).isInteger(32))
    return SplitOffset{{}, offset, max};
  if (!getElementTypeOrSelf(offset.getType()).isInteger(64) ||
      !ranges.isNonNegative(offset))
    return std::nullopt;
  Value narrow = arith::TruncIOp::create(
      b, offset.getLoc(), withShapeOf(b.getI32Type(), offset.getType()),
      offset);
  return SplitOffset{{}, narrow, max, /*isCut=*/max > INT32_MAX};
}

static std::optional<SplitOffset> splitSum(OpBuilder &b, arith::AddIOp op,
                                           const OffsetRanges &ranges) {
  if (!ranges.isNonNegative(op.getLhs()) || !ranges.isNonNegative(op.getRhs()))
    return std::nullopt;
  auto x = splitOffset(b, op.getLhs(), ranges);
  auto y = splitOffset(b, op.getRhs(), ranges);
  if (!x || !y)
    return std::nullopt;
  Location loc = op.getLoc();
  SplitOffset sum;
  sum.scalar = x->scalar && y->scalar
                   ? combineScalars<arith::AddIOp>(b, loc, x->scalar, y->scalar)
                   : (x->scalar ? x->scalar : y->scalar);
  sum.max = saturatingAdd(x->max, y->max);
  sum.isCut = x->isCut || y->isCut;
  if (!x->tensor || !y->tensor) {
    sum.tensor = x->tensor ? x->tensor : y->tensor;
    return sum;
  }
  // Of 64 bits only as a whole, of which the parts may have 32 each.
  sum.isCut |= op.getType() != x->tensor.getType() && sum.max > INT32_MAX;
  sum.tensor = arith::AddIOp::create(b, loc, x->tensor, y->tensor);
  return sum;
}

static std::optional<SplitOffset> splitProduct(OpBuilder &b, arith::MulIOp op,
                                               const OffsetRanges &ranges) {
  Value x = op.getLhs(), factor = op.getRhs();
  if (!isSplat(factor))
    std::swap(x, factor);
  if (!isSplat(factor) || !ranges.isNonNegative(x) ||
      !ranges.isNonNegative(factor))
    return std::nullopt;
  auto parts = splitOffset(b, x, ranges);
  if (!parts)
    return std::nullopt;
  Location loc = op.getLoc();
  Value scalar = makeScalar(b, factor);
  SplitOffset product;
  if (parts->scalar)
    product.scalar =
        combineScalars<arith::MulIOp>(b, loc, parts->scalar, scalar);
  if (!parts->tensor)
    return product;
  product.max = saturatingMul(parts->max, ranges.getMax(factor));
  product.isCut = parts->isCut;
  if (!scalar.getType().isInteger(32)) {
    product.isCut |= product.max > INT32_MAX;
    scalar = arith::TruncIOp::create(b, loc, b.getI32Type(), scalar);
  }
  Value splat = SplatOp::create(b, loc, parts->tensor.getType(), scalar);
  product.tensor = arith::MulIOp::create(b, loc, parts->tensor, splat);
  return product;
}

/// The parts of an operation with one operand, whose elements it passes on.
static std::optional<SplitOffset> splitView(OpBuilder &b, Operation *op,
                                            const OffsetRanges &ranges) {
  auto parts = splitOffset(b, op->getOperand(0), ranges);
  if (!parts || !parts->tensor || !isView(op))
    return parts;
  OperationState state(op->getLoc(), op->getName(), parts->tensor,
                       withShapeOf(b.getI32Type(), op->getResult(0).getType()),
                       op->getAttrs());
  parts->tensor = b.create(state)->getResult(0);
  return parts;
}

std::optional<SplitOffset> amd::splitOffset(OpBuilder &b, Value offset,
                                            const OffsetRanges &ranges) {
  if (isSplat(offset))
    return SplitOffset{makeScalar(b, offset), {}, 0};
  Operation *op = offset.getDefiningOp();
  std::optional<SplitOffset> parts;
  if (op && !hasHints(op))
    parts =
        llvm::TypeSwitch<Operation *, std::optional<SplitOffset>>(op)
            .Case([&](arith::AddIOp sum) { return splitSum(b, sum, ranges); })
            .Case([&](arith::MulIOp product) {
              return splitProduct(b, product, ranges);
            })
            .Case<BroadcastOp, ExpandDimsOp, gpu::ConvertLayoutOp>(
                [&](auto view) { return splitView(b, view, ranges); })
            .Case([&](arith::ExtSIOp wide) -> std::optional<SplitOffset> {
              // Parts of a negative number are not known to add up in
              // fewer bits.
              if (!ranges.isNonNegative(wide.getIn()))
                return std::nullopt;
              return splitView(b, wide, ranges);
            })
            .Default([](Operation *) { return std::nullopt; });
  bool isNarrow = getElementTypeOrSelf(offset.getType()).isInteger(32);
  if (parts && (parts->scalar || !isNarrow))
    return parts;
  return keepWhole(b, offset, ranges);
}
