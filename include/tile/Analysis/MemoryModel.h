//===-- MemoryModel.h - What may alias, what may be reordered ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The one place that decides whether an access to global memory may be moved
// across another operation, repeated, or started early. Passes ask here and
// have no rules of their own.
//
// Aliasing. Addresses are followed back to where they come from: the pointer
// arguments of a kernel and scratch memory. Whatever cannot be followed there,
// on all paths, may point anywhere. Two arguments of a kernel may overlap; a
// pass that is willing to have the launcher check may assume that they do not,
// and must then note the pairs (`noteDisjointArguments`). It may not where the
// module says that they overlap (`ttg.overlapping-arguments`).
//
// Order. Nothing that comes after an acquire in the program may move before it,
// and nothing that comes before a release may move behind it. Atomic operations
// say which they are. Volatile loads, barriers, calls and foreign code are
// both, as is any operation of which more is not known. An assertion keeps the
// loads behind it whose addresses or masks it may be about. A loop may say that
// its iterations are independent (`ttg.independent_iterations`). Then what is
// behind a load in an iteration orders nothing for the load of the next one.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_ANALYSIS_MEMORYMODEL_H
#define TILE_ANALYSIS_MEMORYMODEL_H

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "tile/Dialect/Triton/IR/MemoryOps.h"
#include "tile/Support/AttributeNames.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::triton {

/// True if accesses to global memory that follow `op` must not move before it.
/// Operations nested in `op` are not looked at.
bool isAcquire(Operation *op);

/// True if accesses to global memory that precede `op` must not move behind it.
/// Operations nested in `op` are not looked at.
bool isRelease(Operation *op);

/// The one argument of its function, or the one allocation of scratch memory,
/// that an address (or a descriptor) is computed from on all paths. Null if
/// there is no such thing, or if it cannot be told.
Value getPointerOrigin(Value ptr);

class MemoryModel {
public:
  /// Numbers of two arguments of a kernel, the smaller one first.
  using ArgumentPair = std::pair<unsigned, unsigned>;

  enum class Arguments { MayOverlap, AssumedDisjoint };

  /// For the kernel around `op`.
  explicit MemoryModel(Operation *op,
                       Arguments arguments = Arguments::MayOverlap);

  /// True if two addresses of global memory may have bytes in common.
  bool mayAlias(Value lhs, Value rhs);

  // A load is a LoadOp or a DescriptorLoadOp.

  /// True if `op`, or something nested in it, may write what `load` reads.
  bool mayWrite(Operation *op, Operation *load);

  /// True if `load` may be done before `op`, which precedes it in the program.
  bool mayReadBefore(Operation *load, Operation *op);

  /// True if `load` may be done in an earlier iteration of the loop around it.
  bool mayReadInEarlierIteration(Operation *load, Operation *loop);

  /// Why it may not, in words for the one who wrote the loop; empty if it may.
  std::string findObstacleInLoop(Operation *load, Operation *loop);

  /// The pairs of arguments that an answer so far relied on.
  ArrayRef<ArgumentPair> getAssumptions() const {
    return assumptions.getArrayRef();
  }

private:
  std::string findObstacle(Operation *load, Operation *op);

  Arguments arguments;
  llvm::SmallSetVector<ArgumentPair, 4> assumptions;
};

/// Which loads of a function other threads of the block may repeat, directly
/// behind the first load: loads of memory that nothing in the function writes.
/// If two arguments overlap after all, the function may write it. For this case
/// `insert-replica-barriers` puts barriers between such loads and the writes.
class RepeatableReads {
public:
  explicit RepeatableReads(Operation *function);

  bool contains(LoadOp load) const;

private:
  llvm::SmallDenseSet<Value> written;
  bool writesAnywhere = false;
};

/// Adds pairs of arguments to those that `function` was compiled to be
/// disjoint, which the launcher checks.
void noteDisjointArguments(FunctionOpInterface function,
                           ArrayRef<MemoryModel::ArgumentPair> pairs);

} // namespace mlir::triton

#endif // TILE_ANALYSIS_MEMORYMODEL_H
