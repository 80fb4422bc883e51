//===-- MoveUpPrologueLoads.cpp - The first loads before all else ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Accesses to LDS come with barriers, which the backend schedules nothing
// across. What a pipelined loop loads before its first iteration stands behind
// those of other operands, and would be waited for later than need be.
//
//===----------------------------------------------------------------------===//

#include "amd/TritonAMDGPUTransforms/Passes.h"

#include "tile/Analysis/MemoryModel.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tritonamdgpu-move-up-prologue-loads"

namespace mlir::triton::amd {
#define GEN_PASS_DEF_TRITONAMDGPUMOVEUPPROLOGUELOADS
#include "amd/TritonAMDGPUTransforms/Passes.h.inc"
} // namespace mlir::triton::amd

using namespace mlir;
using namespace mlir::triton;

namespace {
/// Whether there will be a barrier.
bool accessesSharedMemory(Operation *op) {
  return isa<gpu::LocalStoreOp, gpu::LocalLoadOp, gpu::ConvertLayoutOp>(op) ||
         (isa<gpu::LocalAllocOp>(op) && op->getNumOperands());
}

/// What goes up with a load, and where to.
struct Way {
  Operation *target = nullptr;
  /// In the order of the program.
  SmallVector<Operation *> moved;
};

/// The first access to shared memory in the block that `load` may be done
/// before, with all that it is computed from in between.
Way findWay(LoadOp load, MemoryModel &memory) {
  Way way;
  SmallVector<Operation *> needed = {load};
  llvm::SmallDenseSet<Value> operands(load->operand_begin(),
                                      load->operand_end());
  for (Operation *op = load->getPrevNode(); op; op = op->getPrevNode()) {
    if (llvm::any_of(op->getResults(),
                     [&](Value result) { return operands.contains(result); })) {
      if (op->getNumRegions() || !isPure(op) || accessesSharedMemory(op))
        break;
      needed.push_back(op);
      operands.insert(op->operand_begin(), op->operand_end());
      continue;
    }
    if (!memory.mayReadBefore(load, op))
      break;
    if (!accessesSharedMemory(op))
      continue;
    way.target = op;
    way.moved.assign(needed.rbegin(), needed.rend());
  }
  return way;
}

struct MoveUpPrologueLoads
    : amd::impl::TritonAMDGPUMoveUpPrologueLoadsBase<MoveUpPrologueLoads> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation()->walk([&](scf::ForOp loop) {
      if (!loop.getBody()->getOps<DotOp>().empty())
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops) {
      MemoryModel memory(loop);
      SmallVector<LoadOp> loads;
      for (LoadOp load : loop->getBlock()->getOps<LoadOp>())
        if (load->isBeforeInBlock(loop))
          loads.push_back(load);
      for (LoadOp load : loads) {
        Way way = findWay(load, memory);
        if (!way.target)
          continue;
        LDBG() << load << " goes up to " << *way.target;
        for (Operation *op : way.moved)
          op->moveBefore(way.target);
        ++numMoved;
      }
    }
  }
};
} // namespace
