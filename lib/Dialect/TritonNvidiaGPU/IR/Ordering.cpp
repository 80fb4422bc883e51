//===-- Ordering.cpp - What mbarriers order -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

/// Operations on a living mbarrier are atomic with respect to each other. Its
/// birth and its end are not among them: others must not be at it meanwhile.
static bool isAtomicOnMbarrier(Operation *op) {
  return isa<BarrierExpectOp, WaitBarrierOp, ArriveBarrierOp,
             AsyncCopyMbarrierArriveOp, AsyncTMACopyGlobalToLocalOp,
             AsyncTMAGatherOp, TCGen5CommitOp, TMEMCopyOp, MMAv5OpInterface>(
      op);
}

bool mlir::triton::nvidia_gpu::isOrderedByMbarrier(Operation *before,
                                                   Operation *after) {
  // One thread makes barriers, and ends them, in the order of the program.
  if ((isa<InitBarrierOp>(before) && isa<InitBarrierOp>(after)) ||
      (isa<InvalBarrierOp>(before) && isa<InvalBarrierOp>(after)))
    return true;
  if (!isAtomicOnMbarrier(before))
    return false;
  // The asynchronous accesses of two such operations are ordered by a wait or
  // not at all: a barrier of the block does not wait for them.
  if (isAtomicOnMbarrier(after))
    return true;
  // What TMA writes may be touched once every thread has waited at the
  // mbarrier, and then without further ado.
  return isa<AsyncTMACopyGlobalToLocalOp, AsyncTMAGatherOp>(before) &&
         !isa<InitBarrierOp, InvalBarrierOp>(after);
}
