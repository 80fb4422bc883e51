//===-- RegisterPasses.cpp - Passes and pipelines -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Pipeline/InitAll.h"

#include "UnavailablePasses.h"

#include "tile/Conversion/TritonGPUToLLVM/Passes.h"
#include "tile/Conversion/TritonToTritonGPU/Passes.h"
#include "tile/Dialect/Gluon/Transforms/Passes.h"
#include "tile/Dialect/NVWS/Transforms/Passes.h"
#include "tile/Dialect/Proton/Transforms/Passes.h"
#include "tile/Dialect/Triton/Transforms/Passes.h"
#include "tile/Dialect/Triton/Transforms/Pipeline.h"
#include "tile/Dialect/TritonGPU/Transforms/Passes.h"
#include "tile/Dialect/TritonInstrument/Transforms/Passes.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/SCF/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace mlir::triton::backends {
#define TILE_BACKEND(name)                                                     \
  namespace name {                                                             \
  void registerPasses();                                                       \
  }
#include "tile/Backends.inc"
#undef TILE_BACKEND
} // namespace mlir::triton::backends

static void registerUpstreamPasses() {
  // canonicalize, cse, sccp, symbol-dce, inline, licm, print-ir, ...
  mlir::registerTransformsPasses();
  mlir::registerSCFPasses();
  mlir::arith::registerArithPasses();
  mlir::math::registerMathPasses();
  mlir::LLVM::registerLLVMPasses();

  mlir::registerSCFToControlFlowPass();
  mlir::registerConvertControlFlowToLLVMPass();
  mlir::registerArithToLLVMConversionPass();
  mlir::registerConvertMathToLLVMPass();
  mlir::registerConvertFuncToLLVMPass();
  mlir::registerConvertIndexToLLVMPass();
  mlir::registerConvertNVVMToLLVMPass();
  mlir::registerConvertToLLVMPass();
  mlir::registerReconcileUnrealizedCastsPass();
  mlir::registerUBToLLVMConversionPass();
}

/// Makes `alias`, which command lines may have, mean the pass `name`.
static void registerAlias(StringRef alias, StringRef name) {
  registerPassPipeline(
      alias, "Another name of -" + name.str(),
      [name](OpPassManager &pm, StringRef options,
             function_ref<LogicalResult(const Twine &)> errorHandler) {
        return PassInfo::lookup(name)->addToPipeline(pm, options, errorHandler);
      },
      [](function_ref<void(const detail::PassOptions &)>) {});
}

static LogicalResult
addFencesAndBarriers(OpPassManager &pm, StringRef,
                     function_ref<LogicalResult(const Twine &)>) {
  triton::nvidia_gpu::TritonNvidiaGPUFenceInsertionOptions fences;
  fences.afterAsyncCopies = true;
  pm.addPass(triton::nvidia_gpu::createTritonNvidiaGPUFenceInsertion(fences));
  pm.addPass(triton::createInsertReplicaBarriers());
  pm.addPass(triton::createInsertMemoryBarriers());
  return success();
}

void mlir::triton::registerAllPasses() {
  registerUpstreamPasses();
  registerTritonPasses();
  gluon::registerGluonPasses();
  proton::registerProtonPasses();
  instrument::registerTritonInstrumentPasses();
  registerTritonToTritonGPUPasses();
  gpu::registerTritonGPUPasses();
  nvidia_gpu::registerTritonNvidiaGPUPasses();
  nvws::registerNVWSPasses();
  registerTritonGPUToLLVMPasses();

#define TILE_BACKEND(name) backends::name::registerPasses();
#include "tile/Backends.inc"
#undef TILE_BACKEND

  registerStage<TTIROptions>("tile-ttir", "Inlined, canonical tt",
                             buildTTIRPipeline);
  registerAlias("tritongpu-F32DotTC", "tritongpu-f32-dot-tc");
  registerAlias("enable-line-info", "ensure-debug-info-scope-on-llvm-func");
  PassPipelineRegistration<>(
      "gluon-inline", "Inline calls, and leave layouts as they are",
      [](OpPassManager &pm) { pm.addPass(gluon::createGluonInline()); });
  registerPassPipeline(
      "triton-nvidia-gpu-proxy-fence-insertion",
      "triton-nvidia-gpu-fence-insertion after copies, and the barriers that "
      "other compilers insert while they lower",
      addFencesAndBarriers,
      [](function_ref<void(const detail::PassOptions &)>) {});
  registerUnavailablePasses();
}
