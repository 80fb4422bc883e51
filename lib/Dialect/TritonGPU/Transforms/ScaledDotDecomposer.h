//===-- ScaledDotDecomposer.h - A scaled dot as plain ones ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What DecomposeScaledDots.cpp and ScaledDotGroups.cpp share: the former scales
// operands and multiplies them, the latter multiplies group by group.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TRITONGPU_SCALEDDOTDECOMPOSER_H
#define TILE_TRITONGPU_SCALEDDOTDECOMPOSER_H

#include "DecomposeScaledDots.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"

namespace mlir::triton::gpu {

/// The elements along `axis`, combined by `combine`.
Value reduceAlong(OpBuilder &b, Location loc, Value source, unsigned axis,
                  llvm::function_ref<Value(Value, Value)> combine);

struct ScaledOperand {
  Value source;
  Value scales; ///< null without
  ScaleDotElemType format;
  bool isRight, isPackedAlongK;
  /// In the compute type, or in f32 where they are to be split, not scaled yet.
  Value elements;
  /// Scaled, element by element.
  Value scaled;

  bool hasInfinities() const {
    return format != ScaleDotElemType::E2M1 && format != ScaleDotElemType::E4M3;
  }
  RankedTensorType getScaleType() const {
    return cast<RankedTensorType>(scales.getType());
  }
  bool hasExponents() const { return gpu::hasExponents(scales); }
};

/// Elements of an operand in a range of their own, and the power of two that
/// brings them, and what they are multiplied to, away from the ends of fp32.
struct Share {
  Value elements;
  int64_t exponent;
};

class ScaledDotDecomposer {
public:
  explicit ScaledDotDecomposer(DotScaledOp op, bool isSeldom = false)
      : op(op), isSeldom(isSeldom), b(op), loc(op.getLoc()), type(op.getType()),
        rank(type.getRank()),
        left{op.getA(), op.getAScale(),   op.getAElemType(),
             false,     op.getLhsKPack(), {},
             {}},
        right{op.getB(), op.getBScale(),   op.getBElemType(),
              true,      op.getRhsKPack(), {},
              {}} {}

  LogicalResult run();
  FailureOr<SmallVector<Value>> flag();

private:
  LogicalResult branch(Value unsafe);
  LogicalResult extend();
  LogicalResult extend(ScaledOperand &operand);
  Value scale(const ScaledOperand &operand, Value unsafe);

  Value findUnsafeScales(const ScaledOperand &operand);
  Value findUnsafeElements(const ScaledOperand &operand);
  SmallVector<Value> findUnsafe(bool byRow);

  bool multipliesAsynchronously(Type element);
  bool isSplit(const ScaledOperand &operand) const {
    return operand.format == ScaleDotElemType::FP16 && computeType.isBF16();
  }
  std::pair<Value, Value> split(Value elements);
  Value dropInfinities(const ScaledOperand &operand, Value elements);
  Value multiplyParts(Value left, Value right, Value sum,
                      RankedTensorType result);
  Value multiply(Value left, Value right, Value sum, RankedTensorType result);
  Value multiplyGroups(const ScaledOperand &left, const ScaledOperand &right,
                       Value plain);
  SmallVector<Share> getShares(const ScaledOperand &operand);
  Value isGroup(Value index, Value group);
  Value keepGroup(Value elements, const ScaledOperand &operand, Value group,
                  int64_t groups);
  bool haveRoom() const;
  Value store(Value elements, const ScaledOperand &operand, int64_t groups);
  Value loadGroup(Value stored, Value group);
  Value getGroupExponents(const ScaledOperand &operand, Value group);
  SmallVector<Value> getGroupFactors(const ScaledOperand &operand, Value group,
                                     int64_t more);
  Value forEachGroup(int64_t groups, Value sum,
                     llvm::function_ref<Value(Value group, Value sum)> add);
  Value addGroups(Value plain, Value groups);

  unsigned getInnerDim(const ScaledOperand &operand) const {
    return operand.isRight ? rank - 2 : rank - 1;
  }
  Value constant(Type of, int64_t value) {
    return createScalarOrSplatConstant(b, loc, of, value);
  }
  Value number(Type of, double value) {
    APFloat exact(value);
    bool ignored;
    exact.convert(cast<FloatType>(getElementTypeOrSelf(of)).getFloatSemantics(),
                  APFloat::rmNearestTiesToEven, &ignored);
    return createScalarOrSplatConstant(b, loc, of, exact);
  }
  Value indexAlong(RankedTensorType of, unsigned dim);

  DotScaledOp op;
  /// Whether few iterations come here: those of a second loop.
  bool isSeldom;
  OpBuilder b;
  Location loc;
  RankedTensorType type;
  unsigned rank;
  ScaledOperand left, right;
  Type computeType;
};

} // namespace mlir::triton::gpu

#endif // TILE_TRITONGPU_SCALEDDOTDECOMPOSER_H
