//===-- OtherNames.cpp - Passes that are called otherwise here ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Command lines written for other compilers of this IR name passes whose work
// tile's passes of other names do, or a later stage does anyway. The names mean
// those, with their options; what tile has no use for is read and left alone.
//
//===----------------------------------------------------------------------===//

#include "amd/Pipelines/Pipelines.h"
#include "amd/TritonAMDGPUTransforms/Passes.h"

#include "tile/Conversion/TritonGPUToLLVM/Passes.h"
#include "tile/Dialect/TritonGPU/Transforms/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace mlir::triton;

namespace {
/// The name of the machine, which the module has, too.
struct ArchOptions : PassPipelineOptions<ArchOptions> {
  Option<std::string> generation{*this, "arch-generation-name",
                                 llvm::cl::desc("Left alone")};
  Option<std::string> processor{*this, "gfx-arch",
                                llvm::cl::desc("Left alone")};
  Option<std::string> arch{*this, "arch", llvm::cl::desc("Left alone")};
};

struct ScheduleOptions : PassPipelineOptions<ScheduleOptions> {
  Option<int> numStages{*this, "num_stages",
                        llvm::cl::desc("Depth of software pipelines"),
                        llvm::cl::init(2)};
};

struct PipelineOptions : PassPipelineOptions<PipelineOptions> {
  Option<bool> useAsyncCopy{
      *this, "use_async_copy",
      llvm::cl::desc("Load operands straight into LDS where the target can"),
      llvm::cl::init(false)};
  Option<bool> usePingpong{*this, "use_pingpong", llvm::cl::desc("Left alone"),
                           llvm::cl::init(false)};
};

void schedule(OpPassManager &pm, const ScheduleOptions &options) {
  gpu::TritonGPUAssignLatenciesOptions latencies;
  latencies.numStages = std::min<int>(options.numStages, 2);
  pm.addPass(gpu::createTritonGPUAssignLatencies(latencies));
  pm.addPass(gpu::createTritonGPUScheduleLoops());
}

void pipeline(OpPassManager &pm, const PipelineOptions &options) {
  amd::TritonAMDGPUStreamPipelineOptions stream;
  stream.useAsyncCopy = options.useAsyncCopy;
  pm.addPass(amd::createTritonAMDGPUStreamPipeline(stream));
  pm.addPass(gpu::createTritonGPUPipeline());
}

using Create = std::unique_ptr<Pass> (*)();

/// `name` means the pass that `create` makes, or none.
void registerName(StringRef name, StringRef summary, Create create) {
  PassPipelineRegistration<ArchOptions>(
      name, summary, [create](OpPassManager &pm, const ArchOptions &) {
        if (create)
          pm.addPass(create());
      });
}
} // namespace

void amd::registerOtherNames() {
  PassPipelineRegistration<ScheduleOptions>(
      "tritonamdgpu-schedule-loops",
      "tritongpu-assign-latencies, tritongpu-schedule-loops", schedule);
  PassPipelineRegistration<PipelineOptions>(
      "tritonamdgpu-pipeline",
      "tritonamdgpu-stream-pipeline, tritongpu-pipeline", pipeline);
  registerName("tritonamdgpu-optimize-dot-operands",
               "tritongpu-optimize-dot-operands",
               [] { return gpu::createTritonGPUOptimizeDotOperands(); });
  registerName("tritonamdgpu-reorder-instructions",
               "tritongpu-reorder-instructions",
               [] { return gpu::createTritonGPUReorderInstructions(); });
  registerName("allocate-amdgpu-shared-memory", "allocate-shared-memory",
               [] { return createAllocateSharedMemory(); });
  for (StringRef name : {"tritonamdgpu-membar", "triton-amdgpu-membar"})
    registerName(name, "insert-memory-barriers",
                 [] { return createInsertMemoryBarriers(); });
  // Range analysis is part of the passes that ask it.
  registerName("tritonamdgpu-range-analysis",
               "Nothing: passes analyse ranges themselves", nullptr);
  // The bases of buffers move, not the offsets of lanes.
  registerName("tritonamdgpu-optimize-buffer-op-ptr",
               "Nothing: tritonamdgpu-canonicalize-pointers has done it",
               nullptr);
}
