//===-- Dialect.h - The ttg dialect -----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Attributes, types and operations of the dialect, and the questions about
// layouts and about the machine that nearly every pass asks.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DIALECT_TRITONGPU_IR_DIALECT_H
#define TILE_DIALECT_TRITONGPU_IR_DIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Attributes.h"
#include "tile/Dialect/TritonGPU/IR/OpInterfaces.h"
#include "tile/Dialect/TritonGPU/IR/Types.h"
#include "tile/Support/AttributeNames.h"

#include "tile/Dialect/TritonGPU/IR/Dialect.h.inc"

namespace mlir::triton::gpu {

/// The resource that operations on shared memory read and write.
struct SharedMemory : public SideEffects::Resource::Base<SharedMemory> {
  StringRef getName() final { return "<SharedMemory>"; }
};

namespace detail {
/// For a tensor of pointers: the tensor of i1 and the tensor of pointees.
Type getMaskType(Type pointers);
Type getPointeeTensorType(Type pointers);
} // namespace detail

} // namespace mlir::triton::gpu

#define GET_OP_CLASSES
#include "tile/Dialect/TritonGPU/IR/Ops.h.inc"

namespace mlir::triton::gpu {

//===----------------------------------------------------------------------===//
// The machine, as the module describes it
//===----------------------------------------------------------------------===//

/// What holds where a module says nothing, the same as in the public API.
inline constexpr int kDefaultNumWarps = 4;
inline constexpr int kDefaultThreadsPerWarp = 32;

/// Warps that run `op`: those of the enclosing partition of a
/// ttg.warp_specialize, else of the enclosing operation with a `ttg.num-warps`
/// attribute. The first form says nothing where neither is there.
std::optional<int> maybeLookupNumWarps(Operation *op);
int lookupNumWarps(Operation *op);
/// The same for operations in a region.
int lookupNumWarps(Region *region);

/// Threads in a warp.
std::optional<int> maybeLookupThreadsPerWarp(Operation *op);
int lookupThreadsPerWarp(Operation *op);
/// Blocks in a cluster; 1 if the module does not say.
int lookupNumCTAs(Operation *op);

//===----------------------------------------------------------------------===//
// Encodings
//===----------------------------------------------------------------------===//

/// The encoding of any tensor or memory descriptor; null if it has none.
Attribute getEncoding(Type type);

/// The blocked encoding that a tensor of this shape gets where nothing is known
/// about it: one element per thread, row-major.
BlockedEncodingAttr getDefaultBlockedEncoding(MLIRContext *context,
                                              ArrayRef<int64_t> shape,
                                              int numWarps, int threadsPerWarp,
                                              int numCTAs);

CTALayoutAttr getCTALayout(Attribute encoding);
SmallVector<unsigned> getCTAsPerCGA(Attribute encoding);
SmallVector<unsigned> getCTASplitNum(Attribute encoding);
SmallVector<unsigned> getCTAOrder(Attribute encoding);
unsigned getNumCTAs(Attribute encoding);
/// The part of a tensor that one block holds.
SmallVector<int64_t> getShapePerCTA(ArrayRef<unsigned> ctaSplitNum,
                                    ArrayRef<int64_t> shape);
SmallVector<int64_t> getShapePerCTA(Attribute encoding,
                                    ArrayRef<int64_t> shape);
SmallVector<int64_t> getShapePerCTA(Type type);

//===----------------------------------------------------------------------===//
// Distributed encodings: answers read off the linear layout
//===----------------------------------------------------------------------===//

/// Dimensions from fastest to slowest varying, as the registers of one thread
/// (then its lanes, then warps) step through the tensor.
SmallVector<unsigned> getOrder(RankedTensorType type);
SmallVector<unsigned> getOrder(Attribute encoding, ArrayRef<int64_t> shape);

/// The order of the offsets of a buffer, fastest first.
SmallVector<unsigned> getOrder(MemDescType type);

/// Elements (registers) that a thread holds, repeats included. A scalar is one.
unsigned getTotalElemsPerThread(Type type);
unsigned getTotalElemsPerThread(Attribute encoding, ArrayRef<int64_t> shape);
/// The same by dimension: how many different coordinates the registers of a
/// thread reach in each.
SmallVector<unsigned> getElemsPerThread(RankedTensorType type);
/// Distinct coordinates that the lanes (warps) of a warp (block) reach in each
/// dimension. Lanes that hold copies are not counted.
SmallVector<unsigned> getThreadsPerWarp(RankedTensorType type);
SmallVector<unsigned> getWarpsPerCTA(RankedTensorType type);
SmallVector<unsigned> getThreadsPerWarp(Attribute encoding,
                                        ArrayRef<int64_t> shape);
SmallVector<unsigned> getWarpsPerCTA(Attribute encoding,
                                     ArrayRef<int64_t> shape);
/// Neighbouring elements along each dimension that the low registers of a
/// thread hold.
SmallVector<unsigned> getContigPerThread(RankedTensorType type);

/// True if both encodings place the elements of a tensor of this shape alike.
bool areLayoutsEquivalent(ArrayRef<int64_t> shape, Attribute lhs,
                          Attribute rhs);

/// The same for two views of the same shape, with the padding they may have.
bool haveEquivalentLayouts(MemDescType lhs, MemDescType rhs);

/// The type with another encoding.
RankedTensorType cloneWithEncoding(RankedTensorType type, Attribute encoding);

//===----------------------------------------------------------------------===//
// Inference (see also DialectInferLayoutInterface)
//===----------------------------------------------------------------------===//

/// An encoding for the linear layout `layout` of a tensor of `shape`: `hint` or
/// a blocked one where that says the same, else a linear one.
Attribute nameLinearLayout(MLIRContext *context, ArrayRef<int64_t> shape,
                           const LinearLayout &layout, Attribute hint = {});

/// The layout of the tensor reshaped to `shape`, its elements in row-major
/// order and each in the same place as before.
LinearLayout reshapeOuts(const LinearLayout &layout, ArrayRef<int64_t> shape);

} // namespace mlir::triton::gpu

#endif // TILE_DIALECT_TRITONGPU_IR_DIALECT_H
