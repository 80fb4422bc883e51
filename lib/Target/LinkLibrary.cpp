//===-- LinkLibrary.cpp - Linking bitcode into a kernel's module ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Target/LinkLibrary.h"
#include "tile/Target/LLVMIR.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Transforms/IPO/Internalize.h"

using namespace mlir;

LogicalResult triton::linkLibrary(ModuleOp diagnosticOp, llvm::Module &module,
                                  llvm::MemoryBufferRef bitcode) {
  StringRef name = bitcode.getBufferIdentifier();
  auto library = llvm::getLazyBitcodeModule(bitcode, module.getContext());
  if (!library)
    return diagnosticOp.emitError("cannot read ")
           << name << ": " << llvm::toString(library.takeError());
  (*library)->setTargetTriple(module.getTargetTriple());
  (*library)->setDataLayout(module.getDataLayout());
  auto internalize = [](llvm::Module &linked, const llvm::StringSet<> &names) {
    llvm::internalizeModule(linked, [&](const llvm::GlobalValue &value) {
      return !value.hasName() || !names.contains(value.getName());
    });
  };
  CollectDiagnostics diagnostics(module.getContext());
  if (llvm::Linker::linkModules(module, std::move(*library),
                                llvm::Linker::Flags::LinkOnlyNeeded,
                                internalize))
    return diagnosticOp.emitError("linking ")
           << name << " failed: " << diagnostics.getErrors();
  return success();
}
