//===-- LaneFacts.h - What is known of lanes, beside their values ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// For instructions that move values between lanes, and take along what is known
// of each: the registers that they name do not tell which lane goes where.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "Origins.h"

#include <array>

namespace tile::sim::amdgcn {

/// Of an operand of one register, or of what is to be written to one.
struct LaneFacts {
  /// A constant: has a value, and comes from nowhere.
  uint64_t known = ~uint64_t(0);
  std::array<Origin, Origins::lanes> origins{};

  LaneFacts() = default;
  LaneFacts(const Ctx &c, uint32_t slot);
  /// A lane gets what is known of another one.
  void take(unsigned lane, const LaneFacts &from, unsigned of);
  /// Of these lanes of a register.
  void write(const Ctx &c, uint32_t slot, uint64_t lanes) const;
};

/// Does anybody want to know?
inline bool keepsFacts(const Ctx &c) {
  return (c.checks & CheckUninitialized) || c.launch->disjoint;
}

} // namespace tile::sim::amdgcn
