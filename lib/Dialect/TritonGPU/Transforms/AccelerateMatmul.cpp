//===-- AccelerateMatmul.cpp - Map matrix products to tensor cores --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "DecomposeScaledDots.h"

#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/Transforms/LayoutInference.h"
#include "tile/Dialect/TritonGPU/Transforms/Passes.h"

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

/// The tile that one mma.sync computes.
constexpr int64_t kInstrM = 16;
constexpr int64_t kInstrN = 8;

struct TritonGPUAccelerateMatmul
    : gpu::impl::TritonGPUAccelerateMatmulBase<TritonGPUAccelerateMatmul> {
  using TritonGPUAccelerateMatmulBase::TritonGPUAccelerateMatmulBase;

  void runOnOperation() override;
};

//===----------------------------------------------------------------------===//
// What the target can do
//===----------------------------------------------------------------------===//

/// 80 for cuda:80; nothing for other vendors.
std::optional<int> getComputeCapability(ModuleOp module) {
  auto target = module->getAttrOfType<StringAttr>(kTargetAttrName);
  int capability;
  if (!target || !target.getValue().starts_with("cuda:") ||
      target.getValue().drop_front(5).getAsInteger(10, capability))
    return std::nullopt;
  return capability;
}

bool isFP8(Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(type); }

/// The element type in which mma.sync of the target computes this product; null
/// if it does not at all.
Type getOperandType(DotOp op, int capability) {
  Type a = op.getA().getType().getElementType();
  Type b = op.getB().getType().getElementType();
  Type d = op.getType().getElementType();
  if (capability < 80)
    return {};
  if (isFP8(a) && isFP8(b) && d.isF32())
    return capability >= 89 ? a : Type(Float16Type::get(op.getContext()));
  if (a != b)
    return {};
  if (a.isF16() && (d.isF16() || d.isF32()))
    return a;
  if (a.isBF16() && d.isF32())
    return a;
  if (a.isInteger(8) && d.isInteger(32))
    return a;
  if (a.isF64() && d.isF64())
    return a;
  if (a.isF32() && d.isF32() && op.getInputPrecision() == InputPrecision::TF32)
    return a;
  return {};
}

//===----------------------------------------------------------------------===//
// The grid of warps
//===----------------------------------------------------------------------===//

/// Whether products of one block pass rows of results on to one another: `op`
/// gets its left operand from another product, or gives it to one.
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

SmallVector<unsigned> chooseWarpGrid(DotOp op, int numWarps) {
  SmallVector<int64_t> shape = getShapePerCTA(op.getType());
  unsigned rank = shape.size(), m = rank - 2, n = rank - 1;
  SmallVector<unsigned> grid(rank, 1);
  int left = numWarps;
  auto take = [&](unsigned dim) {
    grid[dim] *= 2;
    left /= 2;
  };
  // Products of a batch share no operands.
  if (rank == 3)
    while (left > 1 && grid[0] < shape[0])
      take(0);
  if (isChained(op))
    while (left > 1 && shape[m] / grid[m] > kInstrM)
      take(m);
  while (left > 1) {
    int64_t perWarpM = shape[m] / grid[m], perWarpN = shape[n] / grid[n];
    // Beyond one instruction, warps would repeat one another.
    bool mayTakeN = perWarpN > kInstrN;
    bool prefersN = perWarpN >= perWarpM || perWarpM <= kInstrM;
    take(mayTakeN && prefersN ? n : m);
  }
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

/// The operand before it was brought into the layout of the old product.
Value skipConversions(Value operand) {
  while (auto convert = operand.getDefiningOp<ConvertLayoutOp>())
    operand = convert.getSrc();
  return operand;
}

Value convertTo(OpBuilder &b, Location loc, Value value, Attribute layout) {
  auto type =
      cloneWithEncoding(cast<RankedTensorType>(value.getType()), layout);
  return ConvertLayoutOp::create(b, loc, type, value);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Neighbours along the inner dimension that a thread holds together: 32 bits
/// of what is loaded.
unsigned chooseKWidth(DotOp op, Type element) {
  unsigned bits =
      std::min(getLoadedBitWidth(op.getA()), getLoadedBitWidth(op.getB()));
  bits = std::min(bits, element.getIntOrFloatBitWidth());
  int64_t inner = op.getA().getType().getShape().back();
  // Four lanes hold two such groups each.
  return std::min<int64_t>(std::max(1u, 32 / bits), inner / 8);
}

bool accelerate(DotOp op, int capability) {
  if (isa<MmaEncodingTrait>(op.getType().getEncoding()))
    return true;
  Type element = getOperandType(op, capability);
  ArrayRef<int64_t> shape = op.getType().getShape();
  if (!element || shape[shape.size() - 2] < kInstrM || shape.back() < kInstrN)
    return false;
  // The inner extent of one instruction: two 32-bit registers in four lanes.
  int64_t inner = op.getA().getType().getShape().back();
  if (inner < 8 * std::max(1u, 32 / element.getIntOrFloatBitWidth()))
    return false;

  SmallVector<unsigned> grid = chooseWarpGrid(op, lookupNumWarps(op));
  SmallVector<unsigned> instrShape = {kInstrM, kInstrN};
  if (shape.size() == 3)
    instrShape.insert(instrShape.begin(), 1);
  MLIRContext *context = op.getContext();
  auto mma = NvidiaMmaEncodingAttr::get(
      context, /*versionMajor=*/2, /*versionMinor=*/0, grid,
      getCTALayout(op.getType().getEncoding()), instrShape);
  unsigned kWidth = chooseKWidth(op, element);
  LDBG() << op << " gets " << mma << " with kWidth " << kWidth;

  OpBuilder b(op);
  Location loc = op.getLoc();
  for (OpOperand *operand : {&op.getAMutable(), &op.getBMutable()}) {
    Value value = skipConversions(operand->get());
    auto type = cast<RankedTensorType>(value.getType());
    if (element.isF16() && isFP8(type.getElementType()))
      value = FpToFpOp::create(b, loc, type.clone(element), value);
    value = convertTo(b, loc, value,
                      DotOperandEncodingAttr::get(
                          context, operand->getOperandNumber(), mma, kWidth));
    operand->set(value);
  }
  RankedTensorType before = op.getType();
  op.getCMutable().set(convertTo(b, loc, op.getC(), mma));
  Value result = op.getResult();
  result.setType(cloneWithEncoding(before, mma));
  b.setInsertionPointAfter(op);
  Value back = convertTo(b, loc, result, before.getEncoding());
  result.replaceAllUsesExcept(back, back.getDefiningOp());
  return true;
}

void TritonGPUAccelerateMatmul::runOnOperation() {
  std::optional<int> capability = getComputeCapability(getOperation());
  if (!capability)
    return;
  // mma.sync knows no scales.
  SmallVector<DotScaledOp> scaled;
  getOperation().walk([&](DotScaledOp op) {
    if (getLayout(op.getD()) && maybeLookupNumWarps(op))
      scaled.push_back(op);
  });
  for (DotScaledOp op : scaled) {
    if (failed(decomposeScaledDot(op)))
      return signalPassFailure();
    ++numDecomposed;
  }
  getOperation().walk([&](DotOp op) {
    if (!getLayout(op.getD()) || !maybeLookupNumWarps(op))
      return;
    if (accelerate(op, *capability))
      ++numAccelerated;
    else
      ++numLeft;
  });
}

} // namespace
