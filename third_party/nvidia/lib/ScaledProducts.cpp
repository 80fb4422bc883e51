//===-- ScaledProducts.cpp - Products with scales on mma.sync -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A thread gives words of four bytes along K, and the scales of a row and of a
// column that need not be its own. Of the four lanes that share a row of A, two
// are asked for the scales of two rows, eight apart; of those that share a
// column of B, one. Which of them is for the instruction to say, so that the
// others hold the scales of the next rows and columns of their warp.
//
//===----------------------------------------------------------------------===//

#include "nvidia/ScaledMma.h"
#include "nvidia/TargetModel.h"

#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"
#include "tile/Dialect/TritonGPU/Transforms/AccelerateMatmul.h"

#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tritongpu-accelerate-matmul"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;
using namespace mlir::triton::nvidia;

/// Whether elements have at most 8 bits and, where there are two in a byte, are
/// neighbours along K.
static bool isNarrow(ScaleDotElemType format, bool isPackedAlongK) {
  if (format == ScaleDotElemType::E2M1)
    return isPackedAlongK;
  return format != ScaleDotElemType::BF16 && format != ScaleDotElemType::FP16;
}

std::optional<ScaledMma> nvidia::findScaledMma(DotScaledOp op,
                                               const NVIDIATarget &facts) {
  using Kind = NVVM::MMABlockScaleKind;
  using Scale = NVVM::BlockScaleFormat;
  if (!facts.hasBlockScaledMma || op.getType().getRank() != 2 ||
      !op.getType().getElementType().isF32() ||
      !isNarrow(op.getAElemType(), op.getLhsKPack()) ||
      !isNarrow(op.getBElemType(), op.getRhsKPack()))
    return std::nullopt;
  int64_t k =
      op.getA().getType().getShape()[1] * elementsOfByte(op.getAElemType());
  bool isFP4 = op.getAElemType() == ScaleDotElemType::E2M1 &&
               op.getBElemType() == ScaleDotElemType::E2M1;
  unsigned exponents = 0, floats = 0;
  for (TypedValue<RankedTensorType> scales : {op.getAScale(), op.getBScale()})
    if (scales)
      ++(scales.getType().getElementType().isInteger(8) ? exponents : floats);
  if (exponents && floats)
    return std::nullopt;

  ScaledMma mma{Kind::MXF8F6F4, Scale::UE8M0, /*k=*/32, /*groups=*/1};
  if (floats)
    mma = {Kind::MXF4NVF4, Scale::UE4M3, /*k=*/64, /*groups=*/4};
  else if (isFP4 && k >= 64)
    mma = {Kind::MXF4, Scale::UE8M0, /*k=*/64, /*groups=*/2};
  if (k < mma.k || (floats && !isFP4))
    return std::nullopt;
  return mma;
}

/// The rows that the registers of a thread give to an operand, beyond those of
/// one instruction.
static SmallVector<int32_t> getRowsOfRegisters(RankedTensorType operand,
                                               unsigned rowDim,
                                               int32_t inInstruction) {
  SmallVector<int32_t> rows;
  LinearLayout layout = toLinearLayout(operand);
  for (unsigned i = 0, e = layout.getInDimSizeLog2(kRegister); i < e; ++i)
    if (int32_t row = layout.getBasis(kRegister, i, kDim(rowDim));
        row >= inInstruction)
      rows.push_back(row);
  return rows;
}

/// Rows and groups along K of the bits of a lane.
static LinearLayout::DimBases getScaleLanes(RankedTensorType operand,
                                            unsigned rowDim) {
  int32_t inInstruction = rowDim == 0 ? ScaledMma::m : ScaledMma::n;
  LinearLayout::DimBases lanes;
  if (rowDim == 0)
    lanes.push_back({8, 0});
  for (int32_t row : getRowsOfRegisters(operand, rowDim, inInstruction))
    if (lanes.size() < 2)
      lanes.push_back({row, 0});
  lanes.resize(2, {0, 0});
  for (int32_t row : {1, 2, 4})
    lanes.push_back({row, 0});
  return lanes;
}

std::optional<ScaledMatrixLayouts>
nvidia::TargetModel::getScaledMatrixLayouts(DotScaledOp op) const {
  std::optional<ScaledMma> mma = findScaledMma(op, facts);
  RankedTensorType type = op.getType();
  SmallVector<int64_t> shape = getShapePerCTA(type);
  if (!mma || shape[0] < ScaledMma::m || shape[1] < ScaledMma::n)
    return std::nullopt;
  MLIRContext *context = op.getContext();
  SmallVector<unsigned> grid(2, 1);
  shareOutWarps(grid, shape, ScaledMma::m, ScaledMma::n, lookupNumWarps(op));
  ScaledMatrixLayouts layouts;
  layouts.result = NvidiaMmaEncodingAttr::get(
      context, kMmaSync, /*versionMinor=*/0, grid,
      getCTALayout(type.getEncoding()), SmallVector<unsigned>{16, 8});
  for (unsigned index : {0, 1}) {
    bool isLeft = index == 0;
    // Two e2m1 in a byte become two bytes where the other operand has bytes.
    unsigned kWidth =
        mma->perRegister() /
        elementsOfByte(isLeft ? op.getAElemType() : op.getBElemType());
    layouts.operands[index] =
        DotOperandEncodingAttr::get(context, index, layouts.result, kWidth);
    auto operand = cast<RankedTensorType>(op->getOperand(index).getType())
                       .cloneWithEncoding(layouts.operands[index]);
    TypedValue<RankedTensorType> scales =
        isLeft ? op.getAScale() : op.getBScale();
    if (scales)
      layouts.scales[index] = LinearEncodingAttr::get(
          context, getScaleLayout(operand, index, scales.getType().getShape(),
                                  getScaleLanes(operand, index)));
  }
  LDBG() << "mma.sync " << NVVM::stringifyMMABlockScaleKind(mma->kind)
         << " for " << op;
  return layouts;
}
