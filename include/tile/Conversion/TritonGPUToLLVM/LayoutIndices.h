//===-- LayoutIndices.h - Layouts on run-time indices -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_CONVERSION_TRITONGPUTOLLVM_LAYOUTINDICES_H
#define TILE_CONVERSION_TRITONGPUTOLLVM_LAYOUTINDICES_H

#include "tile/Conversion/TritonGPUToLLVM/LLVMBuilder.h"
#include "tile/Conversion/TritonGPUToLLVM/TargetInfo.h"
#include "tile/Layout/LinearLayout.h"

namespace mlir::triton {

/// Where the executing thread is: what a layout is evaluated on.
struct ThreadIndex {
  /// Flat index in the warps that execute this code; lanes are its low bits.
  Value thread;
  /// Block in the cluster; null where clusters have one block.
  Value block;
  unsigned threadsPerWarp;

  Value getLane(const LLVMBuilder &b) const;
  Value getWarp(const LLVMBuilder &b) const;
};
ThreadIndex getThreadIndex(const LLVMBuilder &b, const TargetInfo &target,
                           Operation *op);

/// The part of a layout's image along one out dim that depends on the thread,
/// and which bits of the result it can set.
struct ThreadPart {
  Value value; ///< i32; null for zero.
  int32_t bits = 0;
  /// value ^ constant, as an addition where no bits meet.
  Value withConstant(const LLVMBuilder &b, int32_t constant) const;
};
ThreadPart evaluateThreadPart(const LLVMBuilder &b, const LinearLayout &layout,
                              StringRef outDim, const ThreadIndex &index);

/// xor of bases[i] over the bits i that are set in `x`, where x has no bits
/// beyond the bases.
Value evaluateLinear(const LLVMBuilder &b, Value x, ArrayRef<int32_t> bases);

/// For every register, the coordinates of the element it holds.
SmallVector<SmallVector<Value>> emitIndices(const LLVMBuilder &b,
                                            const TargetInfo &target,
                                            Operation *op,
                                            const LinearLayout &layout);

/// True in one thread of each group that hold the same elements: what guards
/// stores and atomics. Null if every thread is alone with its elements.
Value emitUniqueThreadPredicate(const LLVMBuilder &b,
                                const LinearLayout &layout,
                                const ThreadIndex &index);

/// Registers of a layout by the coordinates that registers alone contribute.
class RegisterTable {
public:
  explicit RegisterTable(const LinearLayout &layout);
  /// -1 where no register contributes these coordinates.
  int32_t lookup(ArrayRef<int32_t> coords) const;
  /// The different contributions along a dimension, in increasing order.
  SmallVector<int32_t> getContributions(unsigned dim) const;

private:
  LinearLayout registers;
  llvm::DenseMap<uint64_t, int32_t> at;
};

} // namespace mlir::triton

#endif // TILE_CONVERSION_TRITONGPUTOLLVM_LAYOUTINDICES_H
