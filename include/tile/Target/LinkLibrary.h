//===-- LinkLibrary.h - Linking bitcode into a kernel's module --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_TARGET_LINKLIBRARY_H
#define TILE_TARGET_LINKLIBRARY_H

#include "mlir/IR/BuiltinOps.h"

namespace llvm {
class MemoryBufferRef;
class Module;
} // namespace llvm

namespace mlir::triton {

/// Links what the module uses of a library in bitcode, as private functions.
/// Errors name the library as the buffer is named.
LogicalResult linkLibrary(ModuleOp diagnosticOp, llvm::Module &module,
                          llvm::MemoryBufferRef bitcode);

/// Links what the module uses of a library in a file, in bitcode or as text.
LogicalResult linkLibraryFile(ModuleOp diagnosticOp, llvm::Module &module,
                              StringRef path);

/// Links the checks that sanitizers call, where the module calls any.
LogicalResult linkInstrumentLibrary(ModuleOp diagnosticOp,
                                    llvm::Module &module);

} // namespace mlir::triton

#endif // TILE_TARGET_LINKLIBRARY_H
