//===-- SharedMemory.h - Vectors and banks of shared memory -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Questions about accesses of a distributed layout (register, lane, warp, block
// -> dims) to a shared layout (offset in elements[, block] -> dims). Also the
// choice of a shared layout for a pair of distributed ones.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LAYOUT_SHAREDMEMORY_H
#define TILE_LAYOUT_SHAREDMEMORY_H

#include "tile/Layout/BankGeometry.h"
#include "tile/Layout/ColumnAction.h"
#include "tile/Layout/LinearLayout.h"

namespace mlir::triton {

/// Rounds of a conversion that reuses the same shared memory several times.
inline constexpr llvm::StringLiteral kRepetition = "repetition";

/// Where each element of a thread lies: (register, lane, warp, block) ->
/// (offset, ...), the other in dims of `shared` behind the offset. The image of
/// `distributed` must lie in that of `shared`.
LinearLayout getOffsetLayout(const LinearLayout &distributed,
                             const LinearLayout &shared);

/// One instruction moves 2^vecLog2 elements: after `registers`, each run of as
/// many registers has consecutive offsets, the first one aligned to the run.
struct VectorAccess {
  unsigned vecLog2;
  ColumnAction registers;
};

/// The widest access, up to `maxBits` and `maxElements` (the gap interval of a
/// padded buffer, say), that `offsets` (see getOffsetLayout) allows. Registers
/// that hold copies should have been removed before.
VectorAccess getVectorAccess(const LinearLayout &offsets, unsigned elemBits,
                             unsigned maxBits = 128,
                             int64_t maxElements = int64_t(1) << 30);

/// How many times the banks are accessed by one instruction of a warp that
/// moves 2^vecLog2 elements per lane. Accesses wider than a bank are served for
/// part of the warp at a time (of 32 lanes and as many banks of four bytes,
/// half or a quarter). Lanes that name the same word share it.
unsigned countWavefronts(const LinearLayout &offsets, unsigned elemBits,
                         unsigned vecLog2, BankGeometry banks = {});
/// The least that any layout could do for such an instruction, or less where
/// lanes hold copies.
unsigned countIdealWavefronts(const LinearLayout &offsets, unsigned elemBits,
                              unsigned vecLog2, BankGeometry banks = {});

/// Lanes whose bit `laneBit` is set swap registers: instead of a register they
/// access the one whose number differs in bit `registerBit`.
struct RegisterExchange {
  unsigned laneBit, registerBit;
};

/// `offsets` with the registers exchanged.
LinearLayout exchangeRegisters(const LinearLayout &offsets,
                               RegisterExchange exchange);

/// Exchanges, one after the other, after which instructions that move 2^vecLog2
/// elements have fewer wavefronts. Neighbouring lanes that would access the
/// same banks access different columns then. This happens where a matrix
/// instruction leaves 8 bytes of each of two rows to a lane. An exchange costs
/// one select for every register.
llvm::SmallVector<RegisterExchange>
chooseRegisterExchanges(LinearLayout offsets, unsigned elemBits,
                        unsigned vecLog2, BankGeometry banks = {});

/// A shared layout through which `src` is stored and `dst` loaded.
struct SwizzledLayout {
  /// (offset, repetition, block) -> dims. The conversion runs once for each
  /// value of "repetition", storing and loading only the registers that belong
  /// to it; its size is 1 unless the buffer was limited.
  LinearLayout layout;
  /// Elements per store and load instruction.
  unsigned storeVecLog2 = 0;
  unsigned loadVecLog2 = 0;
  /// Per warp, all instructions together.
  unsigned storeWavefronts = 0;
  unsigned loadWavefronts = 0;
  /// Always true where each register, lane and warp bit of both layouts is one
  /// bit of the tensor (or none).
  bool isConflictFree = true;

  int64_t getNumElements() const { return layout.getInDimSize(kOffset); }
};

/// Chooses a shared layout for the conversion, with the widest accesses that
/// both sides allow (one side may be wider than the other) and, wherever
/// possible, without bank conflicts. `maxBytes` limits the buffer as far as
/// repetition can; nullopt means that data would have to cross blocks.
std::optional<SwizzledLayout> chooseSwizzledSharedLayout(
    const LinearLayout &src, const LinearLayout &dst, unsigned elemBits,
    int64_t maxBytes = int64_t(1) << 40, BankGeometry banks = {});

} // namespace mlir::triton

#endif // TILE_LAYOUT_SHAREDMEMORY_H
