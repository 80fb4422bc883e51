//===-- MaskTrend.h - How a mask goes along neighbours ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Most masks compare indices with a bound: `i < n`. Along the index such a mask
// is true up to the bound and false behind it. So the last of some neighbours
// tells whether the mask holds for all of them.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_ANALYSIS_MASKTREND_H
#define TILE_ANALYSIS_MASKTREND_H

#include "mlir/IR/Value.h"
#include "mlir/Support/LLVM.h"

namespace mlir::triton {

class ModuleAxisInfoAnalysis;

/// What holds in every aligned group of neighbours along an axis. Each of the
/// first three is a special case of `Interval`.
enum class MaskTrend {
  /// All elements are equal.
  Constant,
  /// No true element follows a false one: `i < n`.
  Falling,
  /// No false element follows a true one: `i >= n`.
  Rising,
  /// The true elements are neighbours: `low <= i & i < high`.
  Interval,
  /// Nothing is known.
  Unknown
};

/// The trend of `mask`, a tensor of i1, in aligned groups of `length`
/// neighbours along `axis`. `length` is a power of two.
MaskTrend getMaskTrend(const ModuleAxisInfoAnalysis &axisInfo, Value mask,
                       unsigned axis, int64_t length);

/// How many of `length` registers in a row one asynchronous copy may fill. Such
/// a copy may read fewer bytes than it writes. Zeros are in place of the
/// others. So `mask` (null if there is none) may end inside of what is copied.
/// Then `other`, which is wanted in place of what the mask leaves out, must be
/// zero (null if anything will do).
unsigned getCopiedNeighbours(const ModuleAxisInfoAnalysis &axisInfo,
                             unsigned length, Value mask, Value other);

} // namespace mlir::triton

#endif // TILE_ANALYSIS_MASKTREND_H
