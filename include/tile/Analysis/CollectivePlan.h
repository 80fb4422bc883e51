//===-- CollectivePlan.h - How reductions and scans are lowered -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What the allocation and the lowering of tt.reduce and tt.scan must agree on:
// which bits of the layout run along the axis, and how partial results of warps
// lie in scratch memory. Both are read off the linear layout of the operand.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_ANALYSIS_COLLECTIVEPLAN_H
#define TILE_ANALYSIS_COLLECTIVEPLAN_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "tile/Layout/LinearLayout.h"
#include <string>

namespace mlir::triton {

class ReduceOp;
class ScanOp;

/// Bytes of an element of this type in shared memory.
int64_t getElementBytesInSharedMemory(Type element);

struct CollectivePlan {
  LinearLayout layout;
  unsigned axis = 0;
  StringRef axisDim;
  /// Bits of the register, lane, warp and block index that move along the axis.
  uint32_t registerBits = 0, laneBits = 0, warpBits = 0, blockBits = 0;
  /// Why the lowering cannot handle the layout; empty if it can.
  std::string unsupported;

  /// Scratch memory: for each operand a region that starts at `operandOffsets`.
  SmallVector<int64_t> operandOffsets;
  int64_t scratchSize = 0;

  unsigned getNumAxisWarps() const { return 1u << llvm::popcount(warpBits); }
  unsigned getNumAxisBlocks() const { return 1u << llvm::popcount(blockBits); }
  bool spansWarps() const { return warpBits | blockBits; }

  /// Finds the bits of `layout` that move along `axis`. Sets `unsupported` if
  /// one bit of a lane or a warp moves along the axis and across it at once.
  CollectivePlan(LinearLayout layout, unsigned axis);

protected:
  void allocate(ArrayRef<Type> elements, int64_t countPerOperand);
};

/// A reduction combines in one of two orders. A function that is known to be
/// commutative combines the registers of a thread first, then lanes. Any other
/// function combines elements in their order along the axis. It goes through
/// the bits of the coordinate from the lowest on. A bit may belong to a
/// register, a lane or a warp.
struct ReducePlan : CollectivePlan {
  explicit ReducePlan(ReduceOp op);

  /// For each operand the commutative operation that alone combines its
  /// elements; empty if the function is none of such operations.
  SmallVector<Operation *> combiners;
  bool isInOrder() const { return combiners.empty(); }

  struct Step {
    enum Kind {
      Registers, ///< Those that differ in `registerBit` are combined.
      Lanes,     ///< Those that differ in `laneBit` are combined.
      /// The same, where a lane has two registers that differ in `registerBit`.
      /// Each of two lanes takes over one of the two sums. From then on
      /// `laneBit` says which one. This takes half the exchanges that it would
      /// take to have both sums in both lanes.
      Trade
    };
    Kind kind;
    unsigned laneBit = 0, registerBit = 0;
  };
  /// The steps within a warp. Where the order may change, the registers of each
  /// thread have been combined before the first step.
  SmallVector<Step> steps;

  /// A bit that numbers partial results: those that are left after the steps.
  /// These are the bits of warps and blocks along the axis. Where the order
  /// counts, all higher bits of the coordinate belong to them.
  struct PartBit {
    StringRef inDim;
    unsigned bit;
  };
  SmallVector<PartBit> partBits;

  /// The offset of each thread's partial result in the scratch memory of its
  /// operand. The position of the result and the number of the part decide it.
  /// Of threads that differ in other bits, one stores.
  LinearLayout getStoreLayout() const;

  /// How the threads that hold a result read its parts. Threads that hold the
  /// same results share the work.
  struct SecondRound {
    /// To "offset" and, if parts are in several blocks, "block". The low
    /// register bits are parts, in their order; the others are results.
    LinearLayout layout;
    unsigned numRegisterBits = 0;
    /// The lane bits that the higher bits of the part's number are read by.
    SmallVector<Step> steps;
  };
  SecondRound getSecondRound(Type resultType) const;

  /// The bits of the lane index in which lanes that have the same results
  /// differ.
  uint32_t getSharingLanes(Type resultType) const;

private:
  /// Where results (of `resultType`, or a scalar) are, as offsets.
  LinearLayout getResultLayout(Type resultType) const;
  void planInOrder();
  void planInAnyOrder();
  /// The register bits that tell positions across the axis apart, and nothing
  /// else; none if others do so, too.
  SmallVector<unsigned> findRegistersAcross() const;
  unsigned getNumOwnPartBits() const;
  void orderScratch(int64_t elementBytes);
  int32_t getOffset(int32_t position, int32_t part) const;

  /// 32-bit registers that one element of all operands takes.
  unsigned wordsPerElement = 0;
  /// Whether neighbours in scratch memory are parts of one result. If not, they
  /// are the same part of several results.
  bool partsAreNeighbours = true;
  /// What a bit of the position across the axis adds to the offset, and a bit
  /// of the number of a part of this block.
  SmallVector<int32_t> positionOffsets, partOffsets;
};

struct ScanPlan : CollectivePlan {
  explicit ScanPlan(ScanOp op);
  /// Of the same scan of inputs in another layout.
  ScanPlan(ScanOp op, LinearLayout layoutOfInputs);

  /// Register bits along the axis below the bits of lanes and warps: a thread
  /// holds neighbours. And register bits above them: the pattern of threads
  /// repeats.
  uint32_t lowRegisterBits = 0, highRegisterBits = 0;

  /// The offset of a warp's total in scratch memory. Of threads that differ
  /// only in lanes along the axis, one stores.
  LinearLayout getStoreLayout() const;
  /// The same with one more register dimension in front, over the warps along
  /// the axis, in place of the warp's own bits.
  LinearLayout getLoadLayout() const;

private:
  /// What a bit adds to the offset: a bit of the position across the axis, of
  /// the warp along the axis, and of the repetition.
  SmallVector<int32_t> positionOffsets, warpOffsets, repetitionOffsets;

  /// Gives each of these bits its place in the offset.
  void orderScratch(int64_t elementBytes);
};

} // namespace mlir::triton

#endif // TILE_ANALYSIS_COLLECTIVEPLAN_H
