//===-- AccelerateMatmul.cpp - Map matrix products to tensor cores --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "DecomposeScaledDots.h"
#include "SpeculateScaledDots.h"

#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"
#include "tile/Dialect/TritonGPU/Transforms/AccelerateMatmul.h"
#include "tile/Dialect/TritonGPU/Transforms/ConvertTo.h"
#include "tile/Dialect/TritonGPU/Transforms/LayoutInference.h"
#include "tile/Dialect/TritonGPU/Transforms/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tritongpu-accelerate-matmul"

namespace mlir::triton::gpu {
#define GEN_PASS_DEF_TRITONGPUACCELERATEMATMUL
#include "tile/Dialect/TritonGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::gpu

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

namespace {

struct TritonGPUAccelerateMatmul
    : gpu::impl::TritonGPUAccelerateMatmulBase<TritonGPUAccelerateMatmul> {
  using Base::Base;

  void runOnOperation() override;
};

//===----------------------------------------------------------------------===//
// The grid of warps
//===----------------------------------------------------------------------===//

/// Whether dots of one block pass rows of results on to one another: `op`
/// gets its left operand from another dot, or gives it to one.
bool isChained(DotOp op) {
  Block *block = op->getBlock();
  auto passesOn = [&](Operation *user) {
    return user->getBlock() == block &&
           (isLayoutFlexible(user) || isa<ConvertLayoutOp>(user)) &&
           !isa<TransOp, ReshapeOp>(user);
  };

  llvm::SetVector<Operation *> slice;
  slice.insert(op);
  for (unsigned i = 0; i < slice.size(); ++i)
    for (OpOperand &use : slice[i]->getUses()) {
      auto dot = dyn_cast<DotOp>(use.getOwner());
      if (dot && dot != op && dot->getBlock() == block &&
          use.get() == dot.getA())
        return true;
      if (!dot && passesOn(use.getOwner()))
        slice.insert(use.getOwner());
    }

  slice.clear();
  auto addDefinition = [&](Value value) {
    Operation *def = value.getDefiningOp();
    if (def && def->getBlock() == block)
      slice.insert(def);
  };
  addDefinition(op.getA());
  for (unsigned i = 0; i < slice.size(); ++i) {
    if (isa<DotOp>(slice[i]))
      return true;
    if (passesOn(slice[i]))
      for (Value operand : slice[i]->getOperands())
        addDefinition(operand);
  }
  return false;
}

/// For rows that go on from dot to dot, where there are more warps than
/// `instruction` has groups of rows for. Returns a smaller one with which each
/// warp has rows of its own, if there is one.
MatrixInstruction preferRowsInWarps(DotOp op, const MatrixProduct &product,
                                    const MatrixInstruction &instruction,
                                    const TargetModel &model) {
  auto hasRowsForAll = [&](const MatrixInstruction &candidate) {
    return candidate.m * product.numWarps <=
           product.getM() * candidate.numWarps;
  };
  if (instruction.isAsynchronous || hasRowsForAll(instruction) ||
      !isChained(op))
    return instruction;
  for (const MatrixInstruction &smaller :
       model.getMatrixInstructions(product.types))
    if (hasRowsForAll(smaller) && smaller.n <= product.getN() &&
        smaller.k <= product.k)
      return smaller;
  return instruction;
}

SmallVector<unsigned> chooseWarpGrid(DotOp op, const MatrixProduct &product,
                                     const MatrixInstruction &instruction) {
  ArrayRef<int64_t> shape = product.shape;
  unsigned rank = shape.size(), m = rank - 2;
  SmallVector<unsigned> grid(rank, 1);
  grid[m] = instruction.numWarps;
  int64_t instrM = instruction.m / instruction.numWarps, instrN = instruction.n;
  int left = product.numWarps / instruction.numWarps;
  auto take = [&](unsigned dim) {
    grid[dim] *= 2;
    left /= 2;
  };
  // Products of a batch share no operands.
  if (rank == 3)
    while (left > 1 && grid[0] < shape[0])
      take(0);
  if (isChained(op))
    while (left > 1 && shape[m] / grid[m] > instrM)
      take(m);
  shareOutWarps(grid, shape, instrM, instrN, left);
  return grid;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// The narrowest elements that `operand` is computed from, element by element:
/// they go to registers first, and are extended there.
unsigned getLoadedBitWidth(Value operand) {
  unsigned bits = getElementBitWidth(operand.getType());
  llvm::SetVector<Value> slice;
  slice.insert(operand);
  for (unsigned i = 0; i < slice.size(); ++i) {
    Operation *def = slice[i].getDefiningOp();
    if (!def)
      continue;
    if (isa<LoadOp, DescriptorLoadOp, LocalLoadOp>(def)) {
      bits = std::min(bits, getElementBitWidth(slice[i].getType()));
      continue;
    }
    if (!isa<ConvertLayoutOp, TransOp>(def) &&
        !def->hasTrait<mlir::OpTrait::Elementwise>())
      continue;
    for (Value source : def->getOperands())
      if (auto type = getLaidOutTensor(source.getType()))
        if (type.getElementType().isIntOrFloat() &&
            !type.getElementType().isInteger(1))
          slice.insert(source);
  }
  return std::max(bits, 8u);
}

/// The operand before it was brought into the layout of the old dot.
Value skipConversions(Value operand) {
  while (auto convert = operand.getDefiningOp<ConvertLayoutOp>())
    operand = convert.getSrc();
  return operand;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

MatrixProduct describe(DotOp op) {
  MatrixProduct product;
  product.types = {op.getA().getType().getElementType(),
                   op.getB().getType().getElementType(),
                   op.getType().getElementType(), op.getInputPrecision()};
  product.shape = getShapePerCTA(op.getType());
  product.k = op.getA().getType().getShape().back();
  product.numWarps = lookupNumWarps(op);
  product.loadedBits =
      std::min(getLoadedBitWidth(op.getA()), getLoadedBitWidth(op.getB()));
  return product;
}

/// The operand as `instruction` takes it.
Value prepareOperand(OpBuilder &b, OpOperand &operand, const TargetModel &model,
                     const MatrixInstruction &instruction,
                     const MatrixProduct &product, MmaEncodingTrait result) {
  Location loc = operand.getOwner()->getLoc();
  unsigned number = operand.getOperandNumber();
  Value value = skipConversions(operand.get());
  auto type = cast<RankedTensorType>(value.getType());
  if (Type element = instruction.operandTypes[number];
      element != type.getElementType()) {
    type = cast<RankedTensorType>(type.clone(element));
    value = FpToFpOp::create(b, loc, type, value);
  }
  Attribute encoding =
      model.getOperandEncoding(instruction, product, number, type, result);
  if (instruction.places[number] == OperandPlace::Registers)
    return convertTo(b, loc, value, encoding);
  auto memDesc = MemDescType::get(
      type.getShape(), type.getElementType(), encoding,
      SharedMemorySpaceAttr::get(b.getContext()), /*mutableMemory=*/false);
  return LocalAllocOp::create(b, loc, memDesc, value);
}

/// The same dot with operands, scales and result in `layouts`.
void setLayouts(DotScaledOp op, const ScaledMatrixLayouts &layouts) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  RankedTensorType type = op.getType();
  LDBG() << layouts.result << " for " << op;
  auto prepare = [&](Value value, Attribute layout) {
    return value ? convertTo(b, loc, value, layout) : Value();
  };
  auto product = DotScaledOp::create(
      b, loc, type.cloneWithEncoding(layouts.result),
      prepare(op.getA(), layouts.operands[0]),
      prepare(op.getB(), layouts.operands[1]),
      prepare(op.getC(), layouts.result),
      prepare(op.getAScale(), layouts.scales[0]),
      prepare(op.getBScale(), layouts.scales[1]), op.getAElemType(),
      op.getBElemType(), op.getFastMath(), op.getLhsKPack(), op.getRhsKPack());
  op.replaceAllUsesWith(convertTo(b, loc, product, type.getEncoding()));
  op.erase();
}

bool accelerate(DotOp op, const TargetModel &model) {
  if (isa<MmaEncodingTrait>(op.getType().getEncoding()))
    return true;
  MatrixProduct product = describe(op);
  if (model.replaceMatrixProduct(op, product))
    return true;
  FailureOr<MatrixInstruction> instruction =
      model.selectMatrixInstruction(product, [&](const Twine &reason) {
        remark::missed(
            op.getLoc(),
            remark::RemarkOpts::name("scalar-product").category(DEBUG_TYPE))
            << StringRef(reason.str());
      });
  if (failed(instruction))
    return false;
  instruction = preferRowsInWarps(op, product, *instruction, model);

  RankedTensorType type = op.getType();
  MmaEncodingTrait encoding = model.getResultEncoding(
      *instruction, product, chooseWarpGrid(op, product, *instruction),
      getCTALayout(type.getEncoding()));
  LDBG() << instruction->name << " with " << encoding << " for " << op;

  OpBuilder b(op);
  Location loc = op.getLoc();
  Value a = prepareOperand(b, op.getAMutable(), model, *instruction, product,
                           encoding);
  Value bOperand = prepareOperand(b, op.getBMutable(), model, *instruction,
                                  product, encoding);
  Value c = convertTo(b, loc, op.getC(), encoding);
  Value result = model.createMatrixProduct(b, op, *instruction, a, bOperand, c);
  op.replaceAllUsesWith(convertTo(b, loc, result, type.getEncoding()));
  op.erase();
  return true;
}

void TritonGPUAccelerateMatmul::runOnOperation() {
  auto products =
      accelerateMatmuls(getOperation(), getTargetModel(getOperation()));
  if (failed(products))
    return signalPassFailure();
  numAccelerated += products->numAccelerated;
  numLeft += products->numLeft;
  numDecomposed += products->numDecomposed;
}

} // namespace

void gpu::shareOutWarps(SmallVectorImpl<unsigned> &grid,
                        ArrayRef<int64_t> shape, int64_t m, int64_t n,
                        unsigned numWarps) {
  unsigned column = shape.size() - 1, row = column - 1;
  for (; numWarps > 1; numWarps /= 2) {
    int64_t perWarpM = shape[row] / grid[row],
            perWarpN = shape[column] / grid[column];
    // Beyond one instruction, warps would repeat one another.
    bool mayTakeN = perWarpN > n;
    bool prefersN = perWarpN >= perWarpM || perWarpM <= m;
    grid[mayTakeN && prefersN ? column : row] *= 2;
  }
}

LinearLayout gpu::getScaleLayout(RankedTensorType operand, unsigned rowDim,
                                 ArrayRef<int64_t> shape,
                                 const LinearLayout::DimBases &lanes) {
  LinearLayout layout = toLinearLayout(operand);
  auto rowsOf = [&](StringRef in) {
    LinearLayout::DimBases result;
    for (const auto &[name, of] : layout.getBases())
      for (const std::vector<int32_t> &basis : of)
        if (name == in && basis[1 - rowDim] == 0)
          result.push_back({basis[rowDim], 0});
    return result;
  };
  LinearLayout::DimBases registers;
  auto addToRegisters = [&](std::vector<int32_t> basis) {
    if (!llvm::is_contained(lanes, basis))
      registers.push_back(std::move(basis));
  };
  for (int32_t i = 1; i < shape[1]; i *= 2)
    addToRegisters({0, i});
  for (const std::vector<int32_t> &basis : rowsOf(kRegister))
    if (basis.front())
      addToRegisters(basis);
  LinearLayout::Bases bases;
  bases.emplace_back(kRegister, registers);
  bases.emplace_back(kLane, lanes);
  bases.emplace_back(kWarp, rowsOf(kWarp));
  bases.emplace_back(kBlock, rowsOf(kBlock));
  auto outDims = llvm::to_vector(layout.getOutDimNames());
  return LinearLayout(
      bases, {{outDims[0], int32_t(shape[0])}, {outDims[1], int32_t(shape[1])}},
      /*requireSurjective=*/true);
}

FailureOr<AcceleratedProducts>
gpu::accelerateMatmuls(Operation *root, const TargetModel &model) {
  AcceleratedProducts products;
  // Dots with scales that no instruction takes become plain ones.
  SmallVector<DotScaledOp> scaled;
  root->walk([&](DotScaledOp op) {
    if (getLayout(op.getD()) && maybeLookupNumWarps(op) &&
        !isa<MmaEncodingTrait>(op.getType().getEncoding()))
      scaled.push_back(op);
  });
  SmallVector<DotScaledOp> plain;
  for (DotScaledOp op : scaled) {
    if (auto layouts = model.getScaledMatrixLayouts(op)) {
      setLayouts(op, *layouts);
      ++products.numAccelerated;
      continue;
    }
    if (model.replaceScaledProduct(op)) {
      ++products.numAccelerated;
      continue;
    }
    plain.push_back(op);
  }
  SmallVector<DotScaledOp> seldom;
  if (failed(speculateScaledDots(plain, seldom)))
    return failure();
  for (DotScaledOp op : plain)
    if (failed(decomposeScaledDot(op, /*isSeldom=*/false)))
      return failure();
  for (DotScaledOp op : seldom)
    if (failed(decomposeScaledDot(op, /*isSeldom=*/true)))
      return failure();
  products.numDecomposed += plain.size() + seldom.size();
  SmallVector<DotOp> dots;
  root->walk([&](DotOp op) {
    if (getLayout(op.getD()) && maybeLookupNumWarps(op))
      dots.push_back(op);
  });
  for (DotOp op : dots)
    ++(accelerate(op, model) ? products.numAccelerated : products.numLeft);
  return products;
}
