//===-- EmitAMDGCN.cpp - Print the assembly of a module -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "amd/Target/AMDGCN.h"
#include "amd/TritonAMDGPUToLLVM/Passes.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/ToolOutputFile.h"

namespace mlir::triton::amd {
#define GEN_PASS_DEF_EMITAMDGCN
#include "amd/TritonAMDGPUToLLVM/Passes.h.inc"
} // namespace mlir::triton::amd

using namespace mlir;
using namespace mlir::triton;

namespace {
struct EmitAMDGCN : amd::impl::EmitAMDGCNBase<EmitAMDGCN> {
  using Base::Base;

  void runOnOperation() override {
    amd::AMDGCNOptions options;
    options.optLevel = optLevel;
    std::string llvmIR;
    FailureOr<std::string> assembly =
        amd::translateModuleToAMDGCN(getOperation(), options, &llvmIR);
    if (failed(assembly))
      return signalPassFailure();
    std::string error;
    std::unique_ptr<llvm::ToolOutputFile> file = openOutputFile(output, &error);
    if (!file) {
      emitError(getOperation().getLoc(), error);
      return signalPassFailure();
    }
    file->os() << (emit == "llvm-ir" ? llvmIR : *assembly);
    file->keep();
    markAllAnalysesPreserved();
  }
};
} // namespace
