//===-- LinkLibrary.cpp - Linking bitcode into a kernel's module ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Target/LinkLibrary.h"
#include "tile/Target/LLVMIR.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/Module.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Transforms/IPO/Internalize.h"

using namespace mlir;

static LogicalResult link(ModuleOp diagnosticOp, llvm::Module &module,
                          std::unique_ptr<llvm::Module> library,
                          StringRef name) {
  library->setTargetTriple(module.getTargetTriple());
  library->setDataLayout(module.getDataLayout());
  auto internalize = [](llvm::Module &linked, const llvm::StringSet<> &names) {
    llvm::internalizeModule(linked, [&](const llvm::GlobalValue &value) {
      return !value.hasName() || !names.contains(value.getName());
    });
  };
  triton::CollectDiagnostics diagnostics(module.getContext());
  if (llvm::Linker::linkModules(module, std::move(library),
                                llvm::Linker::Flags::LinkOnlyNeeded,
                                internalize))
    return diagnosticOp.emitError("linking ")
           << name << " failed: " << diagnostics.getErrors();
  return success();
}

LogicalResult triton::linkLibrary(ModuleOp diagnosticOp, llvm::Module &module,
                                  llvm::MemoryBufferRef bitcode) {
  StringRef name = bitcode.getBufferIdentifier();
  auto library = llvm::getLazyBitcodeModule(bitcode, module.getContext());
  if (!library)
    return diagnosticOp.emitError("cannot read ")
           << name << ": " << llvm::toString(library.takeError());
  return link(diagnosticOp, module, std::move(*library), name);
}

LogicalResult triton::linkLibraryFile(ModuleOp diagnosticOp,
                                      llvm::Module &module, StringRef path) {
  llvm::SMDiagnostic why;
  std::unique_ptr<llvm::Module> library =
      llvm::getLazyIRFileModule(path, why, module.getContext());
  if (!library)
    return diagnosticOp.emitError("cannot read the library '")
           << path << "': " << why.getMessage();
  return link(diagnosticOp, module, std::move(library), path);
}
