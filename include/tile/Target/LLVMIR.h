//===-- LLVMIR.h - From the LLVM dialect to assembly ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What the back halves of all backends share: translation to LLVM IR,
// optimisation and code generation, for a target machine that the backend
// makes. Every failure is a diagnostic at the module's location.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TARGET_LLVMIR_H
#define TILE_TARGET_LLVMIR_H

#include "mlir/Support/LLVM.h"
#include <memory>
#include <string>
#include <vector>

namespace llvm {
struct DiagnosticHandler;
class LLVMContext;
class Module;
class TargetMachine;
class Triple;
} // namespace llvm

namespace mlir {
class DialectRegistry;
class ModuleOp;

namespace triton {

struct CodeGenOptions {
  /// 0 to 3, as in -O3.
  int optLevel = 3;
  /// Contract a*b+c to an fma.
  bool enableFpFusion = true;
  /// Put equal operations on neighbours into vectors, where the machine has
  /// such instructions.
  bool packOperations = false;
  /// Keep line information.
  bool lineInfo = true;
  /// Print the LLVM IR before each pass to stderr.
  bool printIR = false;
  /// Print what each pass of LLVM took to stderr.
  bool timePasses = false;
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
  /// The places of loads that leave lanes undefined.
  std::vector<std::string> undefinedLoads;
  /// Parameters behind which it takes less than 2^31 bytes to be.
  std::vector<int> smallArguments;
};

/// Collects what LLVM reports as errors, which would end the process otherwise,
/// for the life of this object.
class CollectDiagnostics {
public:
  explicit CollectDiagnostics(llvm::LLVMContext &context);
  ~CollectDiagnostics();
  const std::string &getErrors() const { return errors; }

private:
  std::string errors;
  llvm::LLVMContext &context;
  std::unique_ptr<llvm::DiagnosticHandler> saved;
};

/// The translations of the dialects that every backend lowers to.
void registerLLVMIRTranslations(DialectRegistry &registry);

/// A machine of LLVM's, whose code generator the backend has initialised.
FailureOr<std::unique_ptr<llvm::TargetMachine>>
createTargetMachine(ModuleOp diagnosticOp, const llvm::Triple &triple,
                    StringRef processor, StringRef features,
                    const CodeGenOptions &options);

/// LLVM dialect to LLVM IR with the machine's triple and data layout.
std::unique_ptr<llvm::Module>
translateToLLVMIR(ModuleOp module, llvm::LLVMContext &context,
                  const llvm::TargetMachine &machine);

/// Runs the -O<n> pipeline with the target machine attached.
LogicalResult optimizeLLVMIR(ModuleOp diagnosticOp, llvm::Module &module,
                             llvm::TargetMachine &machine,
                             const CodeGenOptions &options);

/// Runs the code generator.
FailureOr<std::string> emitAssembly(ModuleOp diagnosticOp, llvm::Module &module,
                                    llvm::TargetMachine &machine);

/// The module's one function with the attribute `kernelAttrName`; an error
/// where there are none or several.
FailureOr<KernelInfo> getKernelInfo(ModuleOp module, StringRef kernelAttrName);

} // namespace triton
} // namespace mlir

#endif // TILE_TARGET_LLVMIR_H
