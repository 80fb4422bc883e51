//===-- Register.cpp - The NVIDIA backend's entry points ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "nvidia/Register.h"
#include "nvidia/Pipelines/Pipelines.h"
#include "nvidia/Target/PTX.h"
#include "nvidia/TargetModel.h"
#include "nvidia/TargetTable.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/DialectRegistry.h"

using namespace mlir;

void triton::backends::nvidia::registerDialects(DialectRegistry &registry) {
  registry.insert<LLVM::LLVMDialect, NVVM::NVVMDialect>();
  triton::nvidia::registerTargetModels(registry);
  triton::nvidia::registerTranslations(registry);
}

void triton::backends::nvidia::registerPasses() {
  triton::nvidia::registerNVIDIAPasses();
  triton::nvidia::registerPipelines();
}

std::vector<triton::TargetRow> triton::backends::nvidia::getTargets() {
  std::vector<TargetRow> rows;
  for (const NVIDIATarget &target : getNVIDIATargets())
    rows.push_back(target.getRow());
  return rows;
}
