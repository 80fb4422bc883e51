//===-- Producer.h - What loads of a loop are computed from -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_LIB_TRITONGPU_WARPSPECIALIZATION_PRODUCER_H
#define TILE_LIB_TRITONGPU_WARPSPECIALIZATION_PRODUCER_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "tile/Analysis/MemoryModel.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::triton::gpu {

/// The operations of a loop that its loads, but not their values, depend on.
class ProducerSlice {
public:
  /// Of `loads`, and of `values` in the loop.
  ProducerSlice(scf::ForOp loop, ArrayRef<Operation *> loads,
                ArrayRef<Value> values = {});

  struct Obstacle {
    Location loc;
    std::string reason;
  };
  /// Why other warps cannot run the loads ahead of the loop, if they cannot.
  std::optional<Obstacle> findObstacle(MemoryModel &memory) const;

  ArrayRef<Operation *> getOperations() const { return ops.getArrayRef(); }
  ArrayRef<Value> getValues() const { return values.getArrayRef(); }
  bool isLoad(Operation *op) const { return loads.contains(op); }
  bool contains(Operation *op) const { return ops.contains(op); }
  bool contains(Value value) const { return values.contains(value); }
  scf::ForOp getLoop() const { return loop; }

private:
  void add(Value value);
  void add(Operation *op);
  void follow(Value value);

  scf::ForOp loop;
  llvm::SetVector<Operation *> loads;
  llvm::SetVector<Operation *> ops;
  llvm::SetVector<Value> values;
};

/// Repeats a slice in a partition of `specialize`, and hands it what it needs
/// from around the loop.
class ProducerBuilder {
public:
  ProducerBuilder(const ProducerSlice &slice, WarpSpecializeOp specialize,
                  Region &partition);

  /// Makes the body of the partition; returns its loop.
  scf::ForOp build();
  /// The copy of a load.
  Operation *getClone(Operation *load) const { return clones.lookup(load); }
  /// The partition's name for a value from around the loop.
  Value bring(Value value);

private:
  scf::ForOp cloneLoop(OpBuilder &builder, scf::ForOp from);
  void cloneBranch(OpBuilder &builder, scf::IfOp from);
  void cloneBlock(OpBuilder &builder, Block &from);
  void cloneOp(OpBuilder &builder, Operation *from);
  void bringOperands(Operation *op);
  Value capture(Value value);
  Value bringThroughMemory(Value value);

  const ProducerSlice &slice;
  WarpSpecializeOp specialize;
  Region &partition;
  /// Before the loop of the partition.
  OpBuilder top;
  IRMapping mapping;
  llvm::DenseMap<Operation *, Operation *> clones;
};

} // namespace mlir::triton::gpu

#endif // TILE_LIB_TRITONGPU_WARPSPECIALIZATION_PRODUCER_H
