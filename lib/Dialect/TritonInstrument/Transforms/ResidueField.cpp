//===-- ResidueField.cpp - Arithmetic modulo a prime ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ResidueField.h"

#include "tile/Dialect/Triton/IR/Dialect.h"

#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::instrument;

/// The exponents of the Mersenne primes that fit.
static unsigned getExponent(unsigned width) {
  return width >= 32 ? 31 : width >= 16 ? 13 : 7;
}

ResidueField::ResidueField(FloatType type)
    : type(type), exponent(::getExponent(type.getWidth())) {}

uint64_t ResidueField::getResidue(const llvm::APFloat &value) const {
  uint64_t prime = getPrime();
  if (value.isInfinity())
    return value.isNegative() ? getMinusInfinity() : getInfinity();
  if (value.isNaN())
    return prime / 3;
  if (value.isZero())
    return 0;
  // As an integer by a power of two.
  const llvm::fltSemantics &semantics = value.getSemantics();
  int precision = llvm::APFloat::semanticsPrecision(semantics);
  int power = llvm::ilogb(value) - (precision - 1);
  llvm::APFloat scaled =
      llvm::scalbn(value, -power, llvm::APFloat::rmNearestTiesToEven);
  llvm::APSInt mantissa(/*BitWidth=*/64, /*isUnsigned=*/true);
  bool isExact;
  llvm::APFloat magnitude = scaled;
  magnitude.clearSign();
  (void)magnitude.convertToInteger(mantissa, llvm::APFloat::rmTowardZero,
                                   &isExact);
  uint64_t residue = mantissa.getZExtValue() % prime;
  // 2^q is 1.
  int shift = power % int(exponent);
  if (shift < 0)
    shift += exponent;
  for (int i = 0; i < shift; ++i)
    residue = residue * 2 % prime;
  return value.isNegative() && residue ? prime - residue : residue;
}

llvm::APFloat ResidueField::getBitsOf(uint64_t residue) const {
  FloatType type = getType();
  return llvm::APFloat(type.getFloatSemantics(),
                       llvm::APInt(type.getWidth(), residue));
}

Type ResidueBuilder::withElements(Type type, Type element) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? Type(tensor.clone(element)) : element;
}

Value ResidueBuilder::constant(Value like, uint64_t value) {
  Type element = getElementTypeOrSelf(like.getType());
  TypedAttr attribute = b.getIntegerAttr(element, int64_t(value));
  if (auto tensor = dyn_cast<RankedTensorType>(like.getType()))
    attribute = DenseElementsAttr::get(tensor, attribute);
  return create<arith::ConstantOp>(attribute);
}

Value ResidueBuilder::reduce(Value x, unsigned bits) {
  unsigned q = field.getExponent();
  Value prime = constant(x, field.getPrime()), shift = constant(x, q);
  auto fold = [&](Value value) {
    return create<arith::AddIOp>(create<arith::AndIOp>(value, prime),
                                 create<arith::ShRUIOp>(value, shift));
  };
  for (; bits > q + 1; bits = std::max(q, bits - q) + 1)
    x = fold(x);
  // At most the prime and one more.
  if (bits > q)
    x = fold(x);
  Value isLess = create<arith::CmpIOp>(arith::CmpIPredicate::ult, x, prime);
  return create<arith::SelectOp>(isLess, x, create<arith::SubIOp>(x, prime));
}

Value ResidueBuilder::read(Value value) {
  unsigned width = field.getType().getWidth();
  Type bits = withElements(value.getType(), b.getIntegerType(width));
  Value x = create<BitcastOp>(bits, value);
  if (width < field.getBits())
    x = create<arith::ExtUIOp>(
        withElements(x.getType(), b.getIntegerType(field.getBits())), x);
  return reduce(x, width);
}

Value ResidueBuilder::write(Value residue) {
  unsigned width = field.getType().getWidth();
  if (width < field.getBits())
    residue = create<arith::TruncIOp>(
        withElements(residue.getType(), b.getIntegerType(width)), residue);
  return create<BitcastOp>(withElements(residue.getType(), field.getType()),
                           residue);
}

Value ResidueBuilder::add(Value x, Value y) {
  return reduce(create<arith::AddIOp>(x, y), field.getExponent() + 1);
}

Value ResidueBuilder::addNumbers(Value x, Value y) {
  Value sum = add(x, y);
  if (field.getType().getWidth() < 32)
    return sum;
  for (uint64_t infinity : {field.getInfinity(), field.getMinusInfinity()}) {
    Value isInfinite =
        create<arith::OrIOp>(isEqual(x, infinity), isEqual(y, infinity));
    sum = select(isInfinite, constant(sum, infinity), sum);
  }
  return sum;
}

Value ResidueBuilder::negate(Value x) {
  Value other = create<arith::SubIOp>(constant(x, field.getPrime()), x);
  return reduce(other, field.getExponent());
}

Value ResidueBuilder::mul(Value x, Value y) {
  return reduce(create<arith::MulIOp>(x, y), 2 * field.getExponent());
}

Value ResidueBuilder::invert(Value x) {
  // x^(p - 2), from the upper bit on.
  uint64_t power = field.getPrime() - 2;
  Value result = x;
  for (int bit = int(field.getExponent()) - 2; bit >= 0; --bit) {
    result = mul(result, result);
    if (power >> bit & 1)
      result = mul(result, x);
  }
  return result;
}

Value ResidueBuilder::getCentred(Value x) {
  Value isNegative = create<arith::CmpIOp>(arith::CmpIPredicate::ugt, x,
                                           constant(x, field.getInfinity()));
  Value less = create<arith::SubIOp>(x, constant(x, field.getPrime()));
  return create<arith::SelectOp>(isNegative, less, x);
}

Value ResidueBuilder::compare(arith::CmpIPredicate predicate, Value x,
                              Value y) {
  return create<arith::CmpIOp>(predicate, getCentred(x), getCentred(y));
}

Value ResidueBuilder::select(Value condition, Value x, Value y) {
  return create<arith::SelectOp>(condition, x, y);
}

Value ResidueBuilder::isEqual(Value x, uint64_t residue) {
  return create<arith::CmpIOp>(arith::CmpIPredicate::eq, x,
                               constant(x, residue));
}

Value ResidueBuilder::apply(StringRef name, ValueRange operands) {
  // A polynomial that depends on the name, and on the order of the operands.
  uint64_t hash = llvm::xxh3_64bits(name);
  Value result = constant(operands.front(), hash % field.getPrime());
  for (Value x : operands) {
    hash = hash * 6364136223846793005u + 1442695040888963407u;
    Value shifted =
        add(mul(x, constant(x, (hash >> 16) % field.getPrime())), result);
    result = add(mul(mul(shifted, shifted), shifted), x);
  }
  return result;
}

Value ResidueBuilder::fromInteger(Value integer, bool isSigned) {
  unsigned width =
      getElementTypeOrSelf(integer.getType()).getIntOrFloatBitWidth();
  unsigned bits = std::max(width, field.getBits());
  Type wide = withElements(integer.getType(), b.getIntegerType(bits));
  Value isNegative, magnitude = integer;
  if (isSigned) {
    Value zero = constant(integer, 0);
    isNegative =
        create<arith::CmpIOp>(arith::CmpIPredicate::slt, integer, zero);
    magnitude = create<arith::SelectOp>(
        isNegative, create<arith::SubIOp>(zero, integer), integer);
  }
  if (width < bits)
    magnitude = create<arith::ExtUIOp>(wide, magnitude);
  Value x = reduce(magnitude, width);
  if (bits > field.getBits())
    x = create<arith::TruncIOp>(
        withElements(x.getType(), b.getIntegerType(field.getBits())), x);
  return isSigned ? select(isNegative, negate(x), x) : x;
}

Value ResidueBuilder::toInteger(Value x, Type integer) {
  Value centred = getCentred(x);
  unsigned width = getElementTypeOrSelf(integer).getIntOrFloatBitWidth();
  if (width == field.getBits())
    return centred;
  if (width < field.getBits())
    return create<arith::TruncIOp>(integer, centred);
  return create<arith::ExtSIOp>(integer, centred);
}

Value ResidueBuilder::convert(Value x, const ResidueField &from) {
  // As the number between -p/2 and p/2 that it stands for.
  Value isInfinite = isEqual(x, from.getInfinity());
  Value isMinusInfinite = isEqual(x, from.getMinusInfinity());
  Value centred = ResidueBuilder(b, loc, from).getCentred(x);
  Value result = fromInteger(centred, /*isSigned=*/true);
  result = select(isInfinite, constant(result, field.getInfinity()), result);
  return select(isMinusInfinite, constant(result, field.getMinusInfinity()),
                result);
}
