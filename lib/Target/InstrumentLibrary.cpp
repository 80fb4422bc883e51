//===-- InstrumentLibrary.cpp - The checks that sanitizers call -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Target/LinkLibrary.h"

#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;

static constexpr unsigned char kConcurrencyNVPTX[] = {
#include "concurrency-nvptx64.inc"
};
static constexpr unsigned char kConcurrencyAMDGCN[] = {
#include "concurrency-amdgcn.inc"
};

/// What all functions of the library begin with.
static constexpr llvm::StringLiteral kPrefix = "tile_consan_";

LogicalResult triton::linkInstrumentLibrary(ModuleOp diagnosticOp,
                                            llvm::Module &module) {
  auto isOfLibrary = [](const llvm::Function &function) {
    return function.getName().starts_with(kPrefix);
  };
  if (llvm::none_of(module, isOfLibrary))
    return success();
  ArrayRef<unsigned char> bytes(kConcurrencyNVPTX);
  if (module.getTargetTriple().isAMDGCN())
    bytes = kConcurrencyAMDGCN;
  llvm::MemoryBufferRef bitcode(llvm::toStringRef(bytes),
                                "the checks of concurrency");
  if (failed(linkLibrary(diagnosticOp, module, bitcode)))
    return failure();
  // It was compiled for no GPU in particular, and runs on that of the kernel.
  for (llvm::Function &function : module)
    if (isOfLibrary(function))
      for (StringRef attribute : {"target-cpu", "target-features"})
        function.removeFnAttr(attribute);
  return success();
}
