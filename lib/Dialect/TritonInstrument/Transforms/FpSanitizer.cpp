//===-- FpSanitizer.cpp - Exact arithmetic in place of rounded ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ResidueField.h"

#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonInstrument/IR/Dialect.h"
#include "tile/Dialect/TritonInstrument/Transforms/Passes.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/PackedArithOps.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::triton::instrument {
#define GEN_PASS_DEF_TRITONINSTRUMENTFPSANITIZER
#include "tile/Dialect/TritonInstrument/Transforms/Passes.h.inc"
} // namespace mlir::triton::instrument

using namespace mlir;
using namespace mlir::triton;
using instrument::ResidueBuilder;
using instrument::ResidueField;

static FloatType getFloat(Type type) {
  return dyn_cast<FloatType>(getElementTypeOrSelf(type));
}

/// The comparison of integers that one of numbers is, where there is no NaN.
static arith::CmpIPredicate getPredicate(arith::CmpFPredicate predicate) {
  using F = arith::CmpFPredicate;
  using I = arith::CmpIPredicate;
  switch (predicate) {
  case F::OEQ:
  case F::UEQ:
    return I::eq;
  case F::ONE:
  case F::UNE:
    return I::ne;
  case F::OLT:
  case F::ULT:
    return I::slt;
  case F::OLE:
  case F::ULE:
    return I::sle;
  case F::OGT:
  case F::UGT:
    return I::sgt;
  case F::OGE:
  case F::UGE:
    return I::sge;
  default:
    llvm_unreachable("always the same");
  }
}

namespace {
class Rewriter {
public:
  explicit Rewriter(MLIRContext *context) : b(context) {}

  /// Rewrites an operation; false if it has no arithmetic on numbers of
  /// floating point.
  FailureOr<bool> rewrite(Operation *op) {
    b.setInsertionPoint(op);
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      return rewriteConstant(constant);
    if (auto dot = dyn_cast<DotOp>(op))
      return rewriteDot(dot);
    if (auto cmp = dyn_cast<arith::CmpFOp>(op))
      return replace(op, compare(cmp));
    if (isa<arith::SIToFPOp, arith::UIToFPOp>(op))
      return replace(op, fromInteger(op));
    if (isa<arith::FPToSIOp, arith::FPToUIOp>(op))
      return replace(op, toInteger(op));
    if (isa<arith::ExtFOp, arith::TruncFOp, FpToFpOp>(op))
      return replace(op, convert(op));
    if (isMoving(op) || !touchesFloats(op))
      return false;
    bool isElementwise =
        op->getNumResults() == 1 && op->getNumRegions() == 0 &&
        llvm::all_of(op->getOperandTypes(), getFloat) &&
        getFloat(op->getResult(0).getType()) && op->getNumOperands() &&
        llvm::all_equal(op->getOperandTypes()) &&
        (isa<ExternElementwiseOp, ClampFOp, PreciseSqrtOp, PreciseDivFOp,
             nvidia_gpu::PackedArithOp>(op) ||
         isa<arith::ArithDialect, math::MathDialect>(op->getDialect()));
    if (!isElementwise)
      return op->emitError("the sanitizer of floating point does not know '")
             << op->getName() << "'";
    return replace(op, compute(op));
  }

private:
  /// What moves numbers and computes nothing with them.
  static bool isMoving(Operation *op) {
    return isa<FuncOp, ReturnOp, CallOp, LoadOp, StoreOp, SplatOp, BroadcastOp,
               ExpandDimsOp, ReshapeOp, TransOp, CatOp, JoinOp, SplitOp,
               GatherOp, UnsplatOp, BitcastOp, PrintOp, DescriptorLoadOp,
               DescriptorStoreOp, DescriptorGatherOp, DescriptorScatterOp,
               ReduceOp, ReduceReturnOp, ScanOp, ScanReturnOp, AtomicCASOp,
               arith::SelectOp, arith::BitcastOp, scf::ForOp, scf::IfOp,
               scf::WhileOp, scf::YieldOp, scf::ConditionOp>(op) ||
           exchanges(op);
  }

  /// An atomic operation that does not compute.
  static bool exchanges(Operation *op) {
    auto atomic = dyn_cast<AtomicRMWOp>(op);
    return atomic && atomic.getAtomicRmwOp() == RMWOp::XCHG;
  }

  static bool touchesFloats(Operation *op) {
    return llvm::any_of(op->getOperandTypes(), getFloat) ||
           llvm::any_of(op->getResultTypes(), getFloat);
  }

  bool replace(Operation *op, Value value) {
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
    return true;
  }

  bool rewriteConstant(arith::ConstantOp op) {
    FloatType type = getFloat(op.getType());
    if (!type)
      return false;
    ResidueField field(type);
    auto map = [&](const llvm::APFloat &value) {
      return field.getBitsOf(field.getResidue(value));
    };
    TypedAttr value;
    if (auto scalar = dyn_cast<FloatAttr>(op.getValue())) {
      value = FloatAttr::get(type, map(scalar.getValue()));
    } else {
      SmallVector<llvm::APFloat> values;
      auto dense = cast<DenseElementsAttr>(op.getValue());
      auto elements = dense.getValues<llvm::APFloat>();
      if (dense.isSplat())
        values.push_back(map(*elements.begin()));
      else
        llvm::append_range(values, llvm::map_range(elements, map));
      value = DenseElementsAttr::get(cast<ShapedType>(op.getType()), values);
    }
    op.setValueAttr(value);
    return true;
  }

  Value compare(arith::CmpFOp op) {
    using F = arith::CmpFPredicate;
    ResidueField field(getFloat(op.getLhs().getType()));
    ResidueBuilder r(b, op.getLoc(), field);
    Value x = r.read(op.getLhs()), y = r.read(op.getRhs());
    // There is no NaN: the same for all numbers.
    if (llvm::is_contained({F::AlwaysTrue, F::ORD}, op.getPredicate()))
      return r.compare(arith::CmpIPredicate::eq, x, x);
    if (llvm::is_contained({F::AlwaysFalse, F::UNO}, op.getPredicate()))
      return r.compare(arith::CmpIPredicate::ne, x, x);
    return r.compare(getPredicate(op.getPredicate()), x, y);
  }

  Value fromInteger(Operation *op) {
    ResidueField field(getFloat(op->getResult(0).getType()));
    ResidueBuilder r(b, op->getLoc(), field);
    return r.write(r.fromInteger(op->getOperand(0), isa<arith::SIToFPOp>(op)));
  }

  Value toInteger(Operation *op) {
    ResidueField field(getFloat(op->getOperand(0).getType()));
    ResidueBuilder r(b, op->getLoc(), field);
    return r.toInteger(r.read(op->getOperand(0)), op->getResult(0).getType());
  }

  Value convert(Operation *op) {
    ResidueField from(getFloat(op->getOperand(0).getType()));
    ResidueField to(getFloat(op->getResult(0).getType()));
    Value x = ResidueBuilder(b, op->getLoc(), from).read(op->getOperand(0));
    ResidueBuilder r(b, op->getLoc(), to);
    return r.write(r.convert(x, from));
  }

  Value compute(Operation *op) {
    ResidueField field(getFloat(op->getResult(0).getType()));
    ResidueBuilder r(b, op->getLoc(), field);
    SmallVector<Value> x;
    for (Value operand : op->getOperands())
      x.push_back(r.read(operand));
    auto larger = [&](Value a, Value c) {
      return r.select(r.compare(arith::CmpIPredicate::sge, a, c), a, c);
    };
    auto smaller = [&](Value a, Value c) {
      return r.select(r.compare(arith::CmpIPredicate::sle, a, c), a, c);
    };
    auto packed = [&](nvidia_gpu::PackedArithKind kind) {
      switch (kind) {
      case nvidia_gpu::PackedArithKind::ADD:
        return r.addNumbers(x[0], x[1]);
      case nvidia_gpu::PackedArithKind::SUB:
        return r.addNumbers(x[0], r.negate(x[1]));
      case nvidia_gpu::PackedArithKind::MUL:
        return r.mul(x[0], x[1]);
      case nvidia_gpu::PackedArithKind::FMA:
        return r.add(r.mul(x[0], x[1]), x[2]);
      case nvidia_gpu::PackedArithKind::MIN:
        return smaller(x[0], x[1]);
      case nvidia_gpu::PackedArithKind::MAX:
        return larger(x[0], x[1]);
      }
      llvm_unreachable("unknown kind");
    };
    Value result =
        llvm::TypeSwitch<Operation *, Value>(op)
            .Case([&](nvidia_gpu::PackedArithOp op) {
              return packed(op.getKind());
            })
            .Case([&](arith::AddFOp) { return r.addNumbers(x[0], x[1]); })
            .Case([&](arith::SubFOp) {
              return r.addNumbers(x[0], r.negate(x[1]));
            })
            .Case([&](arith::MulFOp) { return r.mul(x[0], x[1]); })
            .Case<arith::DivFOp, PreciseDivFOp>(
                [&](auto) { return r.divide(x[0], x[1]); })
            .Case([&](arith::NegFOp) { return r.negate(x[0]); })
            .Case([&](math::FmaOp) { return r.add(r.mul(x[0], x[1]), x[2]); })
            .Case<arith::MaximumFOp, arith::MaxNumFOp>(
                [&](auto) { return larger(x[0], x[1]); })
            .Case<arith::MinimumFOp, arith::MinNumFOp>(
                [&](auto) { return smaller(x[0], x[1]); })
            .Case([&](ClampFOp) { return smaller(larger(x[0], x[1]), x[2]); })
            .Case([&](math::AbsFOp) { return larger(x[0], r.negate(x[0])); })
            .Case<math::ExpOp, math::Exp2Op>([&](auto) {
              // Masked elements stay without effect.
              Value y = r.apply(op->getName().getStringRef(), x);
              y = r.select(r.isEqual(x[0], 0), r.constant(y, 1), y);
              return r.select(r.isEqual(x[0], field.getMinusInfinity()),
                              r.constant(y, 0), y);
            })
            .Case([&](ExternElementwiseOp call) {
              return r.apply(call.getSymbol(), x);
            })
            .Default([&](Operation *) {
              return r.apply(op->getName().getStringRef(), x);
            });
    return r.write(result);
  }

  /// One column of `a` times one row of `b` after the other.
  FailureOr<bool> rewriteDot(DotOp op) {
    auto type = op.getType();
    FloatType element = getFloat(type);
    if (!element)
      return false;
    if (!getFloat(op.getA().getType()) || !getFloat(op.getB().getType()))
      return op.emitError("the sanitizer of floating point does not know "
                          "products of integers with such a sum");
    Location loc = op.getLoc();
    unsigned rank = type.getRank();
    int64_t K = op.getA().getType().getShape().back();
    auto constant = [&](int64_t value) -> Value {
      return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(value));
    };
    auto loop = scf::ForOp::create(b, loc, constant(0), constant(K),
                                   constant(1), ValueRange(op.getC()));
    b.setInsertionPointToStart(loop.getBody());
    ResidueField field(element);
    ResidueBuilder r(b, loc, field);
    auto take = [&](Value matrix, unsigned axis) {
      auto whole = cast<RankedTensorType>(matrix.getType());
      SmallVector<int64_t> shape(whole.getShape());
      shape[axis] = 1;
      auto indexType = RankedTensorType::get(shape, b.getI32Type());
      Value index = SplatOp::create(b, loc, indexType, loop.getInductionVar());
      Value slice = GatherOp::create(
          b, loc, RankedTensorType::get(shape, whole.getElementType()), matrix,
          index, axis, /*efficient_layout=*/false);
      ResidueField from(getFloat(whole));
      Value x = ResidueBuilder(b, loc, from).read(slice);
      x = r.convert(x, from);
      auto full = RankedTensorType::get(type.getShape(),
                                        getElementTypeOrSelf(x.getType()));
      return Value(BroadcastOp::create(b, loc, full, x));
    };
    Value product = r.mul(take(op.getA(), rank - 1), take(op.getB(), rank - 2));
    Value sum = r.write(r.add(r.read(loop.getRegionIterArg(0)), product));
    scf::YieldOp::create(b, loc, sum);
    return replace(op, loop.getResult(0));
  }

  OpBuilder b;
};

struct FpSanitizer
    : instrument::impl::TritonInstrumentFpSanitizerBase<FpSanitizer> {
  void runOnOperation() override {
    Rewriter rewriter(&getContext());
    SmallVector<Operation *> operations;
    getOperation()->walk([&](Operation *op) { operations.push_back(op); });
    for (Operation *op : operations) {
      FailureOr<bool> isRewritten = rewriter.rewrite(op);
      if (failed(isRewritten))
        return signalPassFailure();
      numRewritten += *isRewritten;
    }
  }
};
} // namespace
