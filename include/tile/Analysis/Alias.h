//===-- Alias.h - Which buffers a memory descriptor may be ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A memdesc value is a view of one of the buffers that reach it: through view
// operations, selects, loops, branches and the captures of warp_specialize.
// What a function returns may be a part of any buffer that it was given.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_ANALYSIS_ALIAS_H
#define TILE_ANALYSIS_ALIAS_H

#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::triton {

class SharedMemoryAliasAnalysis {
public:
  /// The results of the ttg.local_alloc operations (and the memdesc arguments
  /// of the function) that a value may view, in program order.
  using Roots = llvm::SmallSetVector<Value, 2>;

  /// Covers everything in `function`.
  explicit SharedMemoryAliasAnalysis(Operation *function);

  const Roots &getRoots(Value memdesc) const;

private:
  llvm::DenseMap<Value, Roots> rootsOf;
  Roots none;
};

} // namespace mlir::triton

#endif // TILE_ANALYSIS_ALIAS_H
