//===-- PrepareIfCombining.cpp - Branches of one condition together -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "amd/TritonAMDGPUTransforms/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tritonamdgpu-prepare-if-combining"

namespace mlir::triton::amd {
#define GEN_PASS_DEF_TRITONAMDGPUPREPAREIFCOMBINING
#include "amd/TritonAMDGPUTransforms/Passes.h.inc"
} // namespace mlir::triton::amd

using namespace mlir;
using namespace mlir::triton;

namespace {
/// Moves what is between two branches before the first one, or behind the
/// second where it needs the first one's results. Returns false, without having
/// moved anything, where the second one needs those or something else cannot
/// move.
bool moveTogether(scf::IfOp first, scf::IfOp second) {
  llvm::SmallDenseSet<Value> late(first->result_begin(), first->result_end());
  auto isLate = [&](Operation *op) {
    bool found = false;
    op->walk([&](Operation *inner) {
      found |= llvm::any_of(inner->getOperands(),
                            [&](Value value) { return late.contains(value); });
    });
    return found;
  };
  SmallVector<Operation *> before, behind;
  for (Operation *op = first->getNextNode(); op != second;
       op = op->getNextNode()) {
    if (!isPure(op))
      return false;
    if (isLate(op)) {
      late.insert(op->result_begin(), op->result_end());
      behind.push_back(op);
    } else {
      before.push_back(op);
    }
  }
  // The first one's results are the second one's to use, but not what is
  // computed from them.
  for (Value result : first->getResults())
    late.erase(result);
  if ((before.empty() && behind.empty()) || isLate(second))
    return false;
  for (Operation *op : before)
    op->moveBefore(first);
  for (Operation *op : llvm::reverse(behind))
    op->moveAfter(second);
  return true;
}

struct PrepareIfCombining
    : amd::impl::TritonAMDGPUPrepareIfCombiningBase<PrepareIfCombining> {
  void runOnOperation() override {
    SmallVector<scf::IfOp> branches;
    getOperation()->walk([&](scf::IfOp branch) { branches.push_back(branch); });
    llvm::DenseMap<std::pair<Block *, Value>, scf::IfOp> last;
    for (scf::IfOp branch : branches) {
      scf::IfOp &previous = last[{branch->getBlock(), branch.getCondition()}];
      if (previous && moveTogether(previous, branch)) {
        LDBG() << "moved " << branch << " to " << previous;
        ++numMoved;
      }
      previous = branch;
    }
  }
};
} // namespace
