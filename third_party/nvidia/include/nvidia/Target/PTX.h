//===-- PTX.h - From the LLVM dialect to PTX --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The back half of a compile for NVIDIA. `translateModuleToPTX` is the whole of
// it; the steps are there for tools that start or stop in between.
//
//===----------------------------------------------------------------------===//
#ifndef NVIDIA_TARGET_PTX_H
#define NVIDIA_TARGET_PTX_H

#include "tile/Target/LLVMIR.h"

namespace mlir::triton::nvidia {

struct PTXOptions : CodeGenOptions {
  /// Major * 10 + minor; 0 takes the module's `ttg.target`.
  int computeCapability = 0;
  /// Times ten; 0 takes what the target table says.
  int ptxVersion = 0;
  /// Let libdevice's functions of fp32 flush denormals to zero.
  bool enableReflectFtz = false;
  /// libdevice.10.bc; only needed by modules that call `__nv_*` functions.
  std::string libdevicePath;
  /// Further libraries that define functions, in bitcode or as LLVM's text.
  std::vector<std::string> libraries;
};

/// The translations of the dialects that this backend lowers to.
void registerTranslations(DialectRegistry &registry);

/// LLVM dialect to LLVM IR, for the NVPTX target machine.
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

/// All of a compile from here. `llvmIR`, if given, receives the optimised LLVM
/// IR.
FailureOr<std::string> translateModuleToPTX(ModuleOp module,
                                            const PTXOptions &options,
                                            std::string *llvmIR = nullptr);

/// The module's one kernel; an error where there are none or several.
FailureOr<KernelInfo> getKernelInfo(ModuleOp module);

/// A tensor map that a kernel takes by value; the maps are its last parameters
/// but for scratch memory.
struct TensorMapParameter {
  /// The parameter that is the tensor's base; its shape, its strides and
  /// whether elements out of bounds are NaNs follow, and for copies of pixels
  /// more (`getPixelPartTypes`).
  int base;
  /// Codes as TMA has them.
  int elementType, elementBytes;
  int swizzle;          ///< In bytes.
  std::vector<int> box; ///< Outermost dimension first.
  bool pixels;          ///< Copies are of pixels: the im2col mode of TMA.
  /// How the launch computes base, shape and strides, where the program did not
  /// ask for the map: three numbers for each step, as `LaunchStep` says. Inputs
  /// are numbers of parameters.
  std::vector<int64_t> code;
  std::vector<int> parts; ///< The steps that these are; else empty.
};

/// Those of the module's kernel, in the order of its parameters.
std::vector<TensorMapParameter> getTensorMaps(ModuleOp module);

} // namespace mlir::triton::nvidia

#endif // NVIDIA_TARGET_PTX_H
