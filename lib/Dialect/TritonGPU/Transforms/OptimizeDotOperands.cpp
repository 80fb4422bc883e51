//===-- OptimizeDotOperands.cpp - Operands straight from memory -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/SharedPlaces.h"
#include "tile/Dialect/TritonGPU/Transforms/LayoutInference.h"
#include "tile/Dialect/TritonGPU/Transforms/Passes.h"
#include "tile/Dialect/TritonGPU/Transforms/SharedEncodings.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tritongpu-optimize-dot-operands"

namespace mlir::triton::gpu {
#define GEN_PASS_DEF_TRITONGPUOPTIMIZEDOTOPERANDS
#include "tile/Dialect/TritonGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::gpu

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

namespace {

struct TritonGPUOptimizeDotOperands
    : gpu::impl::TritonGPUOptimizeDotOperandsBase<
          TritonGPUOptimizeDotOperands> {
  using Base::Base;

  void runOnOperation() override;
};

/// The layout of an operand of a tensor-core dot, if `convert` makes one.
DotOperandEncodingAttr getOperandLayout(ConvertLayoutOp convert) {
  auto layout =
      dyn_cast<DotOperandEncodingAttr>(convert.getType().getEncoding());
  if (!layout || !isa<MmaEncodingTrait>(layout.getParent()))
    return {};
  return layout;
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// The arithmetic between a load and `value`, from the last operation up to the
/// first. Each has no other use, and one operand that varies: the others are
/// results that `isOther` holds for. `value` becomes what is loaded. Empty if
/// there is no such chain.
SmallVector<Operation *>
findChainFromLoad(Value &value, function_ref<bool(Operation *)> isOther) {
  SmallVector<Operation *> chain;
  while (true) {
    Operation *def = value.getDefiningOp();
    if (isa_and_nonnull<LoadOp, DescriptorLoadOp>(def))
      return chain;
    if (!def || !def->hasTrait<mlir::OpTrait::Elementwise>() ||
        !isMemoryEffectFree(def) || def->getNumResults() != 1 ||
        !value.hasOneUse())
      return {};
    Value varying;
    for (Value operand : def->getOperands()) {
      Operation *source = operand.getDefiningOp();
      if (!getLayout(operand) || (source && isOther(source)))
        continue;
      if (varying && varying != operand)
        return {};
      varying = operand;
    }
    if (!varying)
      return {};
    chain.push_back(def);
    value = varying;
  }
}

/// Computes a chain again, in another layout. What it takes is converted, or
/// made again where any layout will do. Returns the last result.
Value cloneInLayout(OpBuilder &b, Location loc, ArrayRef<Operation *> chain,
                    Attribute layout) {
  IRMapping mapping;
  for (Operation *op : llvm::reverse(chain)) {
    for (Value operand : op->getOperands()) {
      if (!getLayout(operand) || mapping.contains(operand))
        continue;
      Operation *source = operand.getDefiningOp();
      if (source && isLayoutFree(source)) {
        Operation *copy = b.clone(*source);
        setLayout(copy->getResult(0), layout);
        mapping.map(operand, copy->getResult(0));
      } else {
        auto type = cast<RankedTensorType>(operand.getType());
        mapping.map(operand,
                    ConvertLayoutOp::create(
                        b, loc, cloneWithEncoding(type, layout), operand));
      }
    }
    Operation *copy = b.clone(*op, mapping);
    setLayout(copy->getResult(0), layout);
    mapping.map(op->getResult(0), copy->getResult(0));
  }
  return mapping.lookup(chain.front()->getResult(0));
}

bool moveAboveArithmetic(ConvertLayoutOp convert) {
  DotOperandEncodingAttr layout = getOperandLayout(convert);
  if (!layout)
    return false;
  Value loaded = convert.getSrc();
  SmallVector<Operation *> chain = findChainFromLoad(loaded, isLayoutFree);
  if (chain.empty() || !loaded.hasOneUse())
    return false;
  LDBG() << "move " << convert << " above " << chain.size() << " operations";
  OpBuilder b(convert);
  convert.replaceAllUsesWith(cloneInLayout(b, convert.getLoc(), chain, layout));
  convert.erase();
  for (Operation *op : chain)
    op->erase();
  return true;
}

//===----------------------------------------------------------------------===//
// Transposition
//===----------------------------------------------------------------------===//

/// A loop copies what it loads to a buffer, which dots can read as it lies. So
/// arithmetic is done behind that read, as long as no thread gets more of it.
/// Else its result goes through a second buffer, and threads wait for another.
/// Broadcast values are converted before they are broadcast.
bool transposeAboveArithmetic(ConvertLayoutOp convert) {
  DotOperandEncodingAttr layout = getOperandLayout(convert);
  auto trans = convert.getSrc().getDefiningOp<TransOp>();
  if (!layout || !trans || !trans->hasOneUse())
    return false;
  Value loaded = trans.getSrc();
  SmallVector<Operation *> chain =
      findChainFromLoad(loaded, [](Operation *source) {
        return isLayoutFree(source) || isa<BroadcastOp>(source);
      });
  Attribute operand = inferOperandLayout(trans->getOpResult(0),
                                         convert.getType().getEncoding());
  if (chain.empty() || !operand || !loaded.getDefiningOp<LoadOp>() ||
      !isa<scf::ForOp>(loaded.getDefiningOp()->getParentOp()) ||
      getTotalElemsPerThread(convert.getType()) >
          getTotalElemsPerThread(trans.getSrc().getType()))
    return false;
  LDBG() << "transpose above " << chain.size() << " operations: " << convert;
  OpBuilder b(convert);
  trans.getSrcMutable().assign(
      cloneInLayout(b, convert.getLoc(), chain, operand));
  trans->moveBefore(convert);
  setLayout(trans.getResult(), convert.getType().getEncoding());
  convert.replaceAllUsesWith(trans.getResult());
  convert.erase();
  for (Operation *op : chain)
    op->erase();
  return true;
}

bool transposeInMemory(ConvertLayoutOp convert) {
  DotOperandEncodingAttr layout = getOperandLayout(convert);
  auto trans = convert.getSrc().getDefiningOp<TransOp>();
  if (!layout || !trans)
    return false;
  // Banks are chosen for the way the dot reads; the copy of the source has
  // the same bytes at the same places, and dimensions under their old names.
  SwizzledSharedEncodingAttr read =
      getDotOperandSharedEncoding(trans.getType(), layout);
  MLIRContext *context = convert.getContext();
  Attribute space = SharedMemorySpaceAttr::get(context);
  RankedTensorType result = convert.getType();
  // Blocks of a cluster do not read the memory of others.
  if (!staysInBlock(result,
                    MemDescType::get(result.getShape(), result.getElementType(),
                                     read, space)))
    return false;
  SmallVector<unsigned> order;
  for (unsigned dim : read.getOrder())
    order.push_back(trans.getOrder()[dim]);
  RankedTensorType source = trans.getSrc().getType();
  auto written = SwizzledSharedEncodingAttr::get(
      context, read.getVec(), read.getPerPhase(), read.getMaxPhase(), order,
      getCTALayout(source.getEncoding()));
  OpBuilder b(convert);
  Location loc = trans.getLoc();
  auto alloc = LocalAllocOp::create(b, loc,
                                    MemDescType::get(source.getShape(),
                                                     source.getElementType(),
                                                     written, space),
                                    trans.getSrc());
  auto view = MemDescTransOp::create(b, loc, alloc, trans.getOrder());
  auto load = LocalLoadOp::create(b, convert.getLoc(), result, view);
  convert.replaceAllUsesWith(load.getResult());
  convert.erase();
  if (trans.use_empty())
    trans.erase();
  return true;
}

void TritonGPUOptimizeDotOperands::runOnOperation() {
  SmallVector<ConvertLayoutOp> converts;
  getOperation().walk(
      [&](ConvertLayoutOp convert) { converts.push_back(convert); });
  for (ConvertLayoutOp convert : converts) {
    if (moveAboveArithmetic(convert) || transposeAboveArithmetic(convert))
      ++numMoved;
    else if (transposeInMemory(convert))
      ++numTransposed;
  }
}

} // namespace
