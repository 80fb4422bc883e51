//===-- LoopAnalyses.h - Scalar evolution of a function ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_LIB_NVIDIA_TARGET_LOOPANALYSES_H
#define TILE_LIB_NVIDIA_TARGET_LOOPANALYSES_H

#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Function.h"

namespace mlir::triton::nvidia {

/// The loops of a function, and how its values evolve in them.
struct LoopAnalyses {
  explicit LoopAnalyses(llvm::Function &function)
      : dominators(function), loops(dominators),
        libraryTable(function.getParent()->getTargetTriple()),
        library(libraryTable, &function), assumptions(function),
        evolution(function, library, assumptions, dominators, loops) {}

  llvm::DominatorTree dominators;
  llvm::LoopInfo loops;

private:
  llvm::TargetLibraryInfoImpl libraryTable;
  llvm::TargetLibraryInfo library;
  llvm::AssumptionCache assumptions;

public:
  llvm::ScalarEvolution evolution;
};

} // namespace mlir::triton::nvidia

#endif // TILE_LIB_NVIDIA_TARGET_LOOPANALYSES_H
