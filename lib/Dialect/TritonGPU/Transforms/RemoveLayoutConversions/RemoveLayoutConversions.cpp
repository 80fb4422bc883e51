//===-- RemoveLayoutConversions.cpp - The pass over its steps -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Internal.h"

#include "tile/Dialect/TritonGPU/Transforms/DeadValues.h"

#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/Transforms/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#define DEBUG_TYPE "tritongpu-remove-layout-conversions"

namespace mlir::triton::gpu {
#define GEN_PASS_DEF_TRITONGPUREMOVELAYOUTCONVERSIONS
#include "tile/Dialect/TritonGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::gpu

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;
using namespace mlir::triton::gpu::layout_conversions;

namespace {

/// Each round of rematerialisation may uncover more; two are usual.
constexpr int kMaxRounds = 5;

struct TritonGPURemoveLayoutConversions
    : gpu::impl::TritonGPURemoveLayoutConversionsBase<
          TritonGPURemoveLayoutConversions> {
  using Base::Base;

  void runOnOperation() override {
    for (auto func : getOperation().getOps<FunctionOpInterface>())
      if (!func.isExternal())
        runOnFunction(func);
  }

  void runOnFunction(Operation *func) {
    foldConversions(func);
    numPropagated += propagateLayouts(func);
    foldConversions(func);
    eraseDeadValues(func);
    numScans += keepScansInThreads(func);
    for (int round = 0; round < kMaxRounds; ++round) {
      bool first = round == 0;
      RematerializationResult result =
          rematerializeBackward(func, /*onlyFixedUses=*/first);
      numRematerialized += result.numRematerialized;
      numHoisted += result.numHoisted;
      foldConversions(func);
      eraseDeadValues(func);
      if (!first && result.numRematerialized == 0 && result.numHoisted == 0)
        break;
    }
    numHoisted += sinkConversions(func);
    foldConversions(func);
    if (unsigned merged = mergeReads(func)) {
      numMerged += merged;
      foldConversions(func);
    }
  }
};

} // namespace
