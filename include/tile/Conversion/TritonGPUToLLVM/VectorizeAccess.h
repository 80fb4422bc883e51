//===-- VectorizeAccess.h - Vectors of accesses to global memory -*- C++ -*-==//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_CONVERSION_TRITONGPUTOLLVM_VECTORIZEACCESS_H
#define TILE_CONVERSION_TRITONGPUTOLLVM_VECTORIZEACCESS_H

#include "tile/Conversion/TritonGPUToLLVM/LayoutIndices.h"

namespace mlir::triton {

class ModuleAxisInfoAnalysis;

/// Registers that are accessed together.
struct AccessGroups {
  SmallVector<SmallVector<int32_t>> registers;
  /// For each register, the first one that holds the same element: registers
  /// that repeat others are in no group.
  SmallVector<int32_t> representative;
};

/// How many elements at the pointers `ptr` a thread may access at once.
unsigned getAccessVector(const ModuleAxisInfoAnalysis &axisInfo, Value ptr,
                         Value mask, unsigned elementBits, unsigned maxBits);

AccessGroups groupAccess(Type pointerType, unsigned vector);

/// True in the one thread that acts for an element of `type` that several hold;
/// null if each thread acts for itself.
Value emitOwnerPredicate(const LLVMBuilder &b, const TargetInfo &target,
                         Operation *op, Type type);

} // namespace mlir::triton

#endif // TILE_CONVERSION_TRITONGPUTOLLVM_VECTORIZEACCESS_H
