//===-- CutVectors.h - Vectors of which a mask leaves out a part -*- C++ -*-==//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A mask such as `i < n` may end anywhere, also inside of a vector. Yet it cuts
// few vectors. The others are accessed whole. A thread that has a cut vector
// takes a branch, where it accesses the elements of that vector one by one.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CONVERSION_TRITONGPUTOLLVM_CUTVECTORS_H
#define TILE_CONVERSION_TRITONGPUTOLLVM_CUTVECTORS_H

#include "tile/Analysis/MaskTrend.h"
#include "tile/Conversion/TritonGPUToLLVM/LLVMBuilder.h"

namespace mlir::triton {

/// Which vectors a thread accesses at once, and when.
struct VectorPlan {
  unsigned size = 1;
  /// How the mask goes along the elements of a vector.
  MaskTrend trend = MaskTrend::Constant;

  bool mayCut() const { return trend != MaskTrend::Constant; }
};

/// `place` has what is accessed, in its layout. A thread may access `whole`
/// neighbours at once where `mask`, which may be null, holds for all of them.
VectorPlan planVectors(const ModuleAxisInfoAnalysis &axisInfo, Value place,
                       Value mask, unsigned whole);

/// The registers of some vectors.
using Vectors = ArrayRef<SmallVector<int32_t>>;

/// What `values`, which may be empty, has for the registers of a vector.
SmallVector<Value> gather(ArrayRef<int32_t> group, ArrayRef<Value> values);

/// One element of a vector whose first register is `first`.
struct ElementOfVector {
  int32_t first;
  unsigned index;
  int32_t getRegister() const { return first + static_cast<int32_t>(index); }
};

/// Loads `vectors` into `results`, where `masks` (empty if there are none) and
/// `owner` (which may be null) hold. `loadWhole` loads a vector, and gives
/// other values where its predicate does not hold. `loadElement` gives
/// `otherwise` there.
void loadVectors(
    const LLVMBuilder &b, const VectorPlan &plan, Vectors vectors,
    ArrayRef<Value> masks, Value owner, MutableArrayRef<Value> results,
    function_ref<SmallVector<Value>(ArrayRef<int32_t> group, Value pred)>
        loadWhole,
    function_ref<Value(ElementOfVector element, Value pred, Value otherwise)>
        loadElement);

/// The same for stores.
void storeVectors(
    const LLVMBuilder &b, const VectorPlan &plan, Vectors vectors,
    ArrayRef<Value> masks, Value owner,
    function_ref<void(ArrayRef<int32_t> group, Value pred)> storeWhole,
    function_ref<void(ElementOfVector element, Value pred)> storeElement);

} // namespace mlir::triton

#endif // TILE_CONVERSION_TRITONGPUTOLLVM_CUTVECTORS_H
