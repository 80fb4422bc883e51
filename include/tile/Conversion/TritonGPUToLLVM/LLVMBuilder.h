//===-- LLVMBuilder.h - Shorthand for making LLVM-dialect ops ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The lowering is mostly address arithmetic; spelling out every op's build
// arguments would bury it.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CONVERSION_TRITONGPUTOLLVM_LLVMBUILDER_H
#define TILE_CONVERSION_TRITONGPUTOLLVM_LLVMBUILDER_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

namespace mlir::triton {

/// A location and a builder, passed by reference through the helpers of the
/// lowering. Methods that combine values fold nothing but neutral constants.
class LLVMBuilder {
public:
  LLVMBuilder(Location loc, OpBuilder &builder) : loc(loc), builder(builder) {}

  Location getLoc() const { return loc; }
  OpBuilder &getBuilder() const { return builder; }
  MLIRContext *getContext() const { return builder.getContext(); }

  template <typename OpT, typename... Args> OpT create(Args &&...args) const {
    return OpT::create(builder, loc, std::forward<Args>(args)...);
  }

  // Types.
  IntegerType intTy(unsigned bits) const {
    return builder.getIntegerType(bits);
  }
  LLVM::LLVMPointerType ptrTy(unsigned space) const {
    return LLVM::LLVMPointerType::get(getContext(), space);
  }
  static VectorType vecTy(Type element, int64_t size) {
    return VectorType::get(size, element);
  }

  // Constants.
  Value intVal(unsigned bits, int64_t value) const {
    return create<LLVM::ConstantOp>(intTy(bits),
                                    builder.getIntegerAttr(intTy(bits), value));
  }
  Value i32(int64_t value) const { return intVal(32, value); }
  Value i64(int64_t value) const { return intVal(64, value); }
  Value i1(bool value) const { return intVal(1, value ? -1 : 0); }
  /// Zero of any integer, float, vector or pointer type.
  Value zero(Type type) const { return create<LLVM::ZeroOp>(type); }
  Value floatVal(Type type, double value) const {
    return create<LLVM::ConstantOp>(type, builder.getFloatAttr(type, value));
  }
  Value undef(Type type) const { return create<LLVM::UndefOp>(type); }
  Value poison(Type type) const { return create<LLVM::PoisonOp>(type); }

  // Integers.
  Value add(Value a, Value b) const { return create<LLVM::AddOp>(a, b); }
  Value sub(Value a, Value b) const { return create<LLVM::SubOp>(a, b); }
  Value mul(Value a, Value b) const { return create<LLVM::MulOp>(a, b); }
  Value udiv(Value a, Value b) const { return create<LLVM::UDivOp>(a, b); }
  Value urem(Value a, Value b) const { return create<LLVM::URemOp>(a, b); }
  Value and_(Value a, Value b) const { return create<LLVM::AndOp>(a, b); }
  Value or_(Value a, Value b) const { return create<LLVM::OrOp>(a, b); }
  Value xor_(Value a, Value b) const { return create<LLVM::XOrOp>(a, b); }
  Value shl(Value a, Value b) const { return create<LLVM::ShlOp>(a, b); }
  Value lshr(Value a, Value b) const { return create<LLVM::LShrOp>(a, b); }
  Value zext(Type t, Value a) const {
    return a.getType() == t ? a : create<LLVM::ZExtOp>(t, a).getResult();
  }
  Value sext(Type t, Value a) const {
    return a.getType() == t ? a : create<LLVM::SExtOp>(t, a).getResult();
  }
  Value trunc(Type t, Value a) const {
    return a.getType() == t ? a : create<LLVM::TruncOp>(t, a).getResult();
  }
  Value icmp(LLVM::ICmpPredicate p, Value a, Value b) const {
    return create<LLVM::ICmpOp>(p, a, b);
  }
  Value eq(Value a, Value b) const {
    return icmp(LLVM::ICmpPredicate::eq, a, b);
  }
  Value ne(Value a, Value b) const {
    return icmp(LLVM::ICmpPredicate::ne, a, b);
  }
  Value ult(Value a, Value b) const {
    return icmp(LLVM::ICmpPredicate::ult, a, b);
  }
  Value slt(Value a, Value b) const {
    return icmp(LLVM::ICmpPredicate::slt, a, b);
  }
  Value not_(Value a) const {
    return xor_(a, intVal(a.getType().getIntOrFloatBitWidth(), -1));
  }
  /// Conjunction in which a null operand means true.
  Value andPred(Value a, Value b) const {
    if (!a)
      return b;
    return b ? and_(a, b) : a;
  }
  Value select(Value c, Value a, Value b) const {
    return create<LLVM::SelectOp>(c, a, b);
  }

  // Floats.
  Value fadd(Value a, Value b) const { return create<LLVM::FAddOp>(a, b); }
  Value fmul(Value a, Value b) const { return create<LLVM::FMulOp>(a, b); }
  Value fpext(Type t, Value a) const { return create<LLVM::FPExtOp>(t, a); }
  Value fptrunc(Type t, Value a) const { return create<LLVM::FPTruncOp>(t, a); }

  // Reinterpretation.
  Value bitcast(Value a, Type t) const {
    return a.getType() == t ? a : create<LLVM::BitcastOp>(t, a).getResult();
  }
  Value ptrToInt(Type t, Value a) const {
    return create<LLVM::PtrToIntOp>(t, a);
  }
  Value intToPtr(Type t, Value a) const {
    return create<LLVM::IntToPtrOp>(t, a);
  }

  // Aggregates and vectors.
  Value extractVal(Value aggregate, int64_t pos) const {
    return create<LLVM::ExtractValueOp>(aggregate, pos);
  }
  Value insertVal(Value aggregate, Value value, int64_t pos) const {
    return create<LLVM::InsertValueOp>(aggregate, value, pos);
  }
  Value extractElem(Value vector, int64_t pos) const {
    return create<LLVM::ExtractElementOp>(vector, i32(pos));
  }
  Value insertElem(Value vector, Value value, int64_t pos) const {
    return create<LLVM::InsertElementOp>(vector, value, i32(pos));
  }
  /// A vector of the values; a single value stays as it is.
  Value packVector(ArrayRef<Value> values) const;
  /// The reverse of packVector.
  SmallVector<Value> unpackVector(Value vector) const;

  // Memory.
  /// base + index * sizeof(element).
  Value gep(Value base, Type element, Value index, bool inbounds = false) const;
  Value gep(Value base, Type element, int64_t index) const;
  Value load(Type type, Value ptr, unsigned align,
             bool isVolatile = false) const {
    return create<LLVM::LoadOp>(type, ptr, align, isVolatile);
  }
  void store(Value value, Value ptr, unsigned align) const {
    create<LLVM::StoreOp>(value, ptr, align);
  }

  /// Calls an LLVM intrinsic by name; a null result type for none.
  Value intrinsic(Type result, StringRef name, ValueRange args) const;

private:
  Location loc;
  OpBuilder &builder;
};

} // namespace mlir::triton

#endif // TILE_CONVERSION_TRITONGPUTOLLVM_LLVMBUILDER_H
