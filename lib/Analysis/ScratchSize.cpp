//===-- ScratchSize.cpp - Shared memory that single operations need -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Analysis/Allocation.h"
#include "tile/Analysis/CollectivePlan.h"
#include "tile/Analysis/ConvertLayoutPlan.h"
#include "tile/Analysis/Decisions.h"
#include "tile/Analysis/GatherPlan.h"
#include "tile/Dialect/Triton/IR/MemoryOps.h"
#include "tile/Dialect/TritonGPU/IR/BufferSize.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/IndexedOps.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"
#include "tile/Dialect/TritonGPU/IR/SharedPlaces.h"
#include "tile/Dialect/TritonGPU/IR/TargetModel.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;

int64_t triton::getBufferSize(Value memdesc) {
  auto type = cast<gpu::MemDescType>(memdesc.getType());
  return gpu::getElementsInMemory(type) *
         getElementBytesInSharedMemory(type.getElementType());
}

bool triton::repeatsAcrossThreads(RankedTensorType type) {
  LinearLayout layout = toLinearLayout(type);
  return layout.getFreeVariableMask(kLane) || layout.getFreeVariableMask(kWarp);
}

uint32_t triton::getSharingBlockBits(Operation *op) {
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type || gpu::lookupNumCTAs(op) == 1)
    return 0;
  uint32_t bits = toLinearLayout(type).getFreeVariableMask(kBlock);
  // Blocks that have copies of a buffer act on their own ones.
  if (auto scatter = dyn_cast<gpu::LocalAtomicScatterRMWOp>(op))
    bits &= ~gpu::getCopyBits(scatter.getDst().getType());
  return bits;
}

/// What the default group hands to the partitions: which operation to start,
/// and eight bytes for every scalar that the captures consist of. In a cluster,
/// the partitions may each wait for those of other blocks, at eight bytes.
static int64_t getCapturesSize(gpu::WarpSpecializeOp op) {
  int64_t scalars = 0;
  for (Type type : op.getExplicitCaptures().getTypes()) {
    // The address and the offsets of a buffer.
    auto memory = dyn_cast<gpu::MemDescType>(type);
    scalars += memory ? 1 + memory.getShape().size() : 1;
  }
  int64_t barriers =
      gpu::lookupNumCTAs(op) > 1 ? op.getPartitionRegions().size() : 0;
  return 16 + 8 * barriers + 8 * scalars;
}

int64_t triton::getScratchSize(Operation *op) {
  if (auto convert = dyn_cast<gpu::ConvertLayoutOp>(op))
    return ConvertLayoutPlan::of(convert).scratchSize;
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return ReducePlan(reduce).scratchSize;
  if (auto scan = dyn_cast<ScanOp>(op))
    return ScanPlan(scan).scratchSize;
  if (auto gather = dyn_cast<GatherOp>(op))
    return GatherPlan(gather).scratchSize;
  if (auto scratch = dyn_cast<gpu::ScratchMemoryOpInterface>(op))
    return scratch.getScratchBytes();
  if (auto histogram = dyn_cast<HistogramOp>(op))
    return histogram.getType().getNumElements() * 4;
  // One thread acts on an element and hands the value to those that hold it,
  // too.
  auto load = dyn_cast<LoadOp>(op);
  if (auto specialize = dyn_cast<gpu::WarpSpecializeOp>(op))
    return getCapturesSize(specialize);
  if (isa<AtomicRMWOp, AtomicCASOp, gpu::LocalAtomicScatterRMWOp>(op) ||
      (load && isLoadedOnce(load))) {
    Type type = op->getResult(0).getType();
    if (op->getResult(0).use_empty())
      return 0;
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      return std::max<int64_t>(4, getElementBytesInSharedMemory(type));
    if (!repeatsAcrossThreads(tensor) && !getSharingBlockBits(op))
      return 0;
    return tensor.getNumElements() *
           getElementBytesInSharedMemory(tensor.getElementType());
  }
  return 0;
}
