//===-- TensorMemoryLayout.h - Elements in tensor memory --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The encodings of tensor memory as linear layouts, and the way from there to
// the instructions that move a tensor: tcgen05.ld and tcgen05.st. Verifiers,
// passes, the lowering and the front end of programs with explicit layouts all
// ask here which layouts of registers fit (docs/rationale/tensor-memory.md).
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DIALECT_TRITONNVIDIAGPU_IR_TENSORMEMORYLAYOUT_H
#define TILE_DIALECT_TRITONNVIDIAGPU_IR_TENSORMEMORYLAYOUT_H

#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"
#include "tile/Layout/LinearLayout.h"

namespace mlir::triton::nvidia_gpu {

/// Where the address of the tensor memory of a block is in its shared memory.
inline constexpr llvm::StringLiteral kTensorMemoryAddressAttrName =
    "ttnvgpu.tensor_memory_address";
/// Whether pairs of blocks multiply, said of a whole module.
inline constexpr llvm::StringLiteral kTwoCTAsAttrName = "ttng.two-ctas";
/// Where a buffer starts in the tensor memory of the block.
inline constexpr llvm::StringLiteral kTensorMemoryColumnAttrName =
    "tensor_memory_col_offset";
inline constexpr llvm::StringLiteral kTensorMemoryRowAttrName =
    "tensor_memory_row_offset";

/// The parts of an address in tensor memory: the 32-bit column, which element
/// of it (its lowest bits are slot 0), and the lane.
inline constexpr llvm::StringLiteral kTensorSlot = "slot";
inline constexpr llvm::StringLiteral kTensorColumn = "column";
inline constexpr llvm::StringLiteral kTensorLane = "tensor_lane";

/// From the coordinates of a matrix to (slot, column, tensor lane, block),
/// relative to where the buffer starts. The copies of scales in the other three
/// windows are left out. `type` fits into tensor memory, and its dimensions are
/// powers of two.
LinearLayout getTensorMemoryPlaces(gpu::MemDescType type);

/// The address of a place, as tcgen05 instructions take it.
inline int32_t getTensorAddress(int32_t lane, int32_t column) {
  return lane << 16 | column;
}

/// Whether the two halves of the columns of each block lie in the lower and the
/// upper lanes: the accumulator of two blocks of a cluster with 64 rows each.
inline bool dividesColumnsByLanes(TensorMemoryEncodingAttr encoding) {
  return encoding.getTwoCTAs() && encoding.getBlockM() == 64;
}

/// How far neighbours of a row are apart, in elements: two 4-bit numbers of one
/// element may take a byte each.
inline unsigned getElementStride(TensorMemoryEncodingAttr encoding) {
  return encoding.getFp4Padded() ? 2 : encoding.getColStride();
}

/// Whether two blocks of a cluster work together on tensor memory. All tcgen05
/// instructions of a kernel have to agree on that.
bool usesBlockPairs(ModuleOp module);

/// How far the matrices of an array of buffers are apart, in columns.
unsigned getTensorMemoryPitch(gpu::MemDescType type);

/// The address of a part relative to that of the buffer `whole`, where it
/// starts at element `start` of a dimension.
int32_t getTensorMemoryPartStart(gpu::MemDescType whole, unsigned dim,
                                 int64_t start);

/// Whether each warp has all of the buffer in its window, as scales are kept.
bool isInAllWindows(gpu::MemDescType type);

/// What a thread has of a tile of tensor memory.
enum class TensorShape { L32x32b, L16x64b, L16x128b, L16x256b, L16x32bx2 };

/// The instructions with which a warp moves its part of a tensor.
struct TensorMemoryAccess {
  TensorShape shape;
  /// The number of repetitions along the columns, `.xN`.
  unsigned repeats;
  /// 32-bit registers of a thread for one instruction.
  unsigned words;
  /// `.pack::16b`, `.unpack::16b`: a register has the low halves of two
  /// columns.
  bool packsHalves = false;
  /// L16x32bx2: how many columns the second half of the lanes is behind.
  unsigned secondHalf = 0;
  /// Elements of a register, in equal shares of its bits.
  unsigned slots;
  /// Where each instruction starts, relative to the buffer and the window.
  SmallVector<int32_t> starts;
  /// Where an element of the tensor is.
  struct Position {
    unsigned instruction, word, slot;
  };
  /// By register of the tensor.
  SmallVector<Position> positions;
  /// What the bits of the warp's number add to the address beyond its window:
  /// the first two bits choose that, and add nothing.
  SmallVector<int32_t> warpStarts;
  /// Bits of the warp's number which make no difference: those warps hold
  /// copies of the same elements.
  unsigned copyingWarps = 0;

  /// As it stands in PTX: "16x64b".
  StringRef getShapeName() const;
};

/// How a tensor with this layout of registers moves between them and a buffer.
/// Where no instruction does that, fails and says why through `emitError`. An
/// instruction moves at most `mostWords` registers of a thread.
FailureOr<TensorMemoryAccess>
getTensorMemoryAccess(RankedTensorType tensor, gpu::MemDescType memory,
                      function_ref<InFlightDiagnostic()> emitError = {},
                      unsigned mostWords = 128);

/// The layout of registers in which `numWarps` warps hold a buffer, such that
/// instructions of this shape move it. Nothing if they cannot. Warps beyond
/// four divide blocks of rows, or columns where `dividesColumns` asks for it or
/// there is but one block.
std::optional<LinearLayout>
getTensorMemoryRegisters(gpu::MemDescType memory, unsigned numWarps,
                         TensorShape shape, bool dividesColumns = false);

/// The layout in which passes have threads hold a matrix that is in tensor
/// memory: a row each, or half a row where a window has 16 rows.
gpu::LinearEncodingAttr getTensorMemoryRegisters(gpu::MemDescType memory,
                                                 unsigned numWarps);

/// The columns that the buffers of the function around `op` take together, if
/// none share any. Scales in shared memory count: they will be copied.
unsigned countTensorMemoryColumns(Operation *op);

/// The shape that PTX calls so.
std::optional<TensorShape> parseTensorShape(StringRef name);

} // namespace mlir::triton::nvidia_gpu

#endif // TILE_DIALECT_TRITONNVIDIAGPU_IR_TENSORMEMORYLAYOUT_H
