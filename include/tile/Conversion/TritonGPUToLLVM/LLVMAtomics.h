//===-- LLVMAtomics.h - Atomic operations as LLVM has them ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_CONVERSION_TRITONGPUTOLLVM_LLVMATOMICS_H
#define TILE_CONVERSION_TRITONGPUTOLLVM_LLVMATOMICS_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "tile/Dialect/Triton/IR/Dialect.h"

namespace mlir::triton {

LLVM::AtomicBinOp getLLVMAtomicOp(RMWOp op);
LLVM::AtomicOrdering getLLVMOrdering(MemSemantic semantic);

} // namespace mlir::triton

#endif // TILE_CONVERSION_TRITONGPUTOLLVM_LLVMATOMICS_H
