//===-- SaturatedSums.h - Sums that `clamp` keeps in range ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#pragma once

#include "VectorLanes.h"

#include <limits>

namespace tile::sim::amdgcn {

/// Sums that stop at the ends of their range, which `clamp` asks for.
template <class T> T addSaturated(T a, T b) {
  T r;
  if (!__builtin_add_overflow(a, b, &r))
    return r;
  return std::is_signed_v<T> && b < 0 ? std::numeric_limits<T>::min()
                                      : std::numeric_limits<T>::max();
}
template <class T> T subSaturated(T a, T b) {
  T r;
  if (!__builtin_sub_overflow(a, b, &r))
    return r;
  return std::is_signed_v<T> && b < 0 ? std::numeric_limits<T>::max()
                                      : std::numeric_limits<T>::min();
}
template <class T> T subSaturatedReversed(T a, T b) {
  return subSaturated(b, a);
}

/// Whether the sum of the instruction has `clamp`, which says that instead of
/// keeping a float between 0 and 1.
inline bool takeSaturation(InstDecoder &d) {
  for (const Modifier &m : d.in->modifiers)
    d.saturates |= m.name == "clamp";
  return d.saturates;
}

} // namespace tile::sim::amdgcn
