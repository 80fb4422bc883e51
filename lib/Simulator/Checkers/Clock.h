//===-- Clock.h - What a thread knows to have happened --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Happens-before with vector clocks. Every warp counts time; it passes whenever
// one of its lanes publishes what it did. Lanes that synchronize together are
// known together, so a clock has one entry for a warp, and entries for single
// lanes only where they are known better than their warp. Asynchronous work is
// done by engines, which count their groups or transfers.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

namespace tile::sim {

struct Clock {
  std::vector<uint32_t> warps;   ///< all lanes of a warp up to this time
  std::vector<uint32_t> lanes;   ///< by thread of the cluster; may be empty
  std::vector<uint32_t> engines; ///< work of an engine that is complete

  static uint32_t at(const std::vector<uint32_t> &v, size_t i) {
    return i < v.size() ? v[i] : 0;
  }
  static void raise(std::vector<uint32_t> &v, size_t i, uint32_t time) {
    if (i >= v.size())
      v.resize(i + 1);
    v[i] = std::max(v[i], time);
  }
  static void join(std::vector<uint32_t> &v, const std::vector<uint32_t> &o) {
    if (v.size() < o.size())
      v.resize(o.size());
    for (size_t i = 0; i < o.size(); ++i)
      v[i] = std::max(v[i], o[i]);
  }
  static bool covers(const std::vector<uint32_t> &v,
                     const std::vector<uint32_t> &o) {
    for (size_t i = 0; i < o.size(); ++i)
      if (o[i] > at(v, i))
        return false;
    return true;
  }

  void join(const Clock &o) {
    join(warps, o.warps);
    join(lanes, o.lanes);
    join(engines, o.engines);
  }
  bool isEmpty() const {
    return warps.empty() && lanes.empty() && engines.empty();
  }
  bool covers(const Clock &o) const {
    if (!covers(warps, o.warps) || !covers(engines, o.engines))
      return false;
    for (size_t i = 0; i < o.lanes.size(); ++i)
      if (o.lanes[i] > std::max(at(lanes, i), at(warps, i / 32)))
        return false;
    return true;
  }
  bool knowsLane(uint32_t warp, unsigned lane, uint32_t time) const {
    return at(warps, warp) >= time || at(lanes, warp * 32 + lane) >= time;
  }
  /// Are the accesses of these lanes of a warp up to `time` known?
  bool knows(uint32_t warp, uint32_t mask, uint32_t time) const {
    if (at(warps, warp) >= time)
      return true;
    if (lanes.empty())
      return mask == 0;
    for (; mask; mask &= mask - 1)
      if (at(lanes, warp * 32 + std::countr_zero(mask)) < time)
        return false;
    return true;
  }
  bool knowsEngine(uint32_t engine, uint32_t time) const {
    return at(engines, engine) >= time;
  }
  /// Lanes `mask` of a warp whose live lanes are `live` are known up to `time`.
  void learn(uint32_t warp, uint32_t mask, uint32_t live, uint32_t time) {
    if ((live & ~mask) == 0) {
      raise(warps, warp, time);
      return;
    }
    for (; mask; mask &= mask - 1)
      raise(lanes, warp * 32 + std::countr_zero(mask), time);
  }
  /// What both know.
  void meet(const Clock &o);
};

/// Publications of other clusters that are known: by cluster, how many.
using Foreign = std::vector<uint32_t>;

/// What travels from a release to an acquire.
struct Knowledge {
  Clock clock;
  /// Of that, what is visible to the asynchronous proxy, by memory.
  Clock sharedFenced, globalFenced;
  /// Of that, what copies see of their tensor maps.
  Clock mapFenced;
  /// Initializations of mbarriers that a fence.mbarrier_init made visible.
  Clock inits;
  /// What precedes a fence.sc: a strong store passes it on, whoever made the
  /// fence.
  Clock ordered;
  std::shared_ptr<const Foreign> foreign, foreignFenced, foreignOrdered;

  void join(const Knowledge &o);
  bool covers(const Knowledge &o) const;
  void meet(const Knowledge &o);
};

/// Joins vectors that are shared and never change.
void joinForeign(std::shared_ptr<const Foreign> &into,
                 const std::shared_ptr<const Foreign> &from);

} // namespace tile::sim
