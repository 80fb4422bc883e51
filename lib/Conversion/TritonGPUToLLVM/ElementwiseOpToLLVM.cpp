//===-- ElementwiseOpToLLVM.cpp - Operations on each element --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Conversion/TritonGPUToLLVM/ElementwisePattern.h"

#include "mlir/Conversion/ArithCommon/AttrToLLVMConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"

using namespace mlir;
using namespace mlir::triton;

SmallVector<int32_t> triton::getFirstRegisters(Type type,
                                               const AxisInfo *info) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return {0};
  LinearLayout layout = toLinearLayout(tensor);
  // A bit of the register's number that moves by less than the constancy along
  // every axis stays in one group of equal values. The other bits do not
  // matter, as groups are aligned. Zero bases are the case of no movement at
  // all; other repetitions are rare and harmless.
  int32_t repeats = 0;
  for (unsigned i = 0, e = layout.getInDimSizeLog2(kRegister); i < e; ++i) {
    bool same = true;
    for (unsigned d = 0, rank = tensor.getRank(); d < rank; ++d) {
      int64_t constancy =
          info ? llvm::bit_floor<uint64_t>(info->getConstancy(d)) : 1;
      same &= layout.getBasis(kRegister, i, kDim(d)) < constancy;
    }
    if (same)
      repeats |= 1 << i;
  }
  SmallVector<int32_t> first;
  for (int32_t r = 0, e = layout.getInDimSize(kRegister); r < e; ++r)
    first.push_back(r & ~repeats);
  return first;
}

namespace {
/// Makes a TargetOp with the fast-math or overflow flags of `op`.
template <typename TargetOp>
Value createWithFlags(Operation *op, const LLVMBuilder &b, Type type,
                      ValueRange args) {
  OperationState state(b.getLoc(), TargetOp::getOperationName());
  state.addOperands(args);
  state.addTypes(type);
  if (auto fast = dyn_cast<arith::ArithFastMathInterface>(op))
    if (arith::FastMathFlagsAttr attr = fast.getFastMathFlagsAttr();
        attr && attr.getValue() != arith::FastMathFlags::none)
      state.addAttribute("fastmathFlags",
                         arith::convertArithFastMathAttrToLLVM(attr));
  Operation *result = b.getBuilder().create(state);
  if (auto overflow = dyn_cast<arith::ArithIntegerOverflowFlagsInterface>(op))
    cast<LLVM::IntegerOverflowFlagsInterface>(result).setOverflowFlags(
        arith::convertArithOverflowFlagsToLLVM(
            overflow.getOverflowAttr().getValue()));
  return result->getResult(0);
}

/// Operations with the same operands and meaning in the LLVM dialect.
template <typename SourceOp, typename TargetOp>
void addDirect(const LoweringContext &context) {
  addElementwise<SourceOp>(context,
                           [](SourceOp op, const LLVMBuilder &b, Type type,
                              ValueRange args) -> Value {
                             return createWithFlags<TargetOp>(op, b, type,
                                                              args);
                           });
}

/// addDirect for floating-point operations, which 8-bit floats, being bytes,
/// must not reach.
template <typename SourceOp, typename TargetOp>
void addFloat(const LoweringContext &context) {
  addElementwise<SourceOp>(context,
                           [](SourceOp op, const LLVMBuilder &b, Type type,
                              ValueRange args) -> Value {
                             if (!isa<FloatType>(args[0].getType()))
                               return {};
                             return createWithFlags<TargetOp>(op, b, type,
                                                              args);
                           });
}

LLVM::ICmpPredicate convertPredicate(arith::CmpIPredicate predicate) {
  // Both enumerations are in LLVM's order.
  return static_cast<LLVM::ICmpPredicate>(predicate);
}
LLVM::FCmpPredicate convertPredicate(arith::CmpFPredicate predicate) {
  return static_cast<LLVM::FCmpPredicate>(predicate);
}

void populateIntegers(const LoweringContext &c) {
  addDirect<arith::AddIOp, LLVM::AddOp>(c);
  addDirect<arith::SubIOp, LLVM::SubOp>(c);
  addDirect<arith::MulIOp, LLVM::MulOp>(c);
  addDirect<arith::DivSIOp, LLVM::SDivOp>(c);
  addDirect<arith::DivUIOp, LLVM::UDivOp>(c);
  addDirect<arith::RemSIOp, LLVM::SRemOp>(c);
  addDirect<arith::RemUIOp, LLVM::URemOp>(c);
  addDirect<arith::AndIOp, LLVM::AndOp>(c);
  addDirect<arith::OrIOp, LLVM::OrOp>(c);
  addDirect<arith::XOrIOp, LLVM::XOrOp>(c);
  addDirect<arith::ShLIOp, LLVM::ShlOp>(c);
  addDirect<arith::ShRSIOp, LLVM::AShrOp>(c);
  addDirect<arith::ShRUIOp, LLVM::LShrOp>(c);
  addDirect<arith::MaxSIOp, LLVM::SMaxOp>(c);
  addDirect<arith::MinSIOp, LLVM::SMinOp>(c);
  addDirect<arith::MaxUIOp, LLVM::UMaxOp>(c);
  addDirect<arith::MinUIOp, LLVM::UMinOp>(c);
  addDirect<arith::ExtSIOp, LLVM::SExtOp>(c);
  addDirect<arith::ExtUIOp, LLVM::ZExtOp>(c);
  addDirect<arith::TruncIOp, LLVM::TruncOp>(c);
  addElementwise<arith::CmpIOp>(
      c, [](arith::CmpIOp op, const LLVMBuilder &b, Type, ValueRange args) {
        return b.icmp(convertPredicate(op.getPredicate()), args[0], args[1]);
      });
  addElementwise<arith::SelectOp>(
      c, [](arith::SelectOp op, const LLVMBuilder &b, Type, ValueRange args) {
        return b.select(args[0], args[1], args[2]);
      });
  // Quotients rounded down and up, from the one rounded to zero.
  addElementwise<arith::CeilDivSIOp>(
      c,
      [](arith::CeilDivSIOp op, const LLVMBuilder &b, Type type,
         ValueRange args) -> Value {
        Value zero = b.zero(type);
        Value quotient = b.create<LLVM::SDivOp>(args[0], args[1]);
        Value rest = b.create<LLVM::SRemOp>(args[0], args[1]);
        Value sameSign = b.eq(b.slt(args[0], zero), b.slt(args[1], zero));
        Value up = b.and_(b.ne(rest, zero), sameSign);
        return b.add(quotient, b.zext(type, up));
      });
  addElementwise<arith::FloorDivSIOp>(
      c,
      [](arith::FloorDivSIOp op, const LLVMBuilder &b, Type type,
         ValueRange args) -> Value {
        Value zero = b.zero(type);
        Value quotient = b.create<LLVM::SDivOp>(args[0], args[1]);
        Value rest = b.create<LLVM::SRemOp>(args[0], args[1]);
        Value otherSign = b.ne(b.slt(args[0], zero), b.slt(args[1], zero));
        Value down = b.and_(b.ne(rest, zero), otherSign);
        return b.add(quotient, b.sext(type, down));
      });
  addElementwise<arith::CeilDivUIOp>(
      c,
      [](arith::CeilDivUIOp op, const LLVMBuilder &b, Type type,
         ValueRange args) -> Value {
        Value quotient = b.udiv(args[0], args[1]);
        Value rest = b.urem(args[0], args[1]);
        return b.add(quotient, b.zext(type, b.ne(rest, b.zero(type))));
      });
  addElementwise<math::AbsIOp>(c,
                               [](math::AbsIOp op, const LLVMBuilder &b,
                                  Type type, ValueRange args) -> Value {
                                 return b.create<LLVM::AbsOp>(
                                     type, args[0],
                                     /*is_int_min_poison=*/false);
                               });
  addDirect<math::CtPopOp, LLVM::CtPopOp>(c);
  addElementwise<math::CountLeadingZerosOp>(
      c,
      [](math::CountLeadingZerosOp op, const LLVMBuilder &b, Type type,
         ValueRange args) -> Value {
        return b.create<LLVM::CountLeadingZerosOp>(type, args[0], false);
      });
  addElementwise<math::CountTrailingZerosOp>(
      c,
      [](math::CountTrailingZerosOp op, const LLVMBuilder &b, Type type,
         ValueRange args) -> Value {
        return b.create<LLVM::CountTrailingZerosOp>(type, args[0], false);
      });
  addElementwise<MulhiUIOp>(
      c,
      [](MulhiUIOp op, const LLVMBuilder &b, Type type,
         ValueRange args) -> Value {
        unsigned bits = type.getIntOrFloatBitWidth();
        Type wide = b.intTy(2 * bits);
        Value product = b.mul(b.zext(wide, args[0]), b.zext(wide, args[1]));
        return b.trunc(type, b.lshr(product, b.intVal(2 * bits, bits)));
      });
}

void populateFloats(const LoweringContext &c) {
  addFloat<arith::AddFOp, LLVM::FAddOp>(c);
  addFloat<arith::SubFOp, LLVM::FSubOp>(c);
  addFloat<arith::MulFOp, LLVM::FMulOp>(c);
  addFloat<arith::DivFOp, LLVM::FDivOp>(c);
  addFloat<arith::NegFOp, LLVM::FNegOp>(c);
  addFloat<arith::MaximumFOp, LLVM::MaximumOp>(c);
  addFloat<arith::MinimumFOp, LLVM::MinimumOp>(c);
  addFloat<arith::MaxNumFOp, LLVM::MaxNumOp>(c);
  addFloat<arith::MinNumFOp, LLVM::MinNumOp>(c);
  addDirect<arith::SIToFPOp, LLVM::SIToFPOp>(c);
  addDirect<arith::UIToFPOp, LLVM::UIToFPOp>(c);
  addFloat<arith::FPToSIOp, LLVM::FPToSIOp>(c);
  addFloat<arith::FPToUIOp, LLVM::FPToUIOp>(c);
  addElementwise<arith::CmpFOp>(c,
                                [](arith::CmpFOp op, const LLVMBuilder &b, Type,
                                   ValueRange args) -> Value {
                                  if (!isa<FloatType>(args[0].getType()))
                                    return {};
                                  return b.create<LLVM::FCmpOp>(
                                      convertPredicate(op.getPredicate()),
                                      args[0], args[1]);
                                });

  addFloat<math::AbsFOp, LLVM::FAbsOp>(c);
  addFloat<math::CeilOp, LLVM::FCeilOp>(c);
  addFloat<math::FloorOp, LLVM::FFloorOp>(c);
  addFloat<math::TruncOp, LLVM::FTruncOp>(c);
  addFloat<math::RoundEvenOp, LLVM::RoundEvenOp>(c);
  addFloat<math::FmaOp, LLVM::FMAOp>(c);
  addFloat<math::CopySignOp, LLVM::CopySignOp>(c);
  addFloat<math::SqrtOp, LLVM::SqrtOp>(c);
  addFloat<PreciseSqrtOp, LLVM::SqrtOp>(c);
  addFloat<PreciseDivFOp, LLVM::FDivOp>(c);
  addElementwise<ClampFOp>(
      c,
      [](ClampFOp op, const LLVMBuilder &b, Type type,
         ValueRange args) -> Value {
        if (!isa<FloatType>(type))
          return {};
        if (op.getPropagateNan() == PropagateNan::ALL)
          return b.create<LLVM::MinimumOp>(
              b.create<LLVM::MaximumOp>(args[0], args[1]), args[2]);
        return b.create<LLVM::MinNumOp>(
            b.create<LLVM::MaxNumOp>(args[0], args[1]), args[2]);
      });
}

void populatePointers(const LoweringContext &c) {
  const TritonGPUToLLVMTypeConverter *converter = &c.converter;
  addElementwise<AddPtrOp>(
      c,
      [converter](AddPtrOp op, const LLVMBuilder &b, Type type,
                  ValueRange args) -> Value {
        auto pointer =
            cast<triton::PointerType>(getTensorElementOrSelf(op.getType()));
        Type pointee = pointer.getPointeeType();
        // i1 takes a byte in memory.
        Type element =
            pointee.isInteger(1) ? b.intTy(8) : converter->convertType(pointee);
        return b.gep(args[0], element, args[1]);
      });
  addDirect<IntToPtrOp, LLVM::IntToPtrOp>(c);
  addDirect<PtrToIntOp, LLVM::PtrToIntOp>(c);
  auto bitcast = [](Operation *, const LLVMBuilder &b, Type type,
                    ValueRange args) -> Value {
    return b.bitcast(args[0], type);
  };
  addElementwise<triton::BitcastOp>(c, bitcast);
  addElementwise<arith::BitcastOp>(c, bitcast);
}

/// Constants: every register of a splat holds the same value.
struct ConstantPattern : TargetPattern<arith::ConstantOp> {
  using TargetPattern::TargetPattern;

  LogicalResult
  matchAndRewrite(arith::ConstantOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    Attribute value = op.getValue();
    auto tensor = dyn_cast<RankedTensorType>(op.getType());
    if (tensor) {
      auto splat = dyn_cast<SplatElementsAttr>(value);
      if (!splat)
        return this->decline(
            op, "only constants whose elements are all the same have a place "
                "in registers");
      value = splat.getSplatValue<Attribute>();
    }
    Type element =
        getConverter().convertType(getTensorElementOrSelf(op.getType()));
    if (!element)
      return this->decline(op, "no LLVM type");
    if (auto number = dyn_cast<FloatAttr>(value)) {
      if (!isa<FloatType>(element)) // 8-bit floats are bytes
        value = IntegerAttr::get(element, number.getValue().bitcastToAPInt());
    } else if (auto number = dyn_cast<IntegerAttr>(value)) {
      value = IntegerAttr::get(element, number.getValue().sextOrTrunc(
                                            element.getIntOrFloatBitWidth()));
    } else {
      return this->decline(op, "not a number");
    }
    Value constant =
        b.create<LLVM::ConstantOp>(element, cast<TypedAttr>(value));
    if (!tensor) {
      rewriter.replaceOp(op, constant);
      return success();
    }
    SmallVector<Value> elements(getFirstRegisters(tensor).size(), constant);
    rewriter.replaceOp(op, packElements(b, getConverter(), elements, tensor));
    return success();
  }
};
} // namespace

void triton::populateElementwisePatterns(const LoweringContext &context) {
  populateIntegers(context);
  populateFloats(context);
  populatePointers(context);
  context.add<ConstantPattern>();
}
