//===-- SharedAccess.h - Registers to and from shared memory ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_CONVERSION_TRITONGPUTOLLVM_SHAREDACCESS_H
#define TILE_CONVERSION_TRITONGPUTOLLVM_SHAREDACCESS_H

#include "tile/Conversion/TritonGPUToLLVM/LayoutIndices.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"

namespace mlir::triton {

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
/// warp, block) to "offset" in elements. It may have a second out dim, "block",
/// for the block of the cluster in whose memory the element is.
struct SharedAccess {
  const TargetInfo &target;
  LinearLayout toOffset;
  Value base;
  Type element; ///< in registers
  /// Xor-ed to the offset of every element; may be null.
  Value offset = {};
  /// Xor-ed to the number of the block; may be null.
  Value block = {};
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

  /// True in the thread of the block that is to write an element which several
  /// hold; null if each is to write its own.
  Value emitOwner(const LLVMBuilder &b, const ThreadIndex &index) const;
  /// Calls `access` for each vector, with the registers it covers.
  void forEachVector(
      const LLVMBuilder &b, const ThreadIndex &index,
      function_ref<void(Value ptr, ArrayRef<int32_t> registers)> access) const;
  /// The registers of each vector.
  SmallVector<SmallVector<int32_t>> getVectors() const;

  /// Whether elements may be in the memory of another block.
  bool isRemote() const { return toOffset.hasOutDim(kBlock); }

private:
  struct Plan;
  Plan plan() const;
  /// The same access with `values` exchanged among registers so that a store
  /// meets fewer banks.
  SharedAccess spreadOverBanks(const LLVMBuilder &b, const ThreadIndex &index,
                               SmallVector<Value> &values) const;
};

/// The offset (in elements) at which a view starts in its buffer, to be xor-ed
/// with the offsets of elements; null for zero. `zeroBits` receives how many of
/// its low bits are known to be zero.
Value emitViewOffset(const LLVMBuilder &b, const MemDesc &desc,
                     gpu::MemDescType type, unsigned &zeroBits);

/// The number of the block, relative to that of its buffer, in whose memory a
/// view starts: to be xor-ed. Null for zero.
Value emitViewBlock(const LLVMBuilder &b, const MemDesc &desc,
                    gpu::MemDescType type);

/// From the registers of a tensor to "offset" in a buffer.
LinearLayout getOffsetLayout(RankedTensorType registers,
                             gpu::MemDescType memory);

/// From the registers of a tensor to "offset" in a row-major copy of it.
LinearLayout getRowMajorOffsets(RankedTensorType registers);

/// The access of a tensor's registers to a buffer (or view of one).
SharedAccess makeSharedAccess(const LLVMBuilder &b, const TargetInfo &target,
                              const MemDesc &desc, gpu::MemDescType memory,
                              RankedTensorType registers, Type element);

/// A value as it lies in shared memory (i1 as i8, pointers as integers), and
/// back.
Value toSharedElement(const LLVMBuilder &b, Value value);
Value fromSharedElement(const LLVMBuilder &b, Value value, Type element);
Type getSharedElementType(Type llvmElement);

} // namespace mlir::triton

#endif // TILE_CONVERSION_TRITONGPUTOLLVM_SHAREDACCESS_H
