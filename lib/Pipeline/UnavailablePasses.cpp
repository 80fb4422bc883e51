//===-- UnavailablePasses.cpp - Names that command lines may have ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Command lines written for other compilers of this IR name passes that tile
// does not have. Each such name is refused with what to use instead, which is
// more helpful than an unknown option.
//
//===----------------------------------------------------------------------===//

#include "UnavailablePasses.h"

#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

namespace {
struct UnavailablePass {
  StringLiteral name;
  StringLiteral advice;
};

constexpr StringLiteral kNoTensorMemory =
    "tile does not place operands in tensor memory yet; leave the pass out";
constexpr StringLiteral kLowering =
    "use 'convert-triton-gpu-to-llvm', which lowers everything at once";
constexpr StringLiteral kGluon =
    "tile has no front end for kernels with open layouts; write the layouts";
constexpr StringLiteral kGluonUpstream =
    "use the pass of upstream MLIR: 'inline' or 'canonicalize'";
constexpr StringLiteral kSanitizer =
    "run the kernel in the simulator ('tile-sim', or CPU tensors), whose "
    "checks find races and bad accesses";
constexpr StringLiteral kWarpPipeline =
    "tile has no stages of warps that kernels mark; leave it out";

constexpr UnavailablePass kUnavailable[] = {
    {"tritongpu-optimize-partition-warps",
     "'tritongpu-partition-loops' gives every partition the warps it needs"},
    {"tritongpu-hoist-tmem-alloc", kNoTensorMemory},
    {"tritongpu-promote-lhs-to-tmem", kNoTensorMemory},
    {"triton-nvidia-interleave-tmem", kNoTensorMemory},
    {"triton-nvidia-optimize-tmem-layouts", kNoTensorMemory},
    {"triton-nvidia-mma-lowering", kNoTensorMemory},
    {"triton-nvidia-gpu-proxy-fence-insertion",
     "use 'triton-nvidia-gpu-fence-insertion'"},
    {"triton-nvidia-gpu-plan-cta",
     "use 'tritongpu-coalesce', which keeps the layout of blocks in a cluster"},
    {"relayout-tritongpu", "use 'convert-triton-to-tritongpu'"},
    {"convert-nv-gpu-to-llvm", kLowering},
    {"tritongpu-test-pipeline-lower-loop", "use 'tritongpu-pipeline'"},
    {"test-print-buffer-region",
     "use 'test-print-alias' or 'test-print-allocation'"},
    {"gluon-resolve-auto-encodings", kGluon},
    {"gluon-infer-coalesced-encodings", kGluon},
    {"gluon-inline", kGluonUpstream},
    {"gluon-canonicalize", kGluonUpstream},
    {"tritoninstrument-concurrency-sanitizer", kSanitizer},
    {"tritoninstrument-fp-sanitizer", kSanitizer},
    {"tritonamdgpu-warp-pipeline", kWarpPipeline},
    {"convert-warp-pipeline", kWarpPipeline},
};
} // namespace

void triton::registerUnavailablePasses() {
  for (const UnavailablePass &pass : kUnavailable) {
    // A backend may bring one along.
    if (PassInfo::lookup(pass.name))
      continue;
    registerPassPipeline(
        pass.name, "(not available)",
        [&pass](OpPassManager &, StringRef,
                function_ref<LogicalResult(const Twine &)> errorHandler) {
          return errorHandler("'" + pass.name +
                              "' is not available: " + pass.advice);
        },
        [](function_ref<void(const detail::PassOptions &)>) {});
  }
}
