//===-- UnavailablePasses.cpp - Names that command lines may have ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Command lines written for other compilers of this IR name passes that tile
// does not have. Those whose work is done elsewhere, or never to be done,
// become passes that do nothing, whatever their options. Any other name is
// refused with what to use instead, which is more helpful than an unknown
// option.
//
//===----------------------------------------------------------------------===//

#include "UnavailablePasses.h"

#include "tile/Support/IdlePasses.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

namespace {
/// A name, and why nothing is done or what to do instead.
struct NamedPass {
  StringLiteral name;
  StringLiteral advice;
};

constexpr StringLiteral kLowering =
    "convert-triton-gpu-to-llvm lowers everything at once";

constexpr NamedPass kNothingToDo[] = {
    {"tritongpu-optimize-partition-warps",
     "tritongpu-partition-loops gives every partition the warps it needs"},
    {"triton-nvidia-gpu-remove-tmem-tokens",
     "accesses of tensor memory are in order without tokens"},
    {"triton-nvidia-gpu-plan-cta",
     "tritongpu-coalesce keeps the layout of blocks in a cluster"},
    {"nvgpu-warp-specialization",
     "tritongpu-automatic-warp-specialization divides marked loops"},
    {"convert-nv-gpu-to-llvm", kLowering},
    {"triton-nvidia-gpu-tmem-barrier-insertion",
     "insert-memory-barriers knows tensor memory"},
};

constexpr StringLiteral kWarpPipeline =
    "tile has no stages of warps that kernels mark; leave it out";

constexpr NamedPass kUnavailable[] = {
    {"relayout-tritongpu", "use 'convert-triton-to-tritongpu'"},
    {"tritongpu-test-pipeline-lower-loop", "use 'tritongpu-pipeline'"},
    {"test-print-buffer-region",
     "use 'test-print-alias' or 'test-print-allocation'"},
    {"tritonamdgpu-warp-pipeline", kWarpPipeline},
};
} // namespace

static void
registerName(const NamedPass &pass, const Twine &summary,
             std::function<LogicalResult(
                 OpPassManager &pm,
                 function_ref<LogicalResult(const Twine &)> errorHandler)>
                 run) {
  // A backend may bring one along.
  if (PassInfo::lookup(pass.name))
    return;
  registerPassPipeline(
      pass.name, summary.str(),
      [run](OpPassManager &pm, StringRef,
            function_ref<LogicalResult(const Twine &)> errorHandler) {
        return run(pm, errorHandler);
      },
      [](function_ref<void(const detail::PassOptions &)>) {});
}

void triton::registerUnavailablePasses() {
  for (const NamedPass &pass : kNothingToDo)
    registerName(pass, "Nothing: " + pass.advice,
                 [&pass](OpPassManager &pm, auto) {
                   pm.addPass(createIdlePass(pass.name, pass.advice));
                   return success();
                 });
  for (const NamedPass &pass : kUnavailable)
    registerName(pass, "(not available)", [&pass](auto &, auto errorHandler) {
      return errorHandler("'" + pass.name +
                          "' is not available: " + pass.advice);
    });
}
