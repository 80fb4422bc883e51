//===-- StreamPipeline.cpp - Loads ahead, in registers --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "amd/TritonAMDGPUTransforms/Passes.h"

#include "tile/Dialect/TritonGPU/Transforms/LoopSchedule.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::triton::amd {
#define GEN_PASS_DEF_TRITONAMDGPUSTREAMPIPELINE
#include "amd/TritonAMDGPUTransforms/Passes.h.inc"
} // namespace mlir::triton::amd

using namespace mlir;
using namespace mlir::triton;

namespace {
struct StreamPipeline
    : amd::impl::TritonAMDGPUStreamPipelineBase<StreamPipeline> {
  void runOnOperation() override {
    getOperation().walk([&](scf::ForOp loop) {
      std::optional<gpu::LoopSchedule> schedule = gpu::LoopSchedule::read(loop);
      if (!schedule)
        return;
      // Early stages first: what they load has the whole body to arrive in.
      gpu::LoopSchedule streamed(schedule->getMaxStage());
      for (Operation &op : loop.getBody()->without_terminator()) {
        int stage = schedule->get(&op).stage;
        streamed.set(&op, {stage, /*cluster=*/stage});
        // Without it, the result stays in registers.
        if (op.removeAttr(gpu::kLatencyAttr))
          ++numLoads;
      }
      streamed.write(loop);
    });
  }
};
} // namespace
