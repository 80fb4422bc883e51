//===-- LoopMemory.cpp - What the loads of a loop are for -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LoopMemory.h"

#include "tile/Analysis/LoopSchedule.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

bool mlir::triton::gpu::isAddressLoad(scf::ForOp loop, Operation *load) {
  Block *body = loop.getBody();
  llvm::SetVector<Operation *> work;
  work.insert(load);
  for (size_t i = 0; i < work.size(); ++i)
    for (Operation *user : work[i]->getUsers()) {
      Operation *inBody = body->findAncestorOpInBlock(*user);
      if (!inBody || inBody == body->getTerminator() ||
          isa<MatrixProductOpInterface>(inBody))
        continue;
      if (isa<LoadOp, DescriptorLoadOp>(inBody))
        return true;
      work.insert(inBody);
    }
  return false;
}

bool mlir::triton::gpu::leadsToProduct(scf::ForOp loop, Operation *load) {
  Block *body = loop.getBody();
  llvm::SetVector<Operation *> work;
  work.insert(load);
  for (size_t i = 0; i < work.size(); ++i)
    for (Operation *user : work[i]->getUsers()) {
      Operation *inBody = body->findAncestorOpInBlock(*user);
      if (!inBody || inBody == body->getTerminator())
        continue;
      if (isa<MatrixProductOpInterface>(inBody))
        return true;
      work.insert(inBody);
    }
  return false;
}

bool mlir::triton::gpu::isBesideProducts(scf::ForOp loop, Operation *load) {
  return isa<LoadOp>(load) && !LoopPlan(loop).getNumStages() &&
         !loop.getBody()->getOps<MatrixProductOpInterface>().empty() &&
         llvm::none_of(load->getUsers(), llvm::IsaPred<scf::YieldOp>) &&
         !leadsToProduct(loop, load);
}
