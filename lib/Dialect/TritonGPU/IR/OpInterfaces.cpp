//===-- OpInterfaces.cpp - What passes ask operations of backends ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Dialect/TritonGPU/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton::gpu;

#include "tile/Dialect/TritonGPU/IR/OpInterfaces.cpp.inc"

/// Operations on a living barrier are atomic with respect to each other. Its
/// birth and its end are not among them: others must not be at it meanwhile.
static bool isBirthOrEnd(BarrierUserOpInterface op) {
  return op.getBarrierUse() == BarrierUse::Begin ||
         op.getBarrierUse() == BarrierUse::End;
}

bool mlir::triton::gpu::isOrderedByBarrierObject(Operation *before,
                                                 Operation *after) {
  auto first = dyn_cast<BarrierUserOpInterface>(before);
  if (!first)
    return false;
  auto second = dyn_cast<BarrierUserOpInterface>(after);
  // One thread makes barriers, and ends them, in the order of the program.
  if (isBirthOrEnd(first))
    return second && second.getBarrierUse() == first.getBarrierUse();
  // The asynchronous accesses of two such operations are ordered by a wait or
  // not at all: a barrier of the block does not wait for them.
  if (second)
    return !isBirthOrEnd(second);
  // What a copy writes may be touched once every thread has waited at the
  // barrier, and then without further ado.
  auto copy = dyn_cast<AsyncCopyOpInterface>(before);
  return copy && copy.arrivesAtBarrier();
}
