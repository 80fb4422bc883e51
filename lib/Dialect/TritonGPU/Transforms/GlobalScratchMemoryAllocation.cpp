//===-- GlobalScratchMemoryAllocation.cpp - Places in scratch memory ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Buffers of a function lie one after the other, in program order, followed or
// preceded by the parts of the functions that it calls. Nothing is reused: the
// buffers are few and small (descriptors of tensors, mostly).
//
// Partitions of warps see nothing of the function around them. So a buffer of a
// partition is named outside, and the partition gets the pointer.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "tile/Analysis/CallGraph.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/Transforms/Passes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

#define DEBUG_TYPE "tritongpu-global-scratch-memory-allocation"

namespace mlir::triton::gpu {
#define GEN_PASS_DEF_TRITONGPUGLOBALSCRATCHMEMORYALLOCATION
#include "tile/Dialect/TritonGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::gpu

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

namespace {

struct Extent {
  int64_t size = 0;
  int64_t alignment = 1;

  /// Makes room for another part; returns its offset.
  int64_t append(Extent part) {
    int64_t offset = llvm::alignTo(size, part.alignment);
    size = offset + part.size;
    alignment = std::max(alignment, part.alignment);
    return offset;
  }
};

/// The partition of `specialize` that `op` is in; null for the default group.
Region *findPartition(WarpSpecializeOp specialize, Operation *op) {
  for (Region &region : specialize.getPartitionRegions())
    if (region.isAncestor(op->getParentRegion()))
      return &region;
  return nullptr;
}

/// Names the buffer outside of all partitions.
void moveOutOfPartitions(GlobalScratchAllocOp alloc) {
  for (auto specialize = alloc->getParentOfType<WarpSpecializeOp>(); specialize;
       specialize = specialize->getParentOfType<WarpSpecializeOp>()) {
    Region *mine = findPartition(specialize, alloc);
    if (!mine)
      continue;
    Value pointer = alloc.getResult();
    specialize->insertOperands(specialize->getNumOperands(), pointer);
    for (Region &region : specialize.getPartitionRegions()) {
      Value argument = region.addArgument(pointer.getType(), alloc.getLoc());
      if (&region == mine)
        pointer.replaceUsesWithIf(argument, [&](OpOperand &use) {
          return use.getOwner() != specialize;
        });
    }
    alloc->moveBefore(specialize);
  }
}

struct TritonGPUGlobalScratchMemoryAllocation
    : gpu::impl::TritonGPUGlobalScratchMemoryAllocationBase<
          TritonGPUGlobalScratchMemoryAllocation> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    extents.clear();
    ModuleCallGraph callGraph(module);
    Extent largest;
    for (FunctionOpInterface func : callGraph.getFunctions()) {
      FailureOr<Extent> extent = placeAll(func);
      if (failed(extent))
        return signalPassFailure();
      if (extent->size > 0 && callGraph.isRecursive(func)) {
        func->emitError() << "'" << func.getName()
                          << "' calls itself, so its scratch memory has no "
                             "limit";
        return signalPassFailure();
      }
      largest.size = std::max(largest.size, extent->size);
      largest.alignment = std::max(largest.alignment, extent->alignment);
    }
    // A module without buffers says so, too: it was looked at.
    largest.size = llvm::alignTo(largest.size, largest.alignment);
    annotate(module, largest);
  }

private:
  /// Gives the buffers of a function, and those of its callees, their places.
  FailureOr<Extent> placeAll(FunctionOpInterface func) {
    SmallVector<GlobalScratchAllocOp> buffers;
    func->walk([&](GlobalScratchAllocOp alloc) { buffers.push_back(alloc); });
    llvm::for_each(buffers, moveOutOfPartitions);

    Extent extent;
    SymbolTableCollection symbols;
    WalkResult result =
        func->walk<WalkOrder::PreOrder>([&](Operation *op) -> WalkResult {
          if (auto alloc = dyn_cast<GlobalScratchAllocOp>(op)) {
            ++numBuffers;
            return place(op, extent,
                         {alloc.getNbytes(), int64_t(alloc.getAlignment())});
          }
          auto call = dyn_cast<CallOpInterface>(op);
          if (!call)
            return WalkResult::advance();
          Extent part = extents.lookup(call.resolveCallableInTable(&symbols));
          if (part.size == 0)
            return WalkResult::advance();
          return place(op, extent, part);
        });
    if (result.wasInterrupted())
      return failure();
    extent.size = llvm::alignTo(extent.size, extent.alignment);
    if (extent.size > 0)
      annotate(func, extent);
    extents[func] = extent;
    return extent;
  }

  LogicalResult place(Operation *op, Extent &extent, Extent part) {
    int64_t offset = extent.append(part);
    if (extent.size > std::numeric_limits<int32_t>::max())
      return op->emitError() << "the scratch memory of one block would take "
                             << extent.size << " bytes, more than fits an i32";
    LDBG() << "offset " << offset << " for " << *op;
    op->setAttr(kGlobalScratchOffsetAttrName, i32(offset));
    return success();
  }

  void annotate(Operation *op, Extent extent) {
    op->setAttr(kGlobalScratchSizeAttrName, i32(extent.size));
    op->setAttr(kGlobalScratchAlignmentAttrName, i32(extent.alignment));
  }

  IntegerAttr i32(int64_t value) {
    return IntegerAttr::get(IntegerType::get(&getContext(), 32), value);
  }

  llvm::DenseMap<Operation *, Extent> extents;
};

} // namespace
