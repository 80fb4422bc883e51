//===-- LoopMemory.cpp - What a loop writes -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LoopMemory.h"

#include "tile/Dialect/TritonGPU/IR/Dialect.h"

#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tritongpu-assign-latencies"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

/// The pointer argument (or other origin) that an address is computed from, on
/// all paths; null if that cannot be told.
static Value getPointerOrigin(Value ptr) {
  llvm::SetVector<Value> work;
  work.insert(ptr);
  Value origin;
  for (size_t i = 0; i < work.size(); ++i) {
    Value value = work[i];
    if (auto arg = dyn_cast<BlockArgument>(value)) {
      if (auto loop = dyn_cast<scf::ForOp>(arg.getOwner()->getParentOp())) {
        if (arg == loop.getInductionVar())
          return {};
        work.insert(loop.getTiedLoopInit(arg)->get());
        work.insert(loop.getTiedLoopYieldedValue(arg)->get());
        continue;
      }
    } else {
      Operation *def = value.getDefiningOp();
      unsigned number = cast<OpResult>(value).getResultNumber();
      if (isa<AddPtrOp, SplatOp, BroadcastOp, ExpandDimsOp, ConvertLayoutOp,
              ReshapeOp, TransOp, BitcastOp>(def)) {
        work.insert(def->getOperand(0));
        continue;
      }
      if (isa<ub::PoisonOp>(def))
        continue;
      if (auto ifOp = dyn_cast<scf::IfOp>(def)) {
        work.insert(ifOp.thenYield().getOperand(number));
        work.insert(ifOp.elseYield().getOperand(number));
        continue;
      }
      if (auto loop = dyn_cast<scf::ForOp>(def)) {
        work.insert(loop.getInitArgs()[number]);
        work.insert(loop.getYieldedValues()[number]);
        continue;
      }
      return {};
    }
    if (origin && origin != value)
      return {};
    origin = value;
  }
  return origin;
}

bool mlir::triton::gpu::mayBeWritten(scf::ForOp loop, LoadOp load) {
  Value origin = getPointerOrigin(load.getPtr());
  WalkResult result = loop.getBody()->walk([&](Operation *op) {
    Value written;
    if (auto store = dyn_cast<StoreOp>(op))
      written = store.getPtr();
    else if (auto atomic = dyn_cast<AtomicRMWOp>(op))
      written = atomic.getPtr();
    else if (auto cas = dyn_cast<AtomicCASOp>(op))
      written = cas.getPtr();
    else if (isa<CallOpInterface>(op) ||
             (isa<ElementwiseInlineAsmOp>(op) && !isMemoryEffectFree(op)))
      return WalkResult::interrupt();
    else
      return WalkResult::advance();
    Value target = getPointerOrigin(written);
    bool mayAlias = !origin || !target || origin == target;
    return mayAlias ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (result.wasInterrupted())
    LDBG() << "the loop may write what is loaded: " << load.getLoc();
  return result.wasInterrupted();
}

bool mlir::triton::gpu::isAddressLoad(scf::ForOp loop, LoadOp load) {
  Block *body = loop.getBody();
  llvm::SetVector<Operation *> work;
  work.insert(load);
  for (size_t i = 0; i < work.size(); ++i)
    for (Operation *user : work[i]->getUsers()) {
      Operation *inBody = body->findAncestorOpInBlock(*user);
      if (!inBody || inBody == body->getTerminator() ||
          isa<DotOp, DotScaledOp>(inBody))
        continue;
      if (isa<LoadOp>(inBody))
        return true;
      work.insert(inBody);
    }
  return false;
}
