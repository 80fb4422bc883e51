//===-- AllocateSharedMemory.cpp - Places in shared memory ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "nvidia/TritonNVIDIAGPUToLLVM/Passes.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/Patterns.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/TargetOptions.h"

#include "tile/Analysis/AllocateSharedMemory.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"

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
      return emitError(module.getLoc(), "unknown compute capability ")
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
    return emitError(module.getLoc(), "a program of ")
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
    if (failed(nvidia::resolveTarget(module, computeCapability)))
      return signalPassFailure();
    FailureOr<int64_t> size = allocateSharedMemory(module);
    if (failed(size))
      return signalPassFailure();
    sharedBytes += *size;
  }
};
} // namespace
