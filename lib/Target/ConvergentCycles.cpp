//===-- ConvergentCycles.cpp - Loops whose threads stay together ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Target/ConvergentCycles.h"

#include "llvm/Analysis/CycleAnalysis.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

static const llvm::Instruction *findConvergentIn(const llvm::Cycle &cycle) {
  for (const llvm::BasicBlock *block : cycle.blocks())
    for (const llvm::Instruction &inst : *block)
      if (auto *call = llvm::dyn_cast<llvm::CallBase>(&inst);
          call && call->isConvergent())
        return call;
  return nullptr;
}

const llvm::Instruction *
mlir::triton::findConvergentInIrreducible(llvm::Module &module) {
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    llvm::CycleInfo cycles;
    cycles.compute(function);
    llvm::SmallVector<const llvm::Cycle *> worklist(cycles.toplevel_begin(),
                                                    cycles.toplevel_end());
    while (!worklist.empty()) {
      const llvm::Cycle *cycle = worklist.pop_back_val();
      if (!cycle->isReducible())
        if (const llvm::Instruction *found = findConvergentIn(*cycle))
          return found;
      worklist.append(cycle->child_begin(), cycle->child_end());
    }
  }
  return nullptr;
}
