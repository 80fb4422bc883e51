//===-- LoopMemory.cpp - What the loads of a loop are for -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LoopMemory.h"

#include "tile/Analysis/LoopSchedule.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

/// Shows `visit` the operations of the body that use what `load` reads in the
/// same iteration, be it through others. It interrupts at one that is searched
/// for, and skips one whose users do not count. Whether it has interrupted.
static bool leadsTo(scf::ForOp loop, Operation *load,
                    llvm::function_ref<WalkResult(Operation *)> visit) {
  Block *body = loop.getBody();
  llvm::SetVector<Operation *> work;
  work.insert(load);
  for (size_t i = 0; i < work.size(); ++i)
    for (Operation *user : work[i]->getUsers()) {
      Operation *inBody = body->findAncestorOpInBlock(*user);
      if (!inBody || inBody == body->getTerminator())
        continue;
      WalkResult result = visit(inBody);
      if (result.wasInterrupted())
        return true;
      if (!result.wasSkipped())
        work.insert(inBody);
    }
  return false;
}

bool mlir::triton::gpu::isAddressLoad(scf::ForOp loop, Operation *load) {
  return leadsTo(loop, load, [](Operation *user) {
    if (isa<MatrixProductOpInterface>(user))
      return WalkResult::skip();
    return isa<LoadOp, DescriptorLoadOp, DescriptorGatherOp>(user)
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
}

bool mlir::triton::gpu::leadsToProduct(scf::ForOp loop, Operation *load) {
  return leadsTo(loop, load, [](Operation *user) {
    return isa<MatrixProductOpInterface>(user) ? WalkResult::interrupt()
                                               : WalkResult::advance();
  });
}

bool mlir::triton::gpu::isBesideProducts(scf::ForOp loop, Operation *load) {
  return isa<LoadOp>(load) && !LoopPlan(loop).getNumStages() &&
         !loop.getBody()->getOps<MatrixProductOpInterface>().empty() &&
         llvm::none_of(load->getUsers(), llvm::IsaPred<scf::YieldOp>) &&
         !leadsToProduct(loop, load);
}
