//===-- BoundPacking.cpp - Blocks that are too large to pack --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "BoundPacking.h"

#include "llvm/IR/Function.h"

using namespace mlir::triton;

/// For so many instructions the SLPVectorizer takes a fifth of a second.
static constexpr size_t kMostToPack = 16384;

static constexpr llvm::StringLiteral kTooLargeToPack = "tile-too-large-to-pack";

llvm::PreservedAnalyses BoundPacking::run(llvm::Function &function,
                                          llvm::FunctionAnalysisManager &) {
  size_t largest = 0;
  for (const llvm::BasicBlock &block : function)
    largest = std::max(largest, block.size());
  if (largest > kMostToPack) {
    function.addFnAttr(kTooLargeToPack, std::to_string(largest));
    // What the SLPVectorizer respects. All functions get it in the end.
    function.addFnAttr(llvm::Attribute::NoImplicitFloat);
  }
  return llvm::PreservedAnalyses::all();
}
