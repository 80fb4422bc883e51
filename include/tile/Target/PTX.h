//===-- PTX.h - From the LLVM dialect to PTX --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The back half of a compile. `translateModuleToPTX` is the whole of it; the
// steps are there for tools that want to stop in between. Every failure is a
// diagnostic at the module's location.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TARGET_PTX_H
#define TILE_TARGET_PTX_H

#include "mlir/Support/LLVM.h"
#include <memory>
#include <string>
#include <vector>

namespace llvm {
class LLVMContext;
class Module;
class TargetMachine;
} // namespace llvm

namespace mlir {
class DialectRegistry;
class ModuleOp;

namespace triton {

struct PTXOptions {
  /// Major * 10 + minor; 0 takes the module's `ttg.target`.
  int computeCapability = 0;
  /// Times ten; 0 takes what the target table says.
  int ptxVersion = 0;
  /// 0 to 3, as in -O3.
  int optLevel = 3;
  /// Contract a*b+c to an fma.
  bool enableFpFusion = true;
  /// Let libdevice's functions of fp32 flush denormals to zero.
  bool enableReflectFtz = false;
  /// Keep `.loc` line information.
  bool lineInfo = true;
  /// Print the LLVM IR before each pass to stderr.
  bool printIR = false;
  /// Print what each pass of LLVM took to stderr.
  bool timePasses = false;
  /// libdevice.10.bc; only needed by modules that call `__nv_*` functions.
  std::string libdevicePath;
};

/// What the launcher must know about a compiled kernel.
struct KernelInfo {
  std::string name;
  int numWarps = 4;
  int numCTAs = 1;
  int sharedMemory = 0;
  int globalScratchSize = 0;
  int globalScratchAlignment = 1;
  /// Pairs of parameters that the kernel takes to be disjoint, one number after
  /// the other.
  std::vector<int> disjointArguments;
};

/// Dialect-to-LLVM-IR translations that `translateToLLVMIR` needs.
void registerLLVMIRTranslations(DialectRegistry &registry);

/// LLVM dialect to LLVM IR, with kernel metadata, triple and data layout.
std::unique_ptr<llvm::Module> translateToLLVMIR(ModuleOp module,
                                                llvm::LLVMContext &context,
                                                const PTXOptions &options);

/// Links the functions of libdevice that `module` uses, if any, and runs the
/// -O<n> pipeline with the NVPTX target machine attached.
LogicalResult optimizeLLVM(ModuleOp diagnosticOp, llvm::Module &module,
                           const PTXOptions &options);

/// Runs the NVPTX code generator.
FailureOr<std::string> emitPTX(ModuleOp diagnosticOp, llvm::Module &module,
                               const PTXOptions &options);

/// All of the above. `llvmIR`, if given, receives the optimised LLVM IR.
FailureOr<std::string> translateModuleToPTX(ModuleOp module,
                                            const PTXOptions &options,
                                            std::string *llvmIR = nullptr);

/// The module's one kernel; an error where there are none or several.
FailureOr<KernelInfo> getKernelInfo(ModuleOp module);

} // namespace triton
} // namespace mlir

#endif // TILE_TARGET_PTX_H
