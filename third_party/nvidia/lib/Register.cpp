//===-- Register.cpp - The NVIDIA backend's entry points ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "nvidia/Register.h"
#include "nvidia/Pipelines/Pipelines.h"
#include "nvidia/Target/PTX.h"
#include "nvidia/TargetModel.h"
#include "nvidia/TargetTable.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/Passes.h"

#include "tile/Support/IdlePasses.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/DialectRegistry.h"

using namespace mlir;

void triton::backends::nvidia::registerDialects(DialectRegistry &registry) {
  registry.insert<LLVM::LLVMDialect, NVVM::NVVMDialect>();
  triton::nvidia::registerTargetModels(registry);
  triton::nvidia::registerTranslations(registry);
}

/// Registers the passes that only GPUs with a feature need.
template <bool triton::NVIDIATarget::*feature>
static void addPassesFor(StringRef machines, bool (*contain)(StringRef pass)) {
  auto suit = [](StringRef target) {
    auto number = triton::parseNVIDIATargetString(target);
    const triton::NVIDIATarget *facts =
        number ? triton::lookupNVIDIATarget(*number) : nullptr;
    return facts && facts->*feature;
  };
  triton::addPassesForMachines({contain, suit, machines});
}

static bool isForTensorMemory(StringRef pass) {
  return pass.contains("tmem") || pass == "triton-tensor-memory-allocation" ||
         pass == "triton-nvidia-mma-lowering";
}

static bool isForTensorCopies(StringRef pass) {
  return pass == "triton-nvidia-tma-lowering" ||
         pass == "triton-nvidia-optimize-descriptor-encoding" ||
         pass == "triton-nvidia-overlap-stores" ||
         pass == "prefetch-tensor-maps-nv";
}

void triton::backends::nvidia::registerPasses() {
  triton::nvidia::registerNVIDIAPasses();
  triton::nvidia::registerPipelines();
  addPassesForMachines(
      {[](StringRef pass) {
         return pass.starts_with("triton-nvidia-") || pass.ends_with("-nv") ||
                isForTensorMemory(pass);
       },
       [](StringRef target) { return target.starts_with("cuda:"); },
       "NVIDIA GPUs"});
  addPassesFor<&NVIDIATarget::hasTensorMemory>("GPUs with tensor memory",
                                               isForTensorMemory);
  addPassesFor<&NVIDIATarget::hasTMA>("GPUs with a TMA unit",
                                      isForTensorCopies);
}

std::vector<triton::TargetRow> triton::backends::nvidia::getTargets() {
  std::vector<TargetRow> rows;
  for (const NVIDIATarget &target : getNVIDIATargets())
    rows.push_back(target.getRow());
  return rows;
}
