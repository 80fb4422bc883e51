//===-- ResidueField.h - Arithmetic modulo a prime --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Numbers of floating point are m * 2^e. Modulo a prime p = 2^q - 1 each of
// them has a residue, as 2 has an inverse. To add, multiply and divide residues
// does the same to the numbers, without rounding and in any order. The upper
// half of the residues stands for negative numbers. The outermost two stand for
// the infinities.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_DIALECT_TRITONINSTRUMENT_RESIDUEFIELD_H
#define TILE_LIB_DIALECT_TRITONINSTRUMENT_RESIDUEFIELD_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace mlir::triton::instrument {

/// The residues of one type of floating point.
class ResidueField {
public:
  explicit ResidueField(FloatType type);

  FloatType getType() const { return type; }
  uint64_t getPrime() const { return (uint64_t(1) << exponent) - 1; }
  unsigned getExponent() const { return exponent; }
  uint64_t getInfinity() const { return getPrime() / 2; }
  uint64_t getMinusInfinity() const { return getPrime() / 2 + 1; }
  /// Bits of the integers that are computed with.
  unsigned getBits() const { return exponent > 15 ? 64 : 32; }

  /// The residue of a constant.
  uint64_t getResidue(const llvm::APFloat &value) const;
  /// The bits of the residue, as a number of the type.
  llvm::APFloat getBitsOf(uint64_t residue) const;

private:
  FloatType type;
  unsigned exponent;
};

/// Emits arithmetic on residues: scalars, or tensors of one shape. Operands and
/// results are integers of `getBits()`, less than the prime.
class ResidueBuilder {
public:
  ResidueBuilder(OpBuilder &builder, Location loc, const ResidueField &field)
      : b(builder), loc(loc), field(field) {}

  /// From the bits of a value of the field's type, and back.
  Value read(Value value);
  Value write(Value residue);

  Value add(Value x, Value y);
  /// The same of numbers: of 32 bits and more, infinities stay what they are.
  /// In smaller fields sums too often meet the residues of infinities.
  Value addNumbers(Value x, Value y);
  Value negate(Value x);
  Value mul(Value x, Value y);
  Value divide(Value x, Value y) { return mul(x, invert(y)); }
  /// 0 for 0.
  Value invert(Value x);
  /// As a signed number between -p/2 and p/2.
  Value getCentred(Value x);
  Value compare(arith::CmpIPredicate predicate, Value x, Value y);
  Value select(Value condition, Value x, Value y);
  Value isEqual(Value x, uint64_t residue);
  /// A function of which only its name is known.
  Value apply(StringRef name, ValueRange operands);

  /// From a signed or unsigned integer, and back.
  Value fromInteger(Value integer, bool isSigned);
  Value toInteger(Value x, Type integer);
  /// From the residues of another field.
  Value convert(Value x, const ResidueField &from);

  Value constant(Value like, uint64_t value);

private:
  /// The residue of integers of at most so many bits.
  Value reduce(Value x, unsigned bits);
  Type withElements(Type type, Type element);
  template <typename OpT, typename... ArgsT> Value create(ArgsT &&...args) {
    return OpT::create(b, loc, std::forward<ArgsT>(args)...);
  }

  OpBuilder &b;
  Location loc;
  const ResidueField &field;
};

} // namespace mlir::triton::instrument

#endif // TILE_LIB_DIALECT_TRITONINSTRUMENT_RESIDUEFIELD_H
