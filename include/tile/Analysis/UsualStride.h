//===-- UsualStride.h - How far apart neighbours usually are ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Axis info says what holds for all neighbours. To choose between layouts, it
// is enough to know what holds for most of them. A remainder such as `i % 784`
// goes up by one nearly everywhere. A quotient such as `i / 784` stays as it
// is.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_ANALYSIS_USUALSTRIDE_H
#define TILE_ANALYSIS_USUALSTRIDE_H

#include "mlir/IR/Value.h"
#include "mlir/Support/LLVM.h"

namespace mlir::triton {

/// By how much `value` goes up from an element to the next along `axis`: a
/// tensor of integers, or of pointers, in elements of what they point to. This
/// holds wherever no remainder starts again and no quotient goes up. None if it
/// isn't known.
std::optional<int64_t> getUsualStride(Value value, unsigned axis);

} // namespace mlir::triton

#endif // TILE_ANALYSIS_USUALSTRIDE_H
