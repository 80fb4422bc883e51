//===-- AllocateSharedMemory.cpp - Places in shared memory ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "nvidia/TritonNVIDIAGPUToLLVM/Passes.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/Patterns.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/TargetOptions.h"

#include "tile/Analysis/Allocation.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/LayoutChecks.h"

namespace mlir::triton::nvidia {
#define GEN_PASS_DEF_ALLOCATESHAREDMEMORYNV
#include "nvidia/TritonNVIDIAGPUToLLVM/Passes.h.inc"
} // namespace mlir::triton::nvidia

using namespace mlir;
using namespace mlir::triton;

FailureOr<const nvidia::TargetModel *>
nvidia::resolveTarget(ModuleOp module, int computeCapability) {
  if (computeCapability != 0) {
    const NVIDIATarget *target = lookupNVIDIATarget(computeCapability);
    if (!target)
      return module.emitError("unknown compute capability ")
             << computeCapability;
    module->setAttr(
        triton::gpu::kTargetAttrName,
        StringAttr::get(module.getContext(), target->targetString()));
  }
  FailureOr<const NVIDIATarget *> target = getNVIDIATarget(module);
  if (failed(target))
    return failure();
  if (int ctas = triton::gpu::lookupNumCTAs(module);
      ctas > 1 && !(*target)->hasClusters)
    return module.emitError("a program of ")
           << ctas << " blocks needs a target with clusters, which "
           << (*target)->targetString() << " lacks";
  return TargetModel::get((*target)->computeCapability);
}

namespace {
struct AllocateSharedMemoryNV
    : nvidia::impl::AllocateSharedMemoryNVBase<AllocateSharedMemoryNV> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto model = nvidia::resolveTarget(module, computeCapability);
    if (failed(model) || failed(triton::gpu::checkTensorsHaveLayouts(module)))
      return signalPassFailure();
    const NVIDIATarget &target = (*model)->getFacts();
    auto allocation = ModuleAllocation::compute(module);
    if (failed(allocation))
      return signalPassFailure();
    // Also of what does not fit: `ttg.shared` then says how much that is.
    attachAllocation(module, *allocation);
    int64_t size = allocation->getSharedMemorySize();
    if (size > target.maxSharedMemory) {
      reportTooMuch(module, *allocation, size, target);
      return signalPassFailure();
    }
    sharedBytes += size;
  }

private:
  /// Emits the error where the largest buffer is made, with notes on the next.
  void reportTooMuch(ModuleOp module, const ModuleAllocation &allocation,
                     int64_t size, const NVIDIATarget &target) {
    SmallVector<const Allocation::Buffer *> buffers;
    for (auto &[function, frame] : allocation.getFunctions())
      for (const Allocation::Buffer &buffer : frame->getBuffers())
        if (buffer.kind != Allocation::Kind::Call)
          buffers.push_back(&buffer);
    llvm::sort(buffers, [](auto *lhs, auto *rhs) {
      return std::tuple(-lhs->size, lhs->begin, lhs->offset) <
             std::tuple(-rhs->size, rhs->begin, rhs->offset);
    });
    Operation *where = buffers.empty() ? module : buffers.front()->owner;
    InFlightDiagnostic error =
        mlir::emitError(where->getLoc(),
                        "out of shared memory: the kernel needs ")
        << size << " bytes, a block on " << target.targetString()
        << " has at most " << target.maxSharedMemory
        << "; smaller tiles or fewer pipeline stages need less";
    constexpr size_t kMostNotes = 4;
    for (const Allocation::Buffer *buffer :
         ArrayRef(buffers).take_front(kMostNotes))
      error.attachNote(buffer->owner->getLoc())
          << buffer->size << " bytes for "
          << (buffer->kind == Allocation::Kind::Scratch ? "the exchange of "
                                                        : "")
          << "'" << buffer->owner->getName() << "'";
  }
};
} // namespace
