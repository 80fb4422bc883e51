//===-- DeviceLibrary.cpp - Linking the device library --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TargetMachine.h"

#include "tile/Target/LinkLibrary.h"

#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBufferRef.h"

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
  if (failed(linkLibrary(diagnosticOp, module, bytes)))
    return failure();
  if (std::string missing = getMissing(module); !missing.empty())
    return diagnosticOp.emitError("the device library of AMD GPUs lacks ")
           << missing;
  return success();
}
