//===-- EmitPTX.cpp - Print the PTX of a module ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "nvidia/Target/PTX.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/Passes.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/ToolOutputFile.h"

namespace mlir::triton::nvidia {
#define GEN_PASS_DEF_EMITPTX
#include "nvidia/TritonNVIDIAGPUToLLVM/Passes.h.inc"
} // namespace mlir::triton::nvidia

using namespace mlir;
using namespace mlir::triton;

namespace {
struct EmitPTX : nvidia::impl::EmitPTXBase<EmitPTX> {
  using Base::Base;

  void runOnOperation() override {
    nvidia::PTXOptions options;
    options.computeCapability = computeCapability;
    options.ptxVersion = ptxVersion;
    options.optLevel = optLevel;
    options.libdevicePath = libdevice;
    std::string llvmIR;
    FailureOr<std::string> ptx =
        nvidia::translateModuleToPTX(getOperation(), options, &llvmIR);
    if (failed(ptx))
      return signalPassFailure();
    std::string error;
    std::unique_ptr<llvm::ToolOutputFile> file = openOutputFile(output, &error);
    if (!file) {
      emitError(getOperation().getLoc(), error);
      return signalPassFailure();
    }
    file->os() << (emit == "llvm-ir" ? llvmIR : *ptx);
    file->keep();
    markAllAnalysesPreserved();
  }
};
} // namespace
