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

  /// Finds the bits of `layout` along `axis`; sets `unsupported` where a lane
  /// or warp bit moves along the axis and across it at once.
  CollectivePlan(LinearLayout layout, unsigned axis);

protected:
  void allocate(ArrayRef<Type> elements, int64_t countPerOperand);
};

struct ReducePlan : CollectivePlan {
  explicit ReducePlan(ReduceOp op);

  /// Where each thread's partial result goes in its operand's region: the
  /// position of the result, then the warp along the axis. Bits along the axis
  /// inside a warp are free.
  LinearLayout getStoreLayout() const;
  /// How the threads that hold a result (of `resultType`, or a scalar) read its
  /// partial results: the low register bits run over the warps, and the next
  /// ones over the blocks along the axis, if there are several; in that case
  /// the out dim "block" says whose memory to read.
  LinearLayout getLoadLayout(Type resultType) const;
};

struct ScanPlan : CollectivePlan {
  explicit ScanPlan(ScanOp op);

  /// Register bits along the axis below those of the lanes and warps: a thread
  /// holds neighbours. And above them: the pattern of threads repeats.
  uint32_t lowRegisterBits = 0, highRegisterBits = 0;

  /// Where the total of a warp goes: warp along the axis, then repetition, then
  /// position across the axis. All other bits are free.
  LinearLayout getStoreLayout() const;
  /// The same with one more register dimension in front, over the warps along
  /// the axis, in place of the warp's own bits.
  LinearLayout getLoadLayout() const;
};

} // namespace mlir::triton

#endif // TILE_ANALYSIS_COLLECTIVEPLAN_H
