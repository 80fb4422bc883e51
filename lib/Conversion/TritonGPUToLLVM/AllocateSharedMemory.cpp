//===-- AllocateSharedMemory.cpp - Places in shared memory ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Conversion/TritonGPUToLLVM/Passes.h"

#include "tile/Analysis/Allocation.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/LayoutChecks.h"

namespace mlir::triton {
#define GEN_PASS_DEF_ALLOCATESHAREDMEMORY
#include "tile/Conversion/TritonGPUToLLVM/Passes.h.inc"
} // namespace mlir::triton

using namespace mlir;
using namespace mlir::triton;

namespace {
struct AllocateSharedMemory
    : triton::impl::AllocateSharedMemoryBase<AllocateSharedMemory> {
  using Base::Base;

  void runOnOperation() override {
    if (failed(gpu::checkTensorsHaveLayouts(getOperation())))
      return signalPassFailure();
    auto allocation = ModuleAllocation::compute(getOperation());
    if (failed(allocation))
      return signalPassFailure();
    attachAllocation(getOperation(), *allocation);
    sharedBytes += allocation->getSharedMemorySize();
  }
};
} // namespace
