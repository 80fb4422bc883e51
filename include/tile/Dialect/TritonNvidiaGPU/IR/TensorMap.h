//===-- TensorMap.h - How TMA sees blocks in shared memory ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What whoever makes a tensor map (on the device or on the host) and whoever
// copies with it have to agree upon.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_DIALECT_TRITONNVIDIAGPU_IR_TENSORMAP_H
#define TILE_DIALECT_TRITONNVIDIAGPU_IR_TENSORMAP_H

#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"
#include "tile/Rules/LaunchSteps.h"

namespace mlir::triton::nvidia_gpu {

/// The shape of the box that one TMA instruction copies, outermost dimension
/// first, for a block of a descriptor. It is the part of one block of the
/// cluster. Rows are no wider than the panels in shared memory (those of the
/// swizzle, or 16 bytes of a matrix without one), and no dimension goes beyond
/// 256. Where several blocks hold the same part, there are boxes of fewer rows
/// for each of them, if there are rows enough. A copy of the whole block takes
/// one instruction for each box.
SmallVector<int64_t> getTMABoxShape(RankedTensorType block);

/// The same for a copy of pixels: how many of them, and of channels.
SmallVector<int64_t> getTMAPixelBoxShape(RankedTensorType block);

/// What one instruction of a copy of a whole block moves.
struct TMABox {
  /// Where it starts in the block, outermost dimension first.
  SmallVector<int64_t> start;
  /// Where it starts in the buffer, in bytes.
  int64_t offset;
};

/// The boxes that make up a block. Nullopt if TMA cannot write the block in the
/// order that its encoding says.
std::optional<SmallVector<TMABox>> getTMABoxes(RankedTensorType block);

/// How the thread blocks of a cluster copy a block of a descriptor. Each of
/// them has a buffer, which holds its part of the descriptor's block or all of
/// it.
struct TMACopy {
  /// The boxes that the first thread block copies.
  SmallVector<TMABox> boxes;
  /// For each bit of the number of a thread block: how much further on in the
  /// descriptor's block and in the buffer (in bytes) those with this bit copy.
  SmallVector<SmallVector<int64_t>> steps;
  SmallVector<int64_t> offsetSteps;
  /// Bits of the number of a thread block that change nothing about what its
  /// buffer holds. The blocks that differ in these divide the boxes.
  unsigned sharedBits = 0;
  /// Those of them for which there are no boxes left: blocks with such a bit
  /// copy nothing.
  unsigned idleBits = 0;
};

/// How far on in memory a view starts whose start has a bit of the coordinate
/// `dim`: for each of these bits, in bytes. The hardware swizzles what lies
/// from there on. A view starts at a multiple of its size.
SmallVector<int32_t> getTMAViewBases(gpu::MemDescType view, unsigned dim);

/// Nullopt if the buffers hold something else, or if TMA cannot write them in
/// the order that their encoding says. Without `divide`, thread blocks that
/// hold the same copy all of it, each for itself.
std::optional<TMACopy> getTMACopy(RankedTensorType block,
                                  gpu::MemDescType buffer, bool divide);

/// The same for a copy of rows with chosen numbers, four at a time, through a
/// descriptor of one row. With `divide`, one of the thread blocks that hold the
/// same copies it.
std::optional<TMACopy> getTMARowCopy(RankedTensorType row,
                                     gpu::MemDescType buffer, bool divide);

/// The same for a copy of pixels of a tensor with `rank` dimensions. Boxes and
/// steps are in the dimensions of the tensor. Nullopt also where the blocks of
/// a cluster would divide the pixels.
std::optional<TMACopy> getTMAPixelCopy(RankedTensorType block,
                                       gpu::MemDescType buffer, bool divide,
                                       unsigned rank);

/// Whether a copy into `buffer` is one for all blocks of a cluster.
bool isMulticast(gpu::MemDescType buffer);

/// Whether TMA combines elements of this type in global memory.
bool isTMAReduction(DescriptorReduceKind kind, Type element);

/// The code of the hardware for the elements of a block; fails for types that
/// TMA does not know.
FailureOr<int32_t> getTMAElementType(RankedTensorType block);

/// The code of f32 whose loads round to tf32.
inline constexpr int32_t kTMATF32Code = 11;

/// How many elements of the tensor map an element of the block is, along the
/// innermost dimension. Bytes of padded 4-bit elements are two each.
unsigned getTMAPacking(RankedTensorType block);

/// The code of the hardware for a swizzle of 0, 32, 64 or 128 bytes.
FailureOr<int32_t> getTMASwizzleMode(unsigned swizzlingByteWidth);

/// The encoding of the descriptor's blocks, if TMA can copy to it; otherwise
/// fails and says why through `emitError`.
FailureOr<gpu::NVMMASharedEncodingAttr>
getTMAEncoding(TensorDescType desc,
               function_ref<InFlightDiagnostic()> emitError);

//===----------------------------------------------------------------------===//
// Tensor maps that the host makes
//===----------------------------------------------------------------------===//

/// On a kernel's argument that is a tensor map, by value: what the map says
/// beside the tensor's base, shape and strides. A dictionary of `index` (which
/// of the kernel's maps it is), `element_type` (the code of the hardware),
/// `element_bytes`, `swizzle` (the width in bytes) and `box` (outermost
/// dimension first). The box counts elements of the map. With `pixels`, the map
/// is for copies of pixels: `box` has the numbers of pixels and of channels.
inline constexpr llvm::StringLiteral kTensorMapAttrName = "ttnvgpu.tensor_map";

/// On the argument that is the base of a tensor, which the shape, the strides
/// and whether elements out of bounds are NaNs follow: the `index` of the map.
/// Where pixels are copied, `getPixelPartTypes` says what follows.
inline constexpr llvm::StringLiteral kTensorMapBaseAttrName =
    "ttnvgpu.tensor_map_base";

/// On an argument of which the launch computes parts of tensor maps that the
/// program did not ask for: the number of this input. Such a map has `base`
/// (the input that is the tensor's pointer), `code` and `parts` in its
/// dictionary, in place of arguments of its own. `code` is three numbers for
/// each step: a `LaunchStep` and two operands. `parts` has which steps are the
/// base, the shape and the strides, outermost dimension first.
inline constexpr llvm::StringLiteral kTensorMapInputAttrName =
    "ttnvgpu.tensor_map_input";

/// What the launch computes in a step.
using tile::rules::LaunchStep;

/// What the host passes for a descriptor of which pixels are copied. The first
/// are as for others: base, shape, strides, and whether elements out of bounds
/// are NaNs. Then come the number of dimensions, the steps from element to
/// element, and two corners of the box of pixels. There is room for five
/// dimensions.
SmallVector<Type> getPixelPartTypes(TensorDescIm2ColType type);

/// The base of the tensor that the map `argument` is of; null if it is no map.
BlockArgument getTensorMapBase(Value argument);

} // namespace mlir::triton::nvidia_gpu

#endif // TILE_DIALECT_TRITONNVIDIAGPU_IR_TENSORMAP_H
