//===-- LaneFacts.cpp - What is known of lanes, beside their values -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "LaneFacts.h"

#include <algorithm>
#include <bit>

using namespace tile::sim;
using namespace tile::sim::amdgcn;

LaneFacts::LaneFacts(const Ctx &c, uint32_t slot) {
  if (slot == NoSlot || (slot & ConstBit))
    return;
  const WaveProgram &p = programOf(c);
  const Origins all(*c.frame);
  uint32_t reg = registerOf(p, slot);
  if (reg < FirstVector) {
    // Of a mask, it is enough if some of its lanes were written.
    known = waveOf(c).known[reg] ? ~uint64_t(0) : 0;
    if (c.launch->disjoint)
      origins.fill(all.ofScalar(reg));
    return;
  }
  known = definedLanes(c, p, reg - FirstVector);
  if (c.launch->disjoint)
    std::copy_n(all.ofVector(reg), Origins::lanes, origins.begin());
}

void LaneFacts::take(unsigned lane, const LaneFacts &from, unsigned of) {
  uint64_t bit = uint64_t(1) << lane;
  known = (known & ~bit) | (from.known >> of & 1) << lane;
  origins[lane] = from.origins[of];
}

void LaneFacts::write(const Ctx &c, uint32_t slot, uint64_t lanes) const {
  const WaveProgram &p = programOf(c);
  const Origins all(*c.frame);
  uint32_t reg = registerOf(p, slot);
  if (reg < FirstVector) {
    waveOf(c).define(reg, known & 1);
    if (c.launch->disjoint)
      all.ofScalar(reg) = origins[0];
    return;
  }
  uint64_t &defined = definedLanes(c, p, reg - FirstVector);
  defined = (defined & ~lanes) | (known & lanes);
  forgetParts(c, p, reg - FirstVector, lanes);
  for (uint64_t m = c.launch->disjoint ? lanes : 0; m; m &= m - 1) {
    auto l = unsigned(std::countr_zero(m));
    all.ofVector(reg)[l] = origins[l];
  }
}
