//===-- AutomaticWarpSpecialization.cpp - Partitions for marked loops -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Producer.h"

#include "tile/Analysis/LoopSchedule.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/Transforms/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::triton::gpu {
#define GEN_PASS_DEF_TRITONGPUAUTOMATICWARPSPECIALIZATION
#include "tile/Dialect/TritonGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::gpu

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

namespace {

struct AutomaticWarpSpecialization
    : public gpu::impl::TritonGPUAutomaticWarpSpecializationBase<
          AutomaticWarpSpecialization> {
  using Base::Base;

  void runOnOperation() override {
    bool anyMarked = getOperation()
                         ->walk([](scf::ForOp loop) {
                           return LoopPlan(loop).isWarpSpecialized()
                                      ? WalkResult::interrupt()
                                      : WalkResult::advance();
                         })
                         .wasInterrupted();
    if (!anyMarked)
      return;
    OpPassManager passes(ModuleOp::getOperationName());
    TritonGPUAssignLatenciesOptions latencies;
    latencies.numStages = numStages;
    latencies.onlyMarked = true;
    passes.addPass(createTritonGPUAssignLatencies(latencies));
    TritonGPUPartitionSchedulingOptions scheduling;
    scheduling.supported = supported;
    passes.addPass(createTritonGPUPartitionScheduling(scheduling));
    passes.addPass(createTritonGPUPartitionLoops());
    if (failed(runPipeline(passes, getOperation())))
      signalPassFailure();
  }
};

} // namespace
