//===-- AllocateSharedMemory.cpp - Places in shared memory ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "nvidia/TritonNVIDIAGPUToLLVM/Passes.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/Patterns.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/TargetOptions.h"

#include "tile/Analysis/Allocation.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"

namespace mlir::triton::nvidia {
#define GEN_PASS_DEF_ALLOCATESHAREDMEMORYNV
#include "nvidia/TritonNVIDIAGPUToLLVM/Passes.h.inc"
} // namespace mlir::triton::nvidia

using namespace mlir;
using namespace mlir::triton;

int64_t nvidia::getScratchSize(Operation *op, const NVIDIATarget &facts) {
  return triton::getScratchSize(op);
}

FailureOr<const NVIDIATarget *> nvidia::getTarget(ModuleOp module,
                                                  int computeCapability) {
  if (computeCapability == 0)
    return getNVIDIATarget(module);
  if (const NVIDIATarget *target = lookupNVIDIATarget(computeCapability))
    return target;
  return module.emitError("unknown compute capability ") << computeCapability;
}

namespace {
struct AllocateSharedMemoryNV
    : nvidia::impl::AllocateSharedMemoryNVBase<AllocateSharedMemoryNV> {
  using AllocateSharedMemoryNVBase::AllocateSharedMemoryNVBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto target = nvidia::getTarget(module, computeCapability);
    if (failed(target))
      return signalPassFailure();
    auto allocation = ModuleAllocation::compute(module, [&](Operation *op) {
      return nvidia::getScratchSize(op, **target);
    });
    if (failed(allocation))
      return signalPassFailure();
    int64_t size = allocation->getSharedMemorySize();
    if (size > (*target)->maxSharedMemory) {
      module.emitError("out of shared memory: the kernel needs ")
          << size << " bytes, a block on " << (*target)->targetString()
          << " has at most " << (*target)->maxSharedMemory
          << "; smaller tiles or fewer pipeline stages need less";
      return signalPassFailure();
    }
    attachAllocation(module, *allocation);
    sharedBytes += size;
  }
};
} // namespace
