//===-- GatherPlan.h - How a gather is lowered ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_ANALYSIS_GATHERPLAN_H
#define TILE_ANALYSIS_GATHERPLAN_H

#include "mlir/IR/Operation.h"
#include "tile/Layout/LinearLayout.h"
#include <optional>

namespace mlir::triton {

class GatherOp;

struct GatherPlan {
  /// The in dim for an index along the axis.
  static constexpr llvm::StringLiteral kAxisValue = "axis";

  /// Set if every warp holds the elements that its indices may select, and if
  /// shuffles are not slower than shared memory. It maps (register, lane, warp
  /// and block of an index, value of the index) to (register, lane) of the
  /// source.
  std::optional<LinearLayout> inWarp;
  /// Otherwise a row-major copy of the source.
  int64_t scratchSize = 0;

  explicit GatherPlan(GatherOp op);

  /// The registers of the source that an element may be in. The register of its
  /// index gives one of them; these are the differences (xor) from that one.
  SmallVector<int32_t> getCandidates() const;
};

} // namespace mlir::triton

#endif // TILE_ANALYSIS_GATHERPLAN_H
