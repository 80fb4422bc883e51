//===-- ScaledProducts.cpp - Products with scales on MFMA -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A lane gives 16 bytes along K at a time, and the scale of 32 elements of its
// row. These are not all its own: scales count along K from lane to lane.
//
//===----------------------------------------------------------------------===//

#include "amd/MatrixInstructions.h"
#include "amd/TargetModel.h"

#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/Transforms/AccelerateMatmul.h"

#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tritonamdgpu-accelerate-matmul"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;
using amd::ScaledMatrixInstruction;

namespace {
constexpr unsigned kBytesOfLane = 16;

bool isSupported(ScaleDotElemType format, bool isPackedAlongK) {
  switch (format) {
  case ScaleDotElemType::E4M3:
  case ScaleDotElemType::E5M2:
    return true;
  case ScaleDotElemType::E2M1:
    return isPackedAlongK;
  default:
    return false;
  }
}

/// Scales are powers of two for 32 elements each, if there are any.
bool isSupported(TypedValue<RankedTensorType> scales, int64_t k) {
  return !scales ||
         (scales.getType().getElementType().isInteger(8) &&
          scales.getType().getShape().back() * amd::kElementsOfScale == k);
}

const ScaledMatrixInstruction *select(DotScaledOp op,
                                      const amd::TargetModel &model) {
  RankedTensorType type = op.getType();
  if (type.getRank() != 2 || !type.getElementType().isF32() ||
      !isSupported(op.getAElemType(), op.getLhsKPack()) ||
      !isSupported(op.getBElemType(), op.getRhsKPack()))
    return nullptr;
  int64_t k = op.getA().getType().getShape()[1] *
              (op.getAElemType() == ScaleDotElemType::E2M1 ? 2 : 1);
  if (!isSupported(op.getAScale(), k) || !isSupported(op.getBScale(), k))
    return nullptr;
  const ScaledMatrixInstruction *other = nullptr;
  for (const ScaledMatrixInstruction &instruction :
       amd::getScaledMatrixInstructions(model.getFacts())) {
    if (instruction.m > type.getShape()[0] ||
        instruction.m > type.getShape()[1] || instruction.k > k)
      continue;
    if (model.allowsRows(instruction.m))
      return &instruction;
    if (!other)
      other = &instruction;
  }
  return other;
}

/// Lanes have the rows of an instruction, and then neighbours along K.
LinearLayout::DimBases
getScaleLanes(const ScaledMatrixInstruction &instruction) {
  LinearLayout::DimBases lanes;
  for (int32_t i = 1; i < static_cast<int32_t>(instruction.m); i *= 2)
    lanes.push_back({i, 0});
  for (int32_t i = 1; i < static_cast<int32_t>(64 / instruction.m); i *= 2)
    lanes.push_back({0, i});
  return lanes;
}
} // namespace

std::optional<ScaledMatrixLayouts>
amd::TargetModel::getScaledMatrixLayouts(DotScaledOp op) const {
  const ScaledMatrixInstruction *instruction = select(op, *this);
  if (!instruction)
    return std::nullopt;
  MLIRContext *context = op.getContext();
  RankedTensorType type = op.getType();
  SmallVector<unsigned> grid(2, 1);
  shareOutWarps(grid, type.getShape(), instruction->m, instruction->m,
                lookupNumWarps(op));
  ScaledMatrixLayouts layouts;
  layouts.result = AMDMfmaEncodingAttr::get(
      context, facts.mfmaVersion, grid,
      SmallVector<unsigned>{instruction->m, instruction->m, instruction->k},
      /*isTransposed=*/true, getCTALayout(type.getEncoding()),
      SmallVector<unsigned>(2, 1), /*elementBitWidth=*/32);
  for (unsigned index : {0, 1}) {
    auto operand = cast<RankedTensorType>(op->getOperand(index).getType());
    Value scales = index == 0 ? op.getAScale() : op.getBScale();
    layouts.operands[index] = DotOperandEncodingAttr::get(
        context, index, layouts.result, kBytesOfLane);
    if (scales)
      layouts.scales[index] = LinearEncodingAttr::get(
          context,
          getScaleLayout(operand.cloneWithEncoding(layouts.operands[index]),
                         index,
                         cast<RankedTensorType>(scales.getType()).getShape(),
                         getScaleLanes(*instruction)));
  }
  LDBG() << instruction->intrinsic << " for " << op;
  return layouts;
}
