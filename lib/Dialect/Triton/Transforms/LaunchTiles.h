//===-- LaunchTiles.h - Tiles of tensors that launches know ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A tile of a matrix may begin where each program says. A launch can make its
// descriptor all the same, if what programs say are coordinates in a tensor
// that arguments of the kernel describe:
//
//   base + program * distance + (row + i) * stride + (column + j)
//
// Then `distance` is the stride of another dimension, and `program` is the
// coordinate along it.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_DIALECT_TRITON_TRANSFORMS_LAUNCHTILES_H
#define TILE_LIB_DIALECT_TRITON_TRANSFORMS_LAUNCHTILES_H

#include "MatrixTiles.h"

namespace mlir::triton {

/// How a launch describes the tensor of a tile. Everything but coordinates is
/// of arguments alone.
struct LaunchTile {
  /// Coordinates of programs are less.
  static constexpr int64_t kAxisSize = INT32_MAX;

  struct Axis {
    Value coordinate;
    Polynomial stride; ///< in elements
  };
  /// In front of rows and columns.
  SmallVector<Axis> axes;
  Polynomial offset; ///< of the tensor's first element, from the base
  /// Of rows, and of columns: where the first tile begins, and the size. What
  /// is no i32 the launch refuses.
  Polynomial starts[2];
  TileLimit sizes[2];
  /// Coordinates can say no more iterations, which the loop may have.
  std::optional<int64_t> mostIterations;
};

/// What is in the way of that; nothing where `result` says how.
std::string findLaunchTile(const MatrixTile &tile, MatrixTileAnalysis &analysis,
                           LaunchTile &result);

} // namespace mlir::triton

#endif // TILE_LIB_DIALECT_TRITON_TRANSFORMS_LAUNCHTILES_H
