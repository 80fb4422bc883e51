//===-- PromoteLHSToTMEM.cpp - Left operands in tensor memory -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/Transforms/ConvertTo.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/TensorMemoryLayout.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h"

#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tritongpu-promote-lhs-to-tmem"

namespace mlir::triton::nvidia_gpu {
#define GEN_PASS_DEF_TRITONGPUPROMOTELHSTOTMEM
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::nvidia_gpu

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

namespace {

/// Whether threads have computed `value`, where it is stored. What is loaded is
/// copied to shared memory without them. What a function is given is in
/// registers.
bool isComputed(Value value, Block *block) {
  while (auto convert = value.getDefiningOp<gpu::ConvertLayoutOp>())
    value = convert.getSrc();
  Operation *def = value.getDefiningOp();
  if (!def && value.getParentBlock() == block)
    return isa<FunctionOpInterface>(block->getParentOp());
  return def && def->getBlock() == block &&
         !isa<LoadOp, DescriptorLoadOp, gpu::LocalLoadOp>(def);
}

/// Columns of tensor memory that may be in use while `mma` runs. What a branch
/// or loop has for itself is not, before that begins and when it is over.
unsigned countColumnsBeside(TCGen5MMAOp mma) {
  unsigned columns = 0;
  mma->getParentOfType<FunctionOpInterface>()->walk([&](TMEMAllocOp alloc) {
    bool isAround = alloc->getParentOp()->isAncestor(mma);
    bool isInside = mma->getBlock()->findAncestorOpInBlock(*alloc);
    if (!isAround && !isInside)
      return;
    auto footprint = getTensorMemoryFootprint(alloc.getResult().getType());
    if (succeeded(footprint))
      columns += footprint->columns;
  });
  return columns;
}

/// The buffer of an operand of `type` for a sum in `sum`: its rows lie in the
/// same lanes.
gpu::MemDescType getOperandMemory(RankedTensorType type, gpu::MemDescType sum) {
  auto encoding = cast<TensorMemoryEncodingAttr>(sum.getEncoding());
  MLIRContext *context = type.getContext();
  LinearLayout::DimBases blocks = encoding.getCTALayout().getBases();
  for (std::vector<int32_t> &basis : blocks)
    basis[1] = 0;
  return gpu::MemDescType::get(
      type.getShape(), type.getElementType(),
      TensorMemoryEncodingAttr::get(
          context, encoding.getBlockM(), type.getShape()[1], /*colStride=*/1,
          gpu::CTALayoutAttr::get(context, /*rank=*/2, blocks),
          encoding.getTwoCTAs(),
          /*fp4Padded=*/false),
      TensorMemorySpaceAttr::get(context), /*mutableMemory=*/false);
}

class PromoteLHSToTMEMPass
    : public nvidia_gpu::impl::TritonGPUPromoteLHSToTMEMBase<
          PromoteLHSToTMEMPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    SmallVector<TCGen5MMAOp> products;
    getOperation().walk([&](TCGen5MMAOp mma) { products.push_back(mma); });
    for (TCGen5MMAOp mma : products)
      numPromoted += promote(mma);
  }

private:
  static bool promote(TCGen5MMAOp mma) {
    auto alloc = mma.getA().getDefiningOp<gpu::LocalAllocOp>();
    if (!alloc || !alloc.getSrc() || alloc->getBlock() != mma->getBlock() ||
        !alloc->hasOneUse() || !isComputed(alloc.getSrc(), mma->getBlock()))
      return false;
    gpu::MemDescType sum = mma.getD().getType();
    RankedTensorType type = alloc.getSrc().getType();
    // Rows of several blocks of lanes lie behind each other.
    if (gpu::getShapePerCTA(type)[0] !=
        cast<TensorMemoryEncodingAttr>(sum.getEncoding()).getBlockM())
      return false;
    gpu::MemDescType memory = getOperandMemory(type, sum);
    auto footprint = getTensorMemoryFootprint(memory);
    if (failed(footprint) ||
        footprint->columns + countColumnsBeside(mma) > kTensorMemoryColumns)
      return false;
    OpBuilder builder(alloc);
    Location loc = alloc.getLoc();
    Value value = gpu::convertTo(
        builder, loc, alloc.getSrc(),
        getTensorMemoryRegisters(memory, gpu::lookupNumWarps(mma)));
    auto operand =
        TMEMAllocOp::create(builder, loc, memory, /*token=*/Type(), value);
    LDBG() << "a left operand goes to tensor memory: " << operand;
    alloc.getResult().replaceAllUsesWith(operand.getResult());
    alloc.erase();
    return true;
  }
};

} // namespace
