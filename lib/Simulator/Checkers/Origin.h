//===-- Origin.h - The argument that a value comes from --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#pragma once

#include "tile/Simulator/Report.h"

#include <cstdint>

namespace tile::sim {

/// The argument that a value was computed from: from 1 on, its number in the
/// DisjointChecker.
using Origin = uint8_t;
inline constexpr Origin noOrigin = 0, unknownOrigin = 255;

/// That of a value computed from two: a sum of an argument and a number still
/// comes from the argument.
constexpr Origin joined(Origin a, Origin b) {
  return b == noOrigin || a == b ? a : a == noOrigin ? b : unknownOrigin;
}

/// Whether results of such instructions are computed from the registers that
/// they read, and not from memory; floats are no addresses.
constexpr bool passesOrigins(Class cls) {
  switch (cls) {
  case Class::Integer:
  case Class::Logic:
  case Class::Move:
  case Class::Convert:
  case Class::Collective:
    return true;
  default:
    return false;
  }
}

} // namespace tile::sim
