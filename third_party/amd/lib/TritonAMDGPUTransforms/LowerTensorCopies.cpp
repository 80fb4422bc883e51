//===-- LowerTensorCopies.cpp - Blocks by the tensor data mover -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the pipeliner has not made copies of, and stores.
//
//===----------------------------------------------------------------------===//

#include "amd/IR/Dialect.h"
#include "amd/TargetModel.h"
#include "amd/TensorCopies.h"
#include "amd/TritonAMDGPUTransforms/CopyEngines.h"
#include "amd/TritonAMDGPUTransforms/Passes.h"

namespace mlir::triton::amd {
#define GEN_PASS_DEF_TRITONAMDGPULOWERTENSORCOPIES
#include "amd/TritonAMDGPUTransforms/Passes.h.inc"
} // namespace mlir::triton::amd

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

/// A buffer to store a block from. The machine knows no gaps there but those
/// behind whole rows; these have the most that a lane accesses.
static MemDescType getStoredBufferType(RankedTensorType block) {
  constexpr unsigned kGapBytes = 16;
  unsigned row = block.getShape().back(),
           gap = kGapBytes / (block.getElementTypeBitWidth() / 8);
  return MemDescType::get(block.getShape(), block.getElementType(),
                          amd::getTensorBufferEncoding(block, {row, gap}),
                          SharedMemorySpaceAttr::get(block.getContext()),
                          /*mutableMemory=*/false);
}

namespace {
struct LowerTensorCopies
    : amd::impl::TritonAMDGPULowerTensorCopiesBase<LowerTensorCopies> {
  void runOnOperation() override {
    if (failed(amd::TargetModel::get(getOperation())))
      return signalPassFailure();
    SmallVector<Operation *> accesses;
    getOperation().walk([&](Operation *op) {
      if (isa<DescriptorLoadOp, DescriptorStoreOp>(op))
        accesses.push_back(op);
    });
    for (Operation *op : accesses)
      if (auto load = dyn_cast<DescriptorLoadOp>(op)) {
        amd::copyBlockAtOnce(load);
        ++numLoads;
      } else {
        lower(cast<DescriptorStoreOp>(op));
      }
  }

private:
  void lower(DescriptorStoreOp store) {
    OpBuilder b(store);
    Location loc = store.getLoc();
    Value value = store.getSrc();
    // It does not matter who wrote which element.
    while (auto convert = value.getDefiningOp<ConvertLayoutOp>())
      value = convert.getSrc();
    Value buffer = LocalAllocOp::create(
        b, loc, getStoredBufferType(cast<RankedTensorType>(value.getType())),
        value);
    auto copy = amdgpu::AsyncTDMCopyLocalToGlobalOp::create(
        b, loc, AsyncTokenType::get(&getContext()), store.getDesc(),
        store.getIndices(), buffer);
    amd::waitForBlocks(b, loc, copy.getToken());
    store.erase();
    ++numStores;
  }
};
} // namespace
