//===-- LayoutConversion.h - How data moves between layouts -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Given two distributed layouts of one tensor, finds the smallest part of the
// machine inside which the data have to move, and plans moves inside a warp.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LAYOUT_LAYOUTCONVERSION_H
#define TILE_LAYOUT_LAYOUTCONVERSION_H

#include "tile/Layout/ColumnAction.h"
#include "tile/Layout/LinearLayout.h"

namespace mlir::triton {

/// From the cheapest to the most expensive.
enum class ConversionKind {
  NoOp,         ///< every register keeps its value
  Registers,    ///< every thread permutes or repeats its registers
  Lanes,        ///< values move inside warps: see ShufflePlan
  SharedMemory, ///< values move between warps of a block
  Cluster,      ///< values move between blocks
};

/// Moves values inside a warp in rounds; in each, every lane sends one register
/// and receives one. All indices are xor-linear:
///
///   lane l receives from lane   laneXor ^ laneMap l ^ laneMapRest rest
///   and stores the value in     dstReg ^ dstSelect l
///   lane s sends its register   srcReg ^ srcSelect s ^ srcSelectRest rest
///
/// where `rest` is the warp and above it the block of the thread, and registers
/// are counted without copies. Apply removeBroadcastedRegisters(src) to the
/// values first, and broadcastRegisters(.., dst) to the result. The selects are
/// the same in all rounds, so that they can be done for all registers at once,
/// one conditional swap stage for each bit of their rank.
struct ShufflePlan {
  struct Round {
    uint64_t srcReg, dstReg, laneXor;
  };
  llvm::SmallVector<Round> rounds;
  F2Matrix laneMap, laneMapRest;
  F2Matrix dstSelect;
  F2Matrix srcSelect, srcSelectRest;

  /// The first `numKeptDstRegs` registers are the result; the others, if any,
  /// receive values that nobody needs.
  unsigned numSrcRegs = 1, numDstRegs = 1, numKeptDstRegs = 1;

  /// True if the lanes of the round keep their own value: no shuffle.
  bool staysInLane(const Round &round) const;
  /// True if every lane reads lane l ^ round.laneXor (shfl.bfly).
  bool isButterfly() const;
  unsigned getNumShuffles() const;
  /// Conditional moves: for each stage one a register.
  unsigned getNumSelects() const;

  uint64_t sourceLane(const Round &round, uint64_t lane, uint64_t rest) const {
    return round.laneXor ^ laneMap.apply(lane) ^ laneMapRest.apply(rest);
  }
  uint64_t sourceRegister(const Round &round, uint64_t sourceLane,
                          uint64_t rest) const {
    return round.srcReg ^ srcSelect.apply(sourceLane) ^
           srcSelectRest.apply(rest);
  }
  uint64_t destRegister(const Round &round, uint64_t lane) const {
    return round.dstReg ^ dstSelect.apply(lane);
  }

  /// Register bits of dst that are register bits of src and that no select
  /// touches: (dst bit, src bit). Values that differ only there move together,
  /// so that narrow elements can share a 32-bit shuffle.
  llvm::SmallVector<std::pair<unsigned, unsigned>> getPackableBits() const;

  /// For getPackableBits: register bits of src and dst by round.
  F2Matrix srcRegOfDstReg, laneOfDstReg;
};

struct LayoutConversion {
  ConversionKind kind;
  /// (register, lane, warp, block) of dst -> the place in src to read from; it
  /// stays inside the part of the machine that `kind` says.
  LinearLayout map;
  /// kind <= Registers: for each register of dst, that of src.
  llvm::SmallVector<unsigned> registerMap;
  /// kind == Lanes.
  std::optional<ShufflePlan> shuffles;
};

/// `src` and `dst` are layouts from (register, lane, warp, block) to the same
/// dims, both surjective, with equally many lanes, warps and blocks.
LayoutConversion decomposeConversion(const LinearLayout &src,
                                     const LinearLayout &dst);

} // namespace mlir::triton

#endif // TILE_LAYOUT_LAYOUTCONVERSION_H
