//===-- AMDGCN.h - From the LLVM dialect to machine code --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The back half of a compile for AMD: LLVM IR, assembly, code object.
//
//===----------------------------------------------------------------------===//
#ifndef AMD_TARGET_AMDGCN_H
#define AMD_TARGET_AMDGCN_H

#include "tile/Target/LLVMIR.h"

namespace mlir::triton::amd {

struct AMDGCNOptions : CodeGenOptions {
  AMDGCNOptions() { packOperations = true; }

  /// As in "gfx942"; empty takes the module's `ttg.target`.
  std::string processor;
  /// Waves that each SIMD unit should have room for; 0 leaves it to LLVM.
  int wavesPerEU = 0;
  /// Let arithmetic on fp32 flush denormals to zero.
  bool flushDenormals = false;
};

/// The translations of the dialects that this backend lowers to.
void registerTranslations(DialectRegistry &registry);

/// LLVM dialect to LLVM IR, for the AMDGPU target machine.
std::unique_ptr<llvm::Module> translateToLLVMIR(ModuleOp module,
                                                llvm::LLVMContext &context,
                                                const AMDGCNOptions &options);

/// Runs the -O<n> pipeline with the AMDGPU target machine attached.
LogicalResult optimizeLLVM(ModuleOp diagnosticOp, llvm::Module &module,
                           const AMDGCNOptions &options);

/// Runs the AMDGPU code generator.
FailureOr<std::string> emitAssembly(ModuleOp diagnosticOp, llvm::Module &module,
                                    const AMDGCNOptions &options);

/// All of a compile from here to assembly. `llvmIR`, if given, receives the
/// optimised LLVM IR.
FailureOr<std::string> translateModuleToAMDGCN(ModuleOp module,
                                               const AMDGCNOptions &options,
                                               std::string *llvmIR = nullptr);

/// Assembles to a relocatable object.
FailureOr<std::string> assemble(ModuleOp diagnosticOp, StringRef assembly,
                                const AMDGCNOptions &options);

/// Makes a code object, which the run time loads, of an object.
FailureOr<std::string> link(ModuleOp diagnosticOp, StringRef object);

/// The module's one kernel; an error where there are none or several.
FailureOr<KernelInfo> getKernelInfo(ModuleOp module);

} // namespace mlir::triton::amd

#endif // AMD_TARGET_AMDGCN_H
