//===-- AllocateSharedMemory.cpp - Places in shared memory ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Conversion/TritonGPUToLLVM/Passes.h"

#include "tile/Analysis/AllocateSharedMemory.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"

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
    FailureOr<int64_t> size = allocateSharedMemory(getOperation());
    if (failed(size))
      return signalPassFailure();
    sharedBytes += *size;
  }
};
} // namespace
