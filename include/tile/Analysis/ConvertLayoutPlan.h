//===-- ConvertLayoutPlan.h - The route of a layout conversion --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The cheapest way to move a tensor from one distributed layout to another:
// nothing but renaming registers, exchanges inside the warp, or a round trip
// through shared memory. The allocation asks for the scratch size, the lowering
// for the rest.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_ANALYSIS_CONVERTLAYOUTPLAN_H
#define TILE_ANALYSIS_CONVERTLAYOUTPLAN_H

#include "mlir/IR/BuiltinTypes.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Layout/BankGeometry.h"
#include "tile/Layout/LayoutConversion.h"
#include "tile/Layout/LinearLayout.h"
#include "tile/Layout/SharedMemory.h"
#include "tile/Support/AttributeNames.h"

namespace mlir::triton {

/// The register of `source` that holds what register r of `result` needs, where
/// both layouts have the same out dims and an element stays in its thread.
/// Nullopt if some element would have to move to another thread.
std::optional<SmallVector<int32_t>>
getRegisterSources(const LinearLayout &source, const LinearLayout &result);

/// Beyond this, a conversion goes through shared memory in several turns, as
/// far as its layouts allow. The time for more barriers is small against that
/// for so many elements, and less memory lets more blocks run at once. The
/// allocation may ask for another size.
inline constexpr int64_t kDefaultTurnBytes = 32 * 1024;

struct ConvertLayoutPlan {
  /// Cluster: through shared memory, from which other blocks read, too.
  enum class Route { Registers, Shuffle, SharedMemory, Cluster };
  Route route;
  LinearLayout source, result;
  /// Registers: for each register of the result, that of the source.
  SmallVector<int32_t> registerSources;
  /// Shuffle: the rounds.
  std::optional<ShufflePlan> shuffles;
  /// SharedMemory: (offset in elements, repetition, block) -> tensor
  /// coordinates. Each repetition uses the same memory.
  /// Cluster: (offset in elements, block) -> tensor coordinates.
  LinearLayout shared;
  int64_t scratchSize = 0;

  ConvertLayoutPlan(RankedTensorType sourceType, RankedTensorType resultType,
                    BankGeometry banks, int64_t turnBytes = kDefaultTurnBytes);
  /// The route of `op`, as it and its target say.
  static ConvertLayoutPlan of(gpu::ConvertLayoutOp op);

  /// Whether it goes through shared memory in several turns.
  bool takesTurns() const {
    return route == Route::SharedMemory && shared.getInDimSize(kRepetition) > 1;
  }
};

} // namespace mlir::triton

#endif // TILE_ANALYSIS_CONVERTLAYOUTPLAN_H
