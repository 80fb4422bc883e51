//===-- PackCarriedBytes.h - Bytes that loops carry -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The lowering hands on tensors element by element, and a byte that goes from
// one basic block to others takes a register of its own. Where four of them are
// needed as one word, the word goes on.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_TARGET_PACKCARRIEDBYTES_H
#define TILE_LIB_TARGET_PACKCARRIEDBYTES_H

#include "llvm/IR/PassManager.h"

namespace mlir::triton {

/// Replaces the vector of four phis of bytes by the phi of their vectors.
struct PackCarriedBytes : llvm::PassInfoMixin<PackCarriedBytes> {
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &analyses);
};

} // namespace mlir::triton

#endif // TILE_LIB_TARGET_PACKCARRIEDBYTES_H
