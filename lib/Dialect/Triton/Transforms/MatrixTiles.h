//===-- MatrixTiles.h - Loads of tiles of a matrix ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Which loads by pointers a copy engine could do: those whose addresses are
//
//   base + (row + i) * stride + (column + j)
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_DIALECT_TRITON_TRANSFORMS_MATRIXTILES_H
#define TILE_LIB_DIALECT_TRITON_TRANSFORMS_MATRIXTILES_H

#include "AffineForm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "tile/Analysis/AxisInfo.h"
#include "tile/Analysis/MemoryModel.h"
#include "tile/Analysis/ValueRanges.h"
#include "tile/Dialect/Triton/IR/Dialect.h"

namespace mlir::triton {

/// Elements of a tile that count, along one dimension: those before `end`.
struct TileLimit {
  bool isKnown = false;
  Polynomial end;
};

/// A load that can go through a descriptor.
struct MatrixTile {
  /// What copy engines take: addresses and strides are multiples of this many
  /// bytes, and so is where a bound cuts a row.
  static constexpr int64_t kAlignment = 16;
  /// The largest size of a matrix that is such a multiple for every element.
  static constexpr int64_t kMostSize = INT32_MAX / kAlignment * kAlignment;

  LoadOp load;
  Value base;
  Polynomial offset; ///< of the first tile, in elements
  Polynomial stride; ///< of rows
  unsigned fast;     ///< the dimension along which elements are neighbours
  /// Of rows, and of columns: by how much coordinates go on, as a factor on
  /// the progress of the loop, and the size of the matrix.
  int64_t factors[2] = {0, 0};
  TileLimit sizes[2];
  llvm::SmallSetVector<unsigned, 2> remainders;
  /// Coordinates can say no more iterations, which the loop may have.
  std::optional<int64_t> mostIterations;
};

/// Of the loads in a loop.
class MatrixTileAnalysis {
public:
  MatrixTileAnalysis(scf::ForOp loop, const ModuleAxisInfoAnalysis &axisInfo,
                     ValueRanges &ranges)
      : loop(loop), axisInfo(axisInfo), ranges(ranges), forms(loop),
        memory(loop, MemoryModel::Arguments::AssumedDisjoint) {}

  /// What is in the way of a load; nothing where `tile` describes it.
  std::string analyze(LoadOp load, MatrixTile &tile);

  const AffineForms &getForms() const { return forms; }
  bool isNonNegative(const Polynomial &value);
  /// Whether it is known to be a multiple of what copy engines take. It counts
  /// elements of so many bytes.
  bool isAligned(const Polynomial &elements, int64_t bytes) const;
  /// Where the counter of the loop begins, and where it ends.
  std::optional<Polynomial> getLowerBound();
  std::optional<Polynomial> getUpperBound();
  /// Whether the counter is never negative, nor more than an i32 says.
  bool isCounterCoordinate();
  /// The greatest number that a scalar may be, if that is known.
  std::optional<int64_t> getMost(Value value) { return ranges.getMost(value); }
  /// Which arguments were taken to be disjoint.
  ArrayRef<MemoryModel::ArgumentPair> getAssumptions() const {
    return memory.getAssumptions();
  }

private:
  std::string findOrderObstacle(LoadOp load);
  std::string findLimits(Value mask, SmallVectorImpl<TileLimit> &limits,
                         ArrayRef<int> dims);
  std::string findLimit(arith::CmpIOp compare,
                        SmallVectorImpl<TileLimit> &limits, ArrayRef<int> dims);
  std::string split(const AffineForm &form, ArrayRef<TileLimit> limits,
                    bool columnsFirst, MatrixTile &tile);
  std::string checkAlignment(const MatrixTile &tile);
  std::string checkSizes(MatrixTile &tile);

  int64_t getDivisor(Value value) const;
  int64_t getDivisor(const Polynomial &value) const;

  scf::ForOp loop;
  const ModuleAxisInfoAnalysis &axisInfo;
  ValueRanges &ranges;
  AffineForms forms;
  MemoryModel memory;
};

} // namespace mlir::triton

#endif // TILE_LIB_DIALECT_TRITON_TRANSFORMS_MATRIXTILES_H
