//===-- SharedLoads.h - Loads from memory into LDS ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The simulator makes these loads when they are issued. The checker remembers
// that nobody may touch their bytes in LDS before the wave has waited for the
// counter: vmcnt, or asynccnt from gfx1250 on. For the checker, each load is a
// group of copies by the lanes of the wave.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "../Checkers/OrderChecker.h"
#include "VectorMemory.h"

namespace tile::sim::amdgcn {

/// The lanes of `exec` copy from their `address` to their `place` in LDS. Lanes
/// that are not `inside` write zeros.
template <class Address, class LDSAddress>
Step copyToShared(Ctx &c, const Inst &inst, uint64_t exec, uint64_t inside,
                  unsigned bytes, Address address, LDSAddress place) {
  alignas(16) std::byte data[64][16];
  std::memset(data, exec & ~inside ? undefinedByte(c, inst) : 0, sizeof data);
  bool good = accessLanes(c, inst, inside, Space::Global, bytes, Access::Load,
                          address, [&](unsigned l, const std::byte *from) {
                            std::memcpy(data[l], from, bytes);
                          });
  orderWave(c);
  if (!good)
    return Step::Error;
  for (uint64_t m = exec; m; m &= m - 1) {
    auto l = unsigned(std::countr_zero(m));
    Cta *owner;
    uint32_t offset;
    std::byte *host = sharedRange(c, inst, l % Lanes, place(l), bytes,
                                  "store of a load", owner, offset);
    if (!host)
      return Step::Error;
    if (c.checker)
      c.checker->asyncShared(
          c, inst, l % Lanes, *owner, offset, bytes,
          Event::Write | Event::Generic,
          c.checker->engineOf(EngineKind::Copy,
                              c.checker->threadOf(c, l % Lanes)));
    std::memcpy(host, data[l], bytes);
  }
  if (c.checker)
    c.checker->commit(c, EngineKind::Copy, FullMask);
  if (c.counting)
    c.worker->counters.sharedStoreBytes +=
        uint64_t(std::popcount(exec)) * bytes;
  return Step::Next;
}

/// Lanes write side by side, from M0 and the offset of the instruction on.
template <class Address>
Step loadToShared(Ctx &c, const Inst &inst, uint64_t exec, uint64_t inside,
                  unsigned bytes, Address address) {
  issueMemory(c, inst, Counter::Load, false);
  Wave &w = waveOf(c);
  w.sharedLoads[w.sharedLoadCount++ % std::size(w.sharedLoads)] =
      w.counters[size_t(Counter::Load)].issued;
  uint32_t base = w.scalar[M0];
  if (programOf(c).device.mostShared <= 65536)
    base &= 0xffff;
  return copyToShared(c, inst, exec, inside, bytes, address, [&](unsigned l) {
    return uint64_t(base) + uint64_t(inst.imm) + l * bytes;
  });
}

/// Does the target have such loads? They read M0.
inline bool canLoadToShared(InstDecoder &d, Data data) {
  bool wide = data == Data::B96 || data == Data::B128;
  if (!d.target().isGfx9() || (data != Data::B32 && !wide) ||
      (wide && d.target().name != "gfx950"))
    return d.error("loads of this size into LDS are not supported on " +
                   d.target().name);
  d.readScalar(M0, 1, Needed);
  return true;
}

/// All but the operations that are still under way are done.
inline void waitForSharedLoads(Ctx &c) {
  const Wave &w = waveOf(c);
  if (!w.sharedLoadCount || !c.checker)
    return;
  uint32_t completed = w.counters[size_t(Counter::Load)].completed, left = 0;
  for (uint32_t i = 0;
       i < std::min<uint32_t>(w.sharedLoadCount, std::size(w.sharedLoads)); ++i)
    left += w.sharedLoads[i] > completed;
  c.checker->waitGroups(c, EngineKind::Copy, FullMask, left);
  orderWave(c);
}

/// All but the last `left` copies of a counter of their own are done. Those of
/// tensors are known by what they write, and what they read.
inline void waitForCopies(Ctx &c, Counter counter, uint32_t left) {
  if (!c.checker)
    return;
  if (counter == Counter::Async) {
    c.checker->waitGroups(c, EngineKind::Copy, FullMask, left);
  } else {
    c.checker->waitGroups(c, EngineKind::BulkRead, FullMask, left);
    c.checker->waitGroups(c, EngineKind::BulkWrite, FullMask, left);
  }
  orderWave(c);
}

} // namespace tile::sim::amdgcn
