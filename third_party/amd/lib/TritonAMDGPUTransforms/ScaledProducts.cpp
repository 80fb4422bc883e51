//===-- ScaledProducts.cpp - Products with scales on MFMA -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A lane gives 16 bytes along K at a time, and the scale of 32 elements of its
// row, which are not all its own: scales count along K from lane to lane.
//
//===----------------------------------------------------------------------===//

#include "ScaledProducts.h"

#include "amd/MatrixInstructions.h"

#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"
#include "tile/Dialect/TritonGPU/Transforms/ConvertTo.h"
#include "tile/Dialect/TritonGPU/Transforms/LayoutInference.h"

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

/// Warps share out the longer dimension first.
SmallVector<unsigned> chooseWarpGrid(ArrayRef<int64_t> shape, unsigned size,
                                     unsigned numWarps) {
  SmallVector<unsigned> grid(2, 1);
  for (unsigned left = numWarps; left > 1; left /= 2) {
    int64_t m = shape[0] / grid[0], n = shape[1] / grid[1];
    grid[n > size && (n >= m || m <= size) ? 1 : 0] *= 2;
  }
  return grid;
}

/// Where the scales of an operand are: by rows, then along K, in lanes, and the
/// rest of K and of rows in registers.
LinearLayout getScaleLayout(RankedTensorType operand, unsigned rowDim,
                            ArrayRef<int64_t> shape,
                            const ScaledMatrixInstruction &instruction) {
  LinearLayout layout = toLinearLayout(operand);
  auto outDims = llvm::to_vector(layout.getOutDimNames());
  LinearLayout::Bases bases;
  auto rowsOf = [&](StringRef in) {
    LinearLayout::DimBases result;
    for (const auto &[name, of] : layout.getBases())
      for (const std::vector<int32_t> &basis : of)
        if (name == in && basis[1 - rowDim] == 0)
          result.push_back({basis[rowDim], 0});
    return result;
  };
  int32_t lanesAlongK = 64 / instruction.m;
  LinearLayout::DimBases registers, lanes;
  for (int32_t i = lanesAlongK; i < shape[1]; i *= 2)
    registers.push_back({0, i});
  for (const std::vector<int32_t> &basis : rowsOf(kRegister))
    if (basis.front())
      registers.push_back(basis);
  for (int32_t i = 1; i < static_cast<int32_t>(instruction.m); i *= 2)
    lanes.push_back({i, 0});
  for (int32_t i = 1; i < lanesAlongK; i *= 2)
    lanes.push_back({0, i});
  bases.emplace_back(kRegister, registers);
  bases.emplace_back(kLane, lanes);
  bases.emplace_back(kWarp, rowsOf(kWarp));
  bases.emplace_back(kBlock, rowsOf(kBlock));
  return LinearLayout(
      bases, {{outDims[0], int32_t(shape[0])}, {outDims[1], int32_t(shape[1])}},
      /*requireSurjective=*/true);
}

void accelerate(DotScaledOp op, const ScaledMatrixInstruction &instruction,
                const amd::TargetModel &model) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  MLIRContext *context = op.getContext();
  RankedTensorType type = op.getType();
  auto result = AMDMfmaEncodingAttr::get(
      context, model.getFacts().mfmaVersion,
      chooseWarpGrid(type.getShape(), instruction.m, lookupNumWarps(op)),
      SmallVector<unsigned>{instruction.m, instruction.m, instruction.k},
      /*isTransposed=*/true, getCTALayout(type.getEncoding()),
      SmallVector<unsigned>(2, 1), /*elementBitWidth=*/32);
  LDBG() << instruction.intrinsic << " with " << result << " for " << op;

  auto prepare = [&](Value operand, unsigned index) {
    return convertTo(
        b, loc, operand,
        DotOperandEncodingAttr::get(context, index, result, kBytesOfLane));
  };
  auto prepareScale = [&](Value scales, Value operand, unsigned index) {
    if (!scales)
      return Value();
    return convertTo(
        b, loc, scales,
        LinearEncodingAttr::get(
            context,
            getScaleLayout(cast<RankedTensorType>(operand.getType()), index,
                           cast<RankedTensorType>(scales.getType()).getShape(),
                           instruction)));
  };
  Value left = prepare(op.getA(), 0), right = prepare(op.getB(), 1);
  auto product = DotScaledOp::create(
      b, loc, type.cloneWithEncoding(result), left, right,
      convertTo(b, loc, op.getC(), result),
      prepareScale(op.getAScale(), left, 0),
      prepareScale(op.getBScale(), right, 1), op.getAElemType(),
      op.getBElemType(), op.getFastMath(), op.getLhsKPack(), op.getRhsKPack());
  op.replaceAllUsesWith(convertTo(b, loc, product, type.getEncoding()));
  op.erase();
}
} // namespace

unsigned amd::accelerateScaledProducts(ModuleOp module,
                                       const TargetModel &model) {
  SmallVector<DotScaledOp> products;
  module.walk([&](DotScaledOp op) {
    if (getLayout(op.getD()) && maybeLookupNumWarps(op) &&
        !isa<MmaEncodingTrait>(op.getType().getEncoding()))
      products.push_back(op);
  });
  unsigned count = 0;
  for (DotScaledOp op : products)
    if (const ScaledMatrixInstruction *instruction = select(op, model)) {
      accelerate(op, *instruction, model);
      ++count;
    }
  return count;
}
