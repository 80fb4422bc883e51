//===-- InsertMemoryBarriers.cpp - Barriers for shared memory -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Conversion/TritonGPUToLLVM/Passes.h"

#include "tile/Analysis/Membar.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/LayoutChecks.h"

namespace mlir::triton {
#define GEN_PASS_DEF_INSERTMEMORYBARRIERS
#include "tile/Conversion/TritonGPUToLLVM/Passes.h.inc"
} // namespace mlir::triton

using namespace mlir;
using namespace mlir::triton;

namespace {
struct InsertMemoryBarriers
    : triton::impl::InsertMemoryBarriersBase<InsertMemoryBarriers> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(gpu::checkTensorsHaveLayouts(module)))
      return signalPassFailure();
    FailureOr<ModuleAllocation> allocation = ModuleAllocation::read(module);
    if (failed(allocation))
      return signalPassFailure();
    numBarriers += insertMemoryBarriers(*allocation);
    module->setAttr(kBarriersInsertedAttrName, UnitAttr::get(&getContext()));
  }
};
} // namespace
