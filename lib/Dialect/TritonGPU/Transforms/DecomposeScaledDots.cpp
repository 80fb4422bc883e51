//===-- DecomposeScaledDots.cpp - Scaled products as plain ones -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A group of elements along K has a scale for each row. What the rule asks for
// is the sum of the products of a group, scaled by both of its scales as if
// exponents had no bounds. All of the narrow formats fit into bf16 without
// loss. So do they multiplied by the scales, which are powers of two or have
// four significant bits. Operands are scaled, and a plain dot does the rest.
// fp16 has more bits, for which tf32 has room. Or such an operand is the sum of
// two in bf16, which take two dots: x = high(x) + low(x). Both take the same
// time. Asynchronous instructions read operands in bf16 from shared memory in
// any order, so there it is two dots.
//
// That is exact as long as the scaled operands stay normal numbers. Where the
// scale of any group is beyond that, which the kernel finds out while it runs,
// all scales of the plain dot are zero, and nothing comes of it. The groups are
// then multiplied one by one, and it is their sums that are scaled
// (ScaledDotGroups.cpp).
//
//===----------------------------------------------------------------------===//

#include "ScaledDotDecomposer.h"

#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/TargetModel.h"
#include "tile/Dialect/TritonGPU/Transforms/ConvertTo.h"
#include "tile/Dialect/TritonGPU/Transforms/MicroscalingScales.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

Value gpu::reduceAlong(OpBuilder &b, Location loc, Value source, unsigned axis,
                       llvm::function_ref<Value(Value, Value)> combine) {
  auto reduction = ReduceOp::create(b, loc, ValueRange{source}, axis);
  Type element = getElementTypeOrSelf(source.getType());
  OpBuilder::InsertionGuard guard(b);
  Block *body = b.createBlock(&reduction.getCombineOp(), {}, {element, element},
                              {loc, loc});
  ReduceReturnOp::create(b, loc,
                         combine(body->getArgument(0), body->getArgument(1)));
  return reduction.getResult().front();
}

/// The bits that are set in any element along `axis`.
static Value orAlong(OpBuilder &b, Location loc, Value source, unsigned axis) {
  return reduceAlong(b, loc, source, axis, [&](Value x, Value y) {
    return arith::OrIOp::create(b, loc, x, y).getResult();
  });
}

/// As 32-bit words.
static Value widen(OpBuilder &b, Location loc, Value flags) {
  auto type = cast<RankedTensorType>(flags.getType());
  if (type.getElementType().isInteger(32))
    return flags;
  return arith::ExtUIOp::create(b, loc, type.clone(b.getI32Type()), flags);
}

bool gpu::hasExponents(Value scales) {
  return scales && getElementTypeOrSelf(scales.getType()).isInteger(8);
}

Value gpu::isAnySet(OpBuilder &b, Location loc, ValueRange flags) {
  llvm::MapVector<int64_t, Value> bySize;
  for (Value bits : flags) {
    int64_t size = cast<RankedTensorType>(bits.getType()).getNumElements();
    Value line = ReshapeOp::create(b, loc, {size}, widen(b, loc, bits));
    Value &all = bySize[size];
    if (all)
      line = arith::OrIOp::create(
          b, loc, all,
          convertTo(b, loc, line,
                    cast<RankedTensorType>(all.getType()).getEncoding()));
    all = line;
  }
  Value any;
  for (auto [size, line] : bySize) {
    Value one = orAlong(b, loc, line, 0);
    any = any ? arith::OrIOp::create(b, loc, any, one) : one;
  }
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, any,
                               arith::ConstantIntOp::create(b, loc, 0, 32));
}

/// The exponents, as they are stored, by which all elements of a format can be
/// scaled and are normal numbers still. They have at least the exponent of the
/// format's smallest number.
static std::pair<int64_t, int64_t> getSafeExponents(ScaleDotElemType format) {
  auto between = [](int64_t least, int64_t greatest) {
    return std::pair(-126 - least + 127, 127 - greatest + 127);
  };
  switch (format) {
  case ScaleDotElemType::E2M1:
    return between(-1, 2);
  case ScaleDotElemType::E4M3:
    return between(-9, 8);
  case ScaleDotElemType::E5M2:
    return between(-16, 15);
  case ScaleDotElemType::FP16:
    // Where they are split, the largest are rounded up to a power of two.
    return between(-24, 16);
  default:
    // Elements have any exponent: see findUnsafeElements.
    return {0, 254};
  }
}

//===----------------------------------------------------------------------===//
// Elements and scales
//===----------------------------------------------------------------------===//

LogicalResult ScaledDotDecomposer::extend(ScaledOperand &operand) {
  auto source = cast<RankedTensorType>(operand.source.getType());
  auto widen = [&](Value value) {
    auto from = cast<RankedTensorType>(value.getType());
    Type to = isSplit(operand) ? Type(b.getF32Type()) : computeType;
    operand.elements =
        from.getElementType() == to
            ? value
            : arith::ExtFOp::create(b, loc, from.clone(to), value).getResult();
    return success();
  };
  switch (operand.format) {
  case ScaleDotElemType::E2M1: {
    unsigned inner = getInnerDim(operand);
    unsigned axis = operand.isPackedAlongK ? inner
                    : inner == rank - 1    ? rank - 2
                                           : rank - 1;
    FailureOr<Attribute> layout =
        Fp4ToFpOp::inferResultEncoding(source, axis, loc);
    if (failed(layout))
      return failure();
    SmallVector<int64_t> shape(source.getShape());
    shape[axis] *= 2;
    auto extended = RankedTensorType::get(shape, b.getBF16Type(), *layout);
    return widen(Fp4ToFpOp::create(b, loc, extended, operand.source, axis));
  }
  case ScaleDotElemType::E4M3:
  case ScaleDotElemType::E5M2: {
    Type narrow = operand.format == ScaleDotElemType::E4M3
                      ? Type(b.getType<Float8E4M3FNType>())
                      : Type(b.getType<Float8E5M2Type>());
    Value value = operand.source;
    if (source.getElementType() != narrow)
      value = BitcastOp::create(b, loc, source.clone(narrow), value);
    operand.elements =
        FpToFpOp::create(b, loc, source.clone(computeType), value);
    return success();
  }
  case ScaleDotElemType::BF16:
  case ScaleDotElemType::FP16:
    return widen(operand.source);
  default:
    return op.emitOpError("has operands in the format ")
           << stringifyScaleDotElemType(operand.format)
           << ", for which there is no conversion";
  }
}

/// With factors of zero where scales are `unsafe`, which is null for never.
Value ScaledDotDecomposer::scale(const ScaledOperand &operand, Value unsafe) {
  if (!operand.scales)
    return operand.elements;
  auto type = cast<RankedTensorType>(operand.elements.getType());
  Value factors =
      spreadScales(b, loc, operand.scales, type, operand.isRight, unsafe);
  if (type.getElementType() != getElementTypeOrSelf(factors))
    factors = arith::ExtFOp::create(b, loc, type, factors);
  return arith::MulFOp::create(b, loc, operand.elements, factors);
}

//===----------------------------------------------------------------------===//
// Scales at the ends of the range
//===----------------------------------------------------------------------===//

Value ScaledDotDecomposer::findUnsafeScales(const ScaledOperand &operand) {
  auto [low, high] = getSafeExponents(operand.format);
  RankedTensorType wide = operand.getScaleType().clone(b.getI32Type());
  Value above = arith::SubIOp::create(
      b, loc, arith::ExtUIOp::create(b, loc, wide, operand.scales),
      constant(wide, low));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ugt, above,
                               constant(wide, high - low));
}

/// Elements of bf16 that may not be what they should once they are scaled.
Value ScaledDotDecomposer::findUnsafeElements(const ScaledOperand &operand) {
  auto type = cast<RankedTensorType>(operand.elements.getType());
  RankedTensorType bits = type.clone(b.getI16Type());
  // Among numbers other than zero, those with an exponent of 0 or 255.
  Value scaled = BitcastOp::create(b, loc, bits, scale(operand, Value()));
  scaled = arith::AddIOp::create(b, loc, scaled, constant(bits, 0x80));
  Value isAtEnd = arith::CmpIOp::create(
      b, loc, arith::CmpIPredicate::eq,
      arith::AndIOp::create(b, loc, scaled, constant(bits, 0x7F00)),
      constant(bits, 0));
  Value isNumber = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE,
                                         operand.elements, number(type, 0));
  return arith::AndIOp::create(b, loc, isAtEnd, isNumber);
}

/// Where the rule is not kept by scaling the operands. Flags of elements are as
/// many as the operand has, or, `byRow`, words, one for each row.
SmallVector<Value> ScaledDotDecomposer::findUnsafe(bool byRow) {
  SmallVector<Value> flags;
  for (const ScaledOperand *operand : {&left, &right}) {
    if (!operand->hasExponents())
      continue;
    flags.push_back(findUnsafeScales(*operand));
    if (operand->format != ScaleDotElemType::BF16)
      continue;
    Value elements = findUnsafeElements(*operand);
    flags.push_back(
        byRow ? orAlong(b, loc, widen(b, loc, elements), getInnerDim(*operand))
              : elements);
  }
  return flags;
}

//===----------------------------------------------------------------------===//
// The dot
//===----------------------------------------------------------------------===//

/// Two parts in bf16 whose sum `elements` are: what rounding leaves over has no
/// more than three bits. An infinity has no rest.
std::pair<Value, Value> ScaledDotDecomposer::split(Value elements) {
  auto wide = cast<RankedTensorType>(elements.getType());
  RankedTensorType narrow = wide.clone(b.getBF16Type());
  Value high = arith::TruncFOp::create(b, loc, narrow, elements);
  Value rounded = arith::ExtFOp::create(b, loc, wide, high);
  Value rest = arith::SubFOp::create(b, loc, elements, rounded);
  Value isExact = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ,
                                        elements, rounded);
  rest = arith::SelectOp::create(b, loc, isExact, number(wide, 0), rest);
  return {high, arith::TruncFOp::create(b, loc, narrow, rest)};
}

/// Zeros for the infinities of an operand. A rest may be zero, and zero
/// times infinity is NaN.
Value ScaledDotDecomposer::dropInfinities(const ScaledOperand &operand,
                                          Value elements) {
  if (!operand.hasInfinities())
    return elements;
  auto type = cast<RankedTensorType>(elements.getType());
  RankedTensorType bits = type.clone(b.getI16Type());
  Value magnitude =
      arith::AndIOp::create(b, loc, BitcastOp::create(b, loc, bits, elements),
                            constant(bits, 0x7FFF));
  Value isInfinite = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                           magnitude, constant(bits, 0x7F80));
  return arith::SelectOp::create(b, loc, isInfinite, number(type, 0), elements);
}

/// The dot of elements in the compute type, or of such that are split.
Value ScaledDotDecomposer::multiplyParts(Value left, Value right, Value sum,
                                         RankedTensorType result) {
  if (!isSplit(this->left) && !isSplit(this->right))
    return multiply(left, right, sum, result);
  // Both dots are added up in fp32 before anything is rounded.
  RankedTensorType wide = result.clone(b.getF32Type());
  bool isWide = result == wide;
  if (!isWide)
    sum = arith::ExtFOp::create(b, loc, wide, sum);
  if (isSplit(this->left)) {
    auto [high, low] = split(left);
    sum = multiply(high, right, sum, wide);
    sum = multiply(low, dropInfinities(this->right, right), sum, wide);
  } else {
    auto [high, low] = split(right);
    sum = multiply(left, high, sum, wide);
    sum = multiply(dropInfinities(this->left, left), low, sum, wide);
  }
  return isWide ? sum : arith::TruncFOp::create(b, loc, result, sum);
}

Value ScaledDotDecomposer::multiply(Value left, Value right, Value sum,
                                    RankedTensorType result) {
  auto asOperand = [&](Value value, unsigned index) {
    return convertTo(b, loc, value,
                     DotOperandEncodingAttr::get(op.getContext(), index,
                                                 type.getEncoding(),
                                                 computeType));
  };
  return DotOp::create(
      b, loc, result, asOperand(left, 0), asOperand(right, 1), sum,
      computeType.isF32() ? InputPrecision::TF32 : InputPrecision::IEEE,
      /*maxNumImpreciseAcc=*/0);
}

/// Whether the machine has instructions for dots of these elements that
/// run beside its threads.
bool ScaledDotDecomposer::multipliesAsynchronously(Type element) {
  return llvm::any_of(getTargetModel(op).getMatrixInstructions(
                          {element, element, b.getF32Type()}),
                      [](const MatrixInstruction &instruction) {
                        return instruction.isAsynchronous;
                      });
}

LogicalResult ScaledDotDecomposer::extend() {
  auto has = [&](ScaleDotElemType format) {
    return left.format == format || right.format == format;
  };
  if (has(ScaleDotElemType::FP16) && has(ScaleDotElemType::BF16))
    return op.emitOpError("mixes bf16 and fp16 operands, which have no "
                          "common 16-bit type");
  // Two operands to split would take four dots.
  bool areBothWide = left.format == ScaleDotElemType::FP16 &&
                     right.format == ScaleDotElemType::FP16;
  Type bf16 = b.getBF16Type();
  bool staysWide = has(ScaleDotElemType::FP16) &&
                   (areBothWide || !multipliesAsynchronously(bf16));
  computeType = staysWide ? Type(b.getF32Type()) : bf16;
  return success(succeeded(extend(left)) && succeeded(extend(right)));
}

FailureOr<SmallVector<Value>> ScaledDotDecomposer::flag() {
  if (failed(extend()))
    return failure();
  return llvm::map_to_vector(findUnsafe(/*byRow=*/true),
                             [&](Value flags) { return widen(b, loc, flags); });
}

LogicalResult ScaledDotDecomposer::run() {
  if (failed(extend()))
    return failure();
  SmallVector<Value> flags;
  if (!op.getFastMath())
    flags = findUnsafe(/*byRow=*/false);
  Value unsafe = flags.empty() ? Value() : isAnySet(b, loc, flags);
  if (unsafe && isSeldom)
    return branch(unsafe);
  left.scaled = scale(left, unsafe);
  right.scaled = scale(right, unsafe);
  Value result = multiplyParts(left.scaled, right.scaled, op.getC(), type);

  if (unsafe) {
    auto branch = scf::IfOp::create(b, loc, TypeRange{type}, unsafe,
                                    /*withElseRegion=*/true);
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, loc, result);
    b.setInsertionPointToStart(branch.thenBlock());
    for (ScaledOperand *operand : {&left, &right})
      if (!operand->hasExponents())
        operand->scaled = scale(*operand, Value());
    scf::YieldOp::create(b, loc, multiplyGroups(left, right, result));
    result = branch.getResult(0);
  }
  op.replaceAllUsesWith(result);
  op.erase();
  return success();
}

/// Makes one dot or the other. In a pipelined loop the plain one would have to
/// wait for the branch. Where that does not count, this takes fewer registers:
/// each way extends the operands by itself.
LogicalResult ScaledDotDecomposer::branch(Value unsafe) {
  auto branch = scf::IfOp::create(b, loc, TypeRange{type}, unsafe,
                                  /*withElseRegion=*/true);
  auto fill = [&](Block *block, llvm::function_ref<Value()> multiply) {
    b.setInsertionPointToStart(block);
    auto yield = scf::YieldOp::create(b, loc, op.getC());
    b.setInsertionPoint(yield);
    if (failed(extend()))
      return failure();
    yield.setOperand(0, multiply());
    return success();
  };
  if (failed(fill(branch.thenBlock(),
                  [&] {
                    for (ScaledOperand *operand : {&left, &right})
                      if (!operand->hasExponents())
                        operand->scaled = scale(*operand, Value());
                    return multiplyGroups(left, right, op.getC());
                  })) ||
      failed(fill(branch.elseBlock(), [&] {
        return multiplyParts(scale(left, Value()), scale(right, Value()),
                             op.getC(), type);
      })))
    return failure();
  op.replaceAllUsesWith(branch.getResult(0));
  op.erase();
  return success();
}

LogicalResult gpu::decomposeScaledDot(DotScaledOp op, bool isSeldom) {
  return ScaledDotDecomposer(op, isSeldom).run();
}

FailureOr<SmallVector<Value>> gpu::flagUnsafeScales(DotScaledOp op) {
  return ScaledDotDecomposer(op).flag();
}
