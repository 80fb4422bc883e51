//===-- LoadDecisionsOnce.cpp - One thread loads what decides -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Threads that load the same place, each for itself, may find different values
// there if another block writes it meanwhile. Warps run apart; lanes of a warp
// may, too: PTX promises of them no more than of warps, so one warp is no
// exception. What they then decide differs: they part at a barrier for all, or
// access a block in two places. Memory that the kernel does not write stays as
// it is while the kernel runs, unless the program says that it asks for what
// others write (`isFreshRead`).
//
//===----------------------------------------------------------------------===//

#include "tile/Conversion/TritonGPUToLLVM/Passes.h"

#include "tile/Analysis/Allocation.h"
#include "tile/Analysis/Decisions.h"
#include "tile/Analysis/MemoryModel.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"

#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "load-decisions-once"

namespace mlir::triton {
#define GEN_PASS_DEF_LOADDECISIONSONCE
#include "tile/Conversion/TritonGPUToLLVM/Passes.h.inc"
} // namespace mlir::triton

using namespace mlir;
using namespace mlir::triton;

namespace ttg = mlir::triton::gpu;

/// True if several threads load an element of `load`, each for itself.
static bool isReplicated(LoadOp load) {
  auto type = dyn_cast<RankedTensorType>(load.getType());
  return !type || repeatsAcrossThreads(type);
}

/// True if one thread can hand what it loaded to the others.
static bool canBroadcast(LoadOp load) {
  if (ttg::lookupNumCTAs(load) == 1)
    return true;
  // Groups of warps do not meet those of other blocks, and blocks of a cluster
  // hand each other scalars only.
  auto type = dyn_cast<RankedTensorType>(load.getType());
  return !load->getParentOfType<ttg::WarpSpecializeOp>() &&
         (!type || !toLinearLayout(type).getFreeVariableMask(kBlock));
}

/// True if something in `function` may write wherever it likes, or if there are
/// callers that do.
static bool mayWriteAnywhere(FunctionOpInterface function) {
  if (!function.isPublic())
    return true;
  return function
      .walk([](Operation *op) {
        bool isForeign =
            isa<CallOpInterface, ElementwiseInlineAsmOp, ExternElementwiseOp>(
                op);
        return isForeign && !isMemoryEffectFree(op) ? WalkResult::interrupt()
                                                    : WalkResult::advance();
      })
      .wasInterrupted();
}

namespace {
struct LoadDecisionsOnce
    : triton::impl::LoadDecisionsOnceBase<LoadDecisionsOnce> {
  void runOnOperation() override {
    getOperation().walk([&](FunctionOpInterface function) {
      if (!function.isExternal())
        visit(function);
    });
  }

private:
  void visit(FunctionOpInterface function) {
    bool anywhere = mayWriteAnywhere(function);
    for (Value value : findDecidingValues(function)) {
      auto load = value.getDefiningOp<LoadOp>();
      if (!load || isLoadedOnce(load) || !isReplicated(load) ||
          !canBroadcast(load))
        continue;
      MemoryModel memory(function, MemoryModel::Arguments::AssumedDisjoint);
      if (!anywhere && !memory.mayWrite(function, load)) {
        noteDisjointArguments(function, memory.getAssumptions());
        continue;
      }
      LDBG() << "one thread makes " << *load;
      load->setAttr(kLoadedOnceAttrName, UnitAttr::get(&getContext()));
      ++numLoads;
    }
  }
};
} // namespace
