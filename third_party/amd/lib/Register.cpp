//===-- Register.cpp - The AMD backend's entry points ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "amd/Register.h"
#include "amd/IR/Dialect.h"
#include "amd/Pipelines/Pipelines.h"
#include "amd/Target/AMDGCN.h"
#include "amd/TargetModel.h"
#include "amd/TargetTable.h"
#include "amd/TritonAMDGPUToLLVM/Passes.h"
#include "amd/TritonAMDGPUTransforms/Passes.h"

#include "tile/Support/IdlePasses.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/IR/DialectRegistry.h"

using namespace mlir;

void triton::backends::amd::registerDialects(DialectRegistry &registry) {
  registry.insert<triton::amdgpu::AMDGDialect, LLVM::LLVMDialect,
                  ROCDL::ROCDLDialect>();
  triton::amd::registerTargetModels(registry);
  triton::amd::registerTranslations(registry);
}

void triton::backends::amd::registerPasses() {
  triton::amd::registerAMDPasses();
  triton::amd::registerTritonAMDGPUPasses();
  triton::amd::registerPipelines();
  addPassesForMachines(
      {[](StringRef pass) {
         return pass.starts_with("tritonamdgpu-") ||
                pass.starts_with("triton-amdgpu-") || pass.ends_with("-amd");
       },
       [](StringRef target) { return target.starts_with("hip:"); },
       "AMD GPUs"});
}

std::vector<triton::TargetRow> triton::backends::amd::getTargets() {
  std::vector<TargetRow> rows;
  for (const triton::amd::AMDTarget &target : triton::amd::getAMDTargets())
    rows.push_back(target.getRow());
  return rows;
}
