//===-- CodeGeneration.h - What the bindings of all backends share -*- C++ -*-//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_PYTHON_CODEGENERATION_H
#define TILE_PYTHON_CODEGENERATION_H

#include "Diagnostics.h"
#include "Handles.h"

#include "tile/Target/FatalErrors.h"
#include "tile/Target/LLVMIR.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"

namespace tile::python {

/// What the launcher must know about the module's kernel, which `find` finds.
nanobind::dict getKernelInfo(
    PyModule &module,
    mlir::FailureOr<mlir::triton::KernelInfo> (*find)(mlir::ModuleOp));

/// LLVM IR from its text.
mlir::triton::LLVMOwner<llvm::Module> parseLLVMIR(const std::string &text,
                                                  llvm::LLVMContext &context);

/// The optimised LLVM IR of a module in the LLVM dialect, as text.
template <typename OptionsT>
std::string
translateToLLVM(PyModule &module, const OptionsT &options,
                std::unique_ptr<llvm::Module> (*translate)(mlir::ModuleOp,
                                                           llvm::LLVMContext &,
                                                           const OptionsT &),
                mlir::LogicalResult (*optimize)(mlir::ModuleOp, llvm::Module &,
                                                const OptionsT &)) {
  DiagnosticCollector diagnostics(module.unit->context.get());
  std::string text;
  mlir::LogicalResult result = mlir::failure();
  {
    nanobind::gil_scoped_release release;
    mlir::ModuleOp source = module.unit->module.get();
    mlir::triton::LLVMOwner<llvm::LLVMContext> context(new llvm::LLVMContext);
    mlir::triton::LLVMOwner<llvm::Module> llvmModule(
        translate(source, *context, options).release());
    if (llvmModule)
      result = optimize(source, *llvmModule, options);
    if (succeeded(result)) {
      llvm::raw_string_ostream os(text);
      llvmModule->print(os, nullptr);
    }
  }
  diagnostics.check(result, "the translation to LLVM IR failed");
  return text;
}

} // namespace tile::python

#endif // TILE_PYTHON_CODEGENERATION_H
