//===-- WatchedBuffers.h - Which parts of buffers are watched ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// An allocation is an array of units: the buffers that `memdesc_index` takes
// from it, or all of it. Parts that are taken at constant offsets cut a unit
// into cells, so that two parts which do not overlap have no cell in common.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_DIALECT_TRITONINSTRUMENT_TRANSFORMS_WATCHEDBUFFERS_H
#define TILE_LIB_DIALECT_TRITONINSTRUMENT_TRANSFORMS_WATCHEDBUFFERS_H

#include "tile/Analysis/Alias.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"

namespace mlir::triton::instrument {

/// An allocation in shared memory.
struct WatchedRoot {
  gpu::LocalAllocOp alloc;
  unsigned number = 0;
  /// Operations on mbarriers use it.
  bool isBarrier = false;
  int64_t bytes = 0, unitBytes = 0;
  /// Its first unit, or its first mbarrier.
  unsigned first = 0;
  unsigned numCells = 1;

  int64_t getNumUnits() const { return bytes / unitBytes; }
  std::string getName() const;
};

/// What an operation accesses.
struct WatchedView {
  /// The allocations that it may be in: the first one, and a bit for each one
  /// from there on.
  unsigned firstRoot = 0;
  uint32_t roots = 0;
  int64_t bytes = 0;
  uint32_t cells = 1;
  unsigned numCells = 1;
};

class WatchedBuffers {
public:
  WatchedBuffers(Operation *kernel, const llvm::DenseSet<Value> &barriers);

  ArrayRef<WatchedRoot> getRoots() const { return roots; }
  unsigned getNumUnits() const { return numUnits; }
  unsigned getNumBarriers() const { return numBarriers; }

  /// Nullopt where it is not known which part a buffer is.
  std::optional<WatchedView> getView(Value buffer) const;
  /// The allocations that a buffer may be in.
  SmallVector<unsigned> getRootsOf(Value buffer) const;

private:
  /// A part of a unit, in the order of the unit's dimensions.
  struct Box {
    SmallVector<int64_t> offsets, sizes;
    /// Dimension `i` of the view is this one of the unit.
    SmallVector<unsigned> order;
    bool isWhole = true;
  };
  std::optional<Box> getBox(Value buffer) const;
  void cutUnits(Operation *kernel);
  uint32_t getCells(const WatchedRoot &root, const Box &box) const;

  SharedMemoryAliasAnalysis aliases;
  SmallVector<WatchedRoot> roots;
  llvm::DenseMap<Value, unsigned> numberOf;
  /// For each allocation, where its units are cut along each dimension; empty
  /// where they are not.
  SmallVector<SmallVector<SmallVector<int64_t>>> cuts;
  /// Allocations with parts that are not known.
  llvm::DenseSet<unsigned> unknown;
  unsigned numUnits = 0, numBarriers = 0;
};

} // namespace mlir::triton::instrument

#endif // TILE_LIB_DIALECT_TRITONINSTRUMENT_TRANSFORMS_WATCHEDBUFFERS_H
