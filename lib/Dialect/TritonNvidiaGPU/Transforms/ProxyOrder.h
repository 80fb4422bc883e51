//===-- ProxyOrder.h - TMA among other accesses to memory -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// TMA accesses global memory through the async proxy, everybody else through
// the generic one. Between accesses of the two to the same memory there has to
// be a fence, or the end of the copy.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_DIALECT_TRITONNVIDIAGPU_TRANSFORMS_PROXYORDER_H
#define TILE_LIB_DIALECT_TRITONNVIDIAGPU_TRANSFORMS_PROXYORDER_H

#include "tile/Analysis/MemoryModel.h"

namespace mlir::triton::nvidia_gpu {

/// Whether the descriptor operation `op` writes to memory.
bool isDescriptorStore(Operation *op);

/// What the descriptor operations of a function need, before they are lowered.
class ProxyOrder {
public:
  explicit ProxyOrder(FunctionOpInterface function);

  /// Fences after what makes writes of the generic proxy known to the threads:
  /// their own, and what orders them after those of others. Of the latter, the
  /// last one before a copy is enough, and none is where no copy follows.
  void insertFences();

  /// Whether something that may run after `store` may see what it writes, write
  /// there too, or tell others that it is there. What is in the block `except`
  /// does not count.
  bool isObserved(Operation *store, Block *except = nullptr);

  /// Whether other copies may still be writing when `store` starts its own.
  bool followsCopies(Operation *store);

  /// Notes which arguments were taken to be disjoint.
  void noteAssumptions();

private:
  using Descriptors = llvm::SmallSetVector<Value, 4>;

  bool mayAliasAny(Value address, const Descriptors &descriptors);
  /// Whether `op` itself may access what the descriptors describe, in one of
  /// these ways.
  template <typename... Effects>
  bool accesses(Operation *op, const Descriptors &descriptors);
  bool writesAny(Operation *op, const Descriptors &descriptors);
  bool observesStores(Operation *op);

  FunctionOpInterface function;
  MemoryModel memory;
  Descriptors loaded, stored;
};

} // namespace mlir::triton::nvidia_gpu

#endif // TILE_LIB_DIALECT_TRITONNVIDIAGPU_TRANSFORMS_PROXYORDER_H
