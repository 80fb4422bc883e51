//===-- Utility.h - Values, indices and shared memory -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What every pattern of the lowering needs: taking tensors apart and putting
// them together, evaluating linear layouts on run-time indices, and moving
// registers to and from shared memory along a layout.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CONVERSION_TRITONGPUTOLLVM_UTILITY_H
#define TILE_CONVERSION_TRITONGPUTOLLVM_UTILITY_H

#include "tile/Conversion/TritonGPUToLLVM/LLVMBuilder.h"
#include "tile/Conversion/TritonGPUToLLVM/TargetInfo.h"
#include "tile/Conversion/TritonGPUToLLVM/TypeConverter.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Layout/LinearLayout.h"

namespace mlir::triton {

//===----------------------------------------------------------------------===//
// Tensors as values
//===----------------------------------------------------------------------===//

/// The element type of a tensor; any other type (a memdesc too) as it is.
inline Type getTensorElementOrSelf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.getElementType() : type;
}

/// The elements that a converted value of type `original` holds: one per
/// register for a tensor, the value itself for anything else.
SmallVector<Value> unpackElements(const LLVMBuilder &b, Value converted,
                                  Type original);

/// The reverse. A tensor becomes an `unrealized_conversion_cast` from its
/// elements to a struct: one operation however many elements there are, which
/// `unpackElements` looks through and `expandPackedTensors` replaces at the
/// end.
Value packElements(const LLVMBuilder &b, const TypeConverter &converter,
                   ArrayRef<Value> elements, Type original);

/// Splits block arguments that are structs of elements into one argument per
/// element (LLVM's optimiser sees through scalars only), and replaces what is
/// left of the casts of `packElements` with insertvalue/extractvalue.
void expandPackedTensors(Operation *root);

//===----------------------------------------------------------------------===//
// Thread positions and layouts
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

/// Bytes that one element takes in shared memory.
unsigned getSharedElementBytes(Type llvmElement);

/// The address of the scratch memory that allocation gave to `op`.
Value getScratchBase(const LLVMBuilder &b, const TargetInfo &target,
                     Operation *op);
/// The address at `offset` in the shared memory of the function around `op`.
Value getSharedMemoryAt(const LLVMBuilder &b, const TargetInfo &target,
                        Operation *op, int64_t offset);

/// A value of memdesc type, taken apart.
struct MemDesc {
  Value base;
  SmallVector<Value> offsets;

  static MemDesc unpack(const LLVMBuilder &b, Value converted,
                        gpu::MemDescType type);
  Value pack(const LLVMBuilder &b) const;
};

/// An access to shared memory along `toOffset`, a layout from (register, lane,
/// warp, block) to "offset" in elements.
struct SharedAccess {
  const TargetInfo &target;
  LinearLayout toOffset;
  Value base;
  Type element; ///< in registers
  /// Xor-ed to the offset of every element; may be null.
  Value offset = {};
  /// Low bits of `offset` known to be zero.
  unsigned offsetZeroBits = 0;
  /// Further limit on the vector size in elements.
  unsigned maxVector = 128;
  /// Padded layouts: after every `interval` elements, `padding` more.
  SmallVector<std::pair<unsigned, unsigned>> paddings = {};

  void store(const LLVMBuilder &b, const ThreadIndex &index,
             ArrayRef<Value> values, Value pred = {}) const;
  SmallVector<Value> load(const LLVMBuilder &b, const ThreadIndex &index,
                          Value pred = {}) const;

  /// Calls `access` for each vector, with the registers it covers.
  void forEachVector(
      const LLVMBuilder &b, const ThreadIndex &index,
      function_ref<void(Value ptr, ArrayRef<int32_t> registers)> access) const;
  /// The registers of each vector.
  SmallVector<SmallVector<int32_t>> getVectors() const;

private:
  struct Plan;
  Plan plan() const;
};

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

/// The offset (in elements) at which a view starts in its buffer, to be xor-ed
/// with the offsets of elements; null for zero. `zeroBits` receives how many of
/// its low bits are known to be zero.
Value emitViewOffset(const LLVMBuilder &b, const MemDesc &desc,
                     gpu::MemDescType type, unsigned &zeroBits);

/// From the registers of a tensor to "offset" in a buffer.
LinearLayout getOffsetLayout(RankedTensorType registers,
                             gpu::MemDescType memory);

/// The access of a tensor's registers to a buffer (or view of one).
SharedAccess makeSharedAccess(const LLVMBuilder &b, const TargetInfo &target,
                              const MemDesc &desc, gpu::MemDescType memory,
                              RankedTensorType registers, Type element);

/// A value as it lies in shared memory (i1 as i8, pointers as integers), and
/// back.
Value toSharedElement(const LLVMBuilder &b, Value value);
Value fromSharedElement(const LLVMBuilder &b, Value value, Type element);
Type getSharedElementType(Type llvmElement);

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

/// Applies `fn` to each 32-bit word of a value of any element type.
Value mapWords(const LLVMBuilder &b, Value value,
               function_ref<Value(Value word)> fn);

/// Runs a combine region (of a reduce or scan): a copy of its operations with
/// `args` as block arguments. Returns the terminator's operands.
SmallVector<Value> inlineCombine(const LLVMBuilder &b, Region &region,
                                 ValueRange args);

} // namespace mlir::triton

#endif // TILE_CONVERSION_TRITONGPUTOLLVM_UTILITY_H
