//===-- DeviceLibrary.cpp - Linking the device library --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TargetMachine.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/MemoryBufferRef.h"
#include "llvm/Transforms/IPO/Internalize.h"

using namespace mlir;
using namespace mlir::triton;

static constexpr unsigned char kLibrary[] = {
#include "DeviceLibrary.inc"
};

/// Names of functions that are used and defined nowhere.
static std::string getMissing(const llvm::Module &module) {
  std::string names;
  for (const llvm::Function &function : module)
    if (function.isDeclaration() && !function.isIntrinsic() &&
        !function.use_empty())
      names += (names.empty() ? "" : ", ") + function.getName().str();
  return names;
}

LogicalResult amd::linkDeviceLibrary(ModuleOp diagnosticOp,
                                     llvm::Module &module) {
  if (getMissing(module).empty())
    return success();
  llvm::MemoryBufferRef bytes(
      StringRef(reinterpret_cast<const char *>(kLibrary), sizeof(kLibrary)),
      "the device library");
  auto library = llvm::getLazyBitcodeModule(bytes, module.getContext());
  if (!library)
    return diagnosticOp.emitError("cannot read the device library: ")
           << llvm::toString(library.takeError());
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
    return diagnosticOp.emitError("linking the device library failed: ")
           << diagnostics.getErrors();
  if (std::string missing = getMissing(module); !missing.empty())
    return diagnosticOp.emitError("the device library of AMD GPUs lacks ")
           << missing;
  return success();
}
