//===-- Rings.h - Buffers between the warps of a loop -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_LIB_TRITONGPU_WARPSPECIALIZATION_RINGS_H
#define TILE_LIB_TRITONGPU_WARPSPECIALIZATION_RINGS_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tile/Analysis/AxisInfo.h"
#include "tile/Dialect/TritonGPU/Transforms/CopyStrategy.h"
#include "tile/Dialect/TritonGPU/Transforms/RingBarriers.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::triton::gpu {

struct RingLoad {
  Operation *load = nullptr;
  const CopyStrategy *strategy = nullptr;
  unsigned contiguity = 1;

  RankedTensorType getType() const {
    return cast<RankedTensorType>(load->getResult(0).getType());
  }
};

/// Loads of one loop whose buffers are filled and freed together.
struct Ring {
  SmallVector<RingLoad> loads;
  /// One array of buffers for each load.
  SmallVector<Value> buffers;
  /// Arrays of barriers.
  Value full, empty;

  bool hasBulkCopies() const;
  bool hasThreadCopies() const;
  /// Whether blocks of a cluster fill each other's buffers.
  bool isShared(const RingBarriers &barriers) const;
  /// What the bulk copies of one filling bring to a block.
  int64_t countBulkBytes() const;
};

/// The place in the rings of a loop, as the loop carries it.
struct Position {
  Value stage, phase;
};

/// A loop that loads, innermost in its nest, and its rings, which are all at
/// the same place.
class RingLoop {
public:
  RingLoop(scf::ForOp loop, const RingBarriers &barriers,
           const ModuleAxisInfoAnalysis &axisInfo);

  /// The loop that now has the loads.
  scf::ForOp getLoop() const {
    return rings.front().loads.front().load->getParentOfType<scf::ForOp>();
  }

  SmallVector<Operation *> getLoads() const;
  /// Whether one set of buffers serves both, one after the other.
  bool canShareWith(const RingLoop &other) const;

  SmallVector<Ring> rings;
  int32_t numStages;
  /// Whether it, or a loop in it, has dots that run beside the threads: these
  /// hand buffers back, too.
  bool hasProductsBeside;
};

/// The types of the tensors and the layouts of the buffers of loads of `loop`.
SmallVector<std::pair<Type, Attribute>>
getBufferTypes(ArrayRef<Operation *> loads, scf::ForOp loop);

/// Makes `root` and the loops in it that lead to `loads` carry a position in
/// rings of `numStages` buffers, which every iteration of the innermost ones
/// moves on. Returns, for each load, the place of the position among the
/// arguments of its loop.
llvm::DenseMap<Operation *, unsigned>
carryPosition(scf::ForOp &root, ArrayRef<Operation *> loads, int32_t numStages);

/// The position in the rings that a loop carries from argument `first` on.
Position getPosition(scf::ForOp loop, unsigned first);

/// The position after `at`.
Position getPositionAfter(OpBuilder &builder, Location loc, Position at,
                          int32_t numStages);

/// The stage before `stage`.
Value getStageBefore(OpBuilder &builder, Location loc, Value stage,
                     int32_t numStages);

} // namespace mlir::triton::gpu

#endif // TILE_LIB_TRITONGPU_WARPSPECIALIZATION_RINGS_H
