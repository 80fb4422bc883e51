//===-- OpInterfaces.h - What passes ask operations of backends -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Analyses and the pipeliner name no operation of a backend. They ask through
// these traits and interfaces what an operation copies, waits for and orders.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DIALECT_TRITONGPU_IR_OPINTERFACES_H
#define TILE_DIALECT_TRITONGPU_IR_OPINTERFACES_H

#include "mlir/IR/OpDefinition.h"

namespace mlir::triton::gpu {

/// Each thread waits for copies that it has started.
template <typename ConcreteT>
class WaitsForCopies
    : public mlir::OpTrait::TraitBase<ConcreteT, WaitsForCopies> {};

/// Each thread arrives at a barrier in shared memory when the copies that it
/// has started before are done. It does not wait for them here. Such copies are
/// those that arrive at no barrier themselves.
template <typename ConcreteT>
class ArrivesAfterCopies
    : public mlir::OpTrait::TraitBase<ConcreteT, ArrivesAfterCopies> {};

/// All threads of the block wait for each other. What they did to shared memory
/// before is visible to all of them after it.
template <typename ConcreteT>
class BlockBarrier : public mlir::OpTrait::TraitBase<ConcreteT, BlockBarrier> {
};

/// No access to memory that pointers point to moves across the operation,
/// whatever effects it declares: it has to do with an asynchronous engine.
template <typename ConcreteT>
class OrdersMemory : public mlir::OpTrait::TraitBase<ConcreteT, OrdersMemory> {
};

/// The operation accesses and orders nothing but memory on the chip, whatever
/// effects it declares. It wins over `OrdersMemory`.
template <typename ConcreteT>
class OnChipOnly : public mlir::OpTrait::TraitBase<ConcreteT, OnChipOnly> {};

/// What an operation does to a barrier in shared memory.
enum class BarrierUse {
  /// Makes it, or ends its life. Others must not be at it meanwhile.
  Begin,
  End,
  /// Announces what copies will bring in this phase.
  Announce,
  /// Waits for the end of a phase.
  Wait,
  /// Arrives, at once or when something is done.
  Arrive
};

} // namespace mlir::triton::gpu

#include "tile/Dialect/TritonGPU/IR/OpInterfaces.h.inc"

namespace mlir::triton::gpu {

/// Whether two accesses of the same shared memory need no barrier of the block
/// between them, although at least one of them writes. That is where a barrier
/// in shared memory orders them or is what they access.
bool isOrderedByBarrierObject(Operation *before, Operation *after);

} // namespace mlir::triton::gpu

#endif // TILE_DIALECT_TRITONGPU_IR_OPINTERFACES_H
