//===-- PackCarriedElements.h - Elements of other blocks --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The lowering hands on tensors element by element, and an element of 8 or 16
// bits that goes from one basic block to others takes a register of its own.
// Where those of a word are needed as one word only, the word goes on. So it
// does where they come from one word on each way: each branch may have loaded
// it.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_TARGET_PACKCARRIEDELEMENTS_H
#define TILE_LIB_TARGET_PACKCARRIEDELEMENTS_H

#include "llvm/IR/PassManager.h"

namespace mlir::triton {

/// Replaces the phis of a word's elements by the phi of their vectors.
struct PackCarriedElements : llvm::PassInfoMixin<PackCarriedElements> {
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &analyses);
};

} // namespace mlir::triton

#endif // TILE_LIB_TARGET_PACKCARRIEDELEMENTS_H
