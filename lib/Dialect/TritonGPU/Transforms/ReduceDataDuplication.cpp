//===-- ReduceDataDuplication.cpp - Operands through shared memory --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "tile/Analysis/ConvertLayoutPlan.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"
#include "tile/Dialect/TritonGPU/IR/SharedPlaces.h"
#include "tile/Dialect/TritonGPU/Transforms/Passes.h"
#include "tile/Dialect/TritonGPU/Transforms/SharedEncodings.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tritongpu-reduce-data-duplication"

namespace mlir::triton::gpu {
#define GEN_PASS_DEF_TRITONGPUREDUCEDATADUPLICATION
#include "tile/Dialect/TritonGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::gpu

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

namespace {

struct TritonGPUReduceDataDuplication
    : gpu::impl::TritonGPUReduceDataDuplicationBase<
          TritonGPUReduceDataDuplication> {
  using Base::Base;

  void runOnOperation() override {
    getOperation()->walk([&](ConvertLayoutOp op) {
      auto operand =
          dyn_cast<DotOperandEncodingAttr>(op.getType().getEncoding());
      if (!operand)
        return;
      if (ConvertLayoutOp other = findInThread(op))
        op.getSrcMutable().set(other.getResult());
      else if (shouldStage(op, operand))
        stage(op, getBufferType(op, operand));
    });
    getOperation()->walk([&](Block *block) { shareBuffers(*block); });
  }

private:
  /// Keeps one of several buffers that hold the same tensor in the same layout
  /// to the end.
  void shareBuffers(Block &block) {
    llvm::SmallDenseMap<std::pair<Value, Attribute>, LocalAllocOp> first;
    for (auto alloc :
         llvm::make_early_inc_range(block.getOps<LocalAllocOp>())) {
      MemDescType type = alloc.getType();
      if (!alloc.getSrc() || type.getMutableMemory())
        continue;
      auto [it, isNew] =
          first.try_emplace({alloc.getSrc(), type.getEncoding()}, alloc);
      LocalAllocOp other = it->second;
      if (isNew || other.getType() != type ||
          other->getAttrs() != alloc->getAttrs() || isFreed(other) ||
          isFreed(alloc))
        continue;
      LDBG() << "has its buffer already: " << alloc;
      alloc.replaceAllUsesWith(other.getResult());
      alloc.erase();
    }
  }

  static bool isFreed(LocalAllocOp alloc) {
    return llvm::any_of(alloc->getUsers(), llvm::IsaPred<LocalDeallocOp>);
  }

  /// Another conversion of the source, before `op` in its block, with which
  /// each thread gets the elements that it needs. An example are sums of one
  /// dot that are both summed up further and the operand of another dot.
  ConvertLayoutOp findInThread(ConvertLayoutOp op) {
    for (Operation *user : op.getSrc().getUsers())
      if (auto other = dyn_cast<ConvertLayoutOp>(user);
          other && other != op && other->getBlock() == op->getBlock() &&
          other->isBeforeInBlock(op) &&
          getRegisterSources(toLinearLayout(other.getType()),
                             toLinearLayout(op.getType()))) {
        LDBG() << "threads have its elements by " << other;
        return other;
      }
    return {};
  }

  bool shouldStage(ConvertLayoutOp op, DotOperandEncodingAttr operand) {
    RankedTensorType source = op.getSrc().getType();
    if (isa<PointerType>(source.getElementType())) {
      LDBG() << "pointers stay in registers: " << op;
      return false;
    }
    // The matrix instructions of AMD have swizzles of their own.
    if (isa<AMDMfmaEncodingAttr, AMDWmmaEncodingAttr>(operand.getParent())) {
      LDBG() << "no swizzle is known for " << operand.getParent();
      return false;
    }
    if (getRegisterSources(toLinearLayout(source),
                           toLinearLayout(op.getType()))) {
      LDBG() << "no element leaves its thread: " << op;
      return false;
    }
    if (!staysInBlock(op.getType(), getBufferType(op, operand))) {
      LDBG() << "blocks of the cluster exchange elements: " << op;
      return false;
    }
    return true;
  }

  static MemDescType getBufferType(ConvertLayoutOp op,
                                   DotOperandEncodingAttr operand) {
    RankedTensorType source = op.getSrc().getType();
    return MemDescType::get(source.getShape(), source.getElementType(),
                            getDotOperandSharedEncoding(source, operand),
                            SharedMemorySpaceAttr::get(op.getContext()));
  }

  void stage(ConvertLayoutOp op, MemDescType buffer) {
    OpBuilder builder(op);
    auto alloc =
        LocalAllocOp::create(builder, op.getLoc(), buffer, op.getSrc());
    auto load = LocalLoadOp::create(builder, op.getLoc(), op.getType(), alloc);
    op.replaceAllUsesWith(load.getResult());
    op.erase();
    ++numStaged;
  }
};

} // namespace
