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
#include "tile/Support/IdlePasses.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace mlir::triton;

namespace {
/// The name of the machine, which the module has, too, and what else these
/// passes are given elsewhere.
struct IgnoredOptions : PassPipelineOptions<IgnoredOptions> {
  Option<std::string> generation{*this, "arch-generation-name",
                                 llvm::cl::desc("Left alone")};
  Option<std::string> processor{*this, "gfx-arch",
                                llvm::cl::desc("Left alone")};
  Option<std::string> arch{*this, "arch", llvm::cl::desc("Left alone")};
  Option<std::string> target{*this, "target-arch",
                             llvm::cl::desc("Left alone")};
  Option<int> limit{*this, "lds-limit", llvm::cl::desc("Left alone")};
  Option<bool> flush{*this, "ftz", llvm::cl::desc("Left alone")};
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

/// `name` means the passes that `create` makes.
void registerName(StringRef name, StringRef summary, ArrayRef<Create> create) {
  SmallVector<Create> passes(create);
  PassPipelineRegistration<IgnoredOptions>(
      name, summary, [passes](OpPassManager &pm, const IgnoredOptions &) {
        for (Create pass : passes)
          pm.addPass(pass());
      });
}

/// The texts are literals, which passes keep.
void registerNothing(StringLiteral name, StringLiteral reason) {
  std::string summary = ("Nothing: " + reason).str();
  PassPipelineRegistration<IgnoredOptions>(
      name, summary, [=](OpPassManager &pm, const IgnoredOptions &) {
        pm.addPass(createIdlePass(name, reason));
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
  auto insertMemoryBarriers = [] { return createInsertMemoryBarriers(); };
  registerName("tritonamdgpu-optimize-dot-operands",
               "tritongpu-optimize-dot-operands",
               {[] { return gpu::createTritonGPUOptimizeDotOperands(); }});
  registerName("tritonamdgpu-reorder-instructions",
               "tritongpu-reorder-instructions",
               {[] { return gpu::createTritonGPUReorderInstructions(); }});
  // Other compilers insert barriers while they lower.
  registerName("allocate-amdgpu-shared-memory",
               "insert-replica-barriers, allocate-shared-memory, "
               "insert-memory-barriers",
               {[] { return createInsertReplicaBarriers(); },
                [] { return createAllocateSharedMemory(); },
                insertMemoryBarriers});
  for (StringRef name : {"tritonamdgpu-membar", "triton-amdgpu-membar"})
    registerName(name, "insert-memory-barriers", {insertMemoryBarriers});
  registerNothing("tritonamdgpu-range-analysis",
                  "passes analyse ranges themselves");
  // The bases of buffers move, not the offsets of lanes.
  registerNothing("tritonamdgpu-optimize-buffer-op-ptr",
                  "tritonamdgpu-canonicalize-pointers has done it");
  registerNothing("optimize-amd-lds-usage",
                  "allocation gives LDS to what needs it at a time");
  registerNothing("tritonamdgpu-optimize-descriptor-encoding",
                  "descriptors have become pointers");
  registerNothing("tritonamdgpu-convert-tensor-ops",
                  "descriptors have become pointers");
  registerNothing("convert-warp-pipeline",
                  "tile has no stages of waves that kernels mark");
  registerNothing("triton-amdgpu-convert-warp-specialize-to-llvm",
                  "waves are not divided on these targets");
  registerNothing("convert-builtin-func-to-llvm",
                  "convert-triton-amdgpu-to-llvm lowers functions");
}
