//===-- BoundPacking.h - Blocks that are too large to pack ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// LLVM's SLPVectorizer puts equal operations on neighbours into vectors. For
// each vector that it makes, it numbers all instructions of the block again.
// The time it takes goes with the square of the block: half a minute for 256
// sorts in one kernel. Code of that size does not fit into the instruction
// cache, so that it waits for instructions and not for operations.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_TARGET_BOUNDPACKING_H
#define TILE_LIB_TARGET_BOUNDPACKING_H

#include "llvm/IR/PassManager.h"

namespace mlir::triton {

/// Keeps the SLPVectorizer from functions with a block of more instructions
/// than it can take. It leaves the size of the block in an attribute of the
/// function, by which whoever has the text can say so.
struct BoundPacking : llvm::PassInfoMixin<BoundPacking> {
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &analyses);
};

} // namespace mlir::triton

#endif // TILE_LIB_TARGET_BOUNDPACKING_H
