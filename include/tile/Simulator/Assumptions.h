//===-- Assumptions.h - What no public text says of tensor memory ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Where the manual leaves something open, or texts disagree, the simulator does
// one thing, and the other one if LaunchConfig::assumptions names it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>
#include <string_view>

namespace tile::sim {

enum Assumption : uint32_t {
  /// Work that a thread has waited for needs tcgen05.fence as well before
  /// another thread may build on it. Else an mbarrier's wait, or a barrier
  /// behind tcgen05.wait, is enough.
  AssumeTensorFences = 1,
  /// tcgen05.cp overwrites what an earlier tcgen05.mma of its thread reads, or
  /// another copy writes, unless that was waited for. Else it comes later by
  /// itself.
  AssumeTensorCopiesWait = 2,
  /// tcgen05.shift gives lane i + 1 what lane i has. Else the reverse.
  AssumeShiftUp = 4,
  /// Of a lane mask of eight words, the first four are the odd CTA's. Else the
  /// even one's.
  AssumeMaskOddFirst = 8,
  /// A narrow element in a byte of tensor memory has the lowest bits of it.
  /// Else e2m1 has bits 5 to 2, as in registers.
  AssumeLowBits = 16,
  /// Scale factors of B for two CTAs of 64 rows lie as for others. Else the
  /// upper half of the columns has its factors in lanes 64 to 127.
  AssumeScalesTogether = 32,
  /// Of scale factors in two words (K = 96), both words of 32 rows are
  /// neighbours. Else the second words of all rows follow the first ones.
  AssumeK96ScalesInterleaved = 64,
  /// K = 96 is for pairs of CTAs alone. Else for one of 128 rows, too.
  AssumeK96PairsOnly = 128,
  /// .ashift moves rows across all lanes. Else within each 32 lanes, as
  /// tcgen05.shift does.
  AssumeAShiftAllLanes = 256,
};

struct AssumptionName {
  Assumption bit;
  std::string_view name;
};
inline constexpr AssumptionName assumptionNames[] = {
    {AssumeTensorFences, "tensor-fences"},
    {AssumeTensorCopiesWait, "tensor-copies-wait"},
    {AssumeShiftUp, "shift-up"},
    {AssumeMaskOddFirst, "mask-odd-first"},
    {AssumeLowBits, "low-bits"},
    {AssumeScalesTogether, "scales-together"},
    {AssumeK96ScalesInterleaved, "k96-scales-interleaved"},
    {AssumeK96PairsOnly, "k96-pairs-only"},
    {AssumeAShiftAllLanes, "ashift-all-lanes"}};

} // namespace tile::sim
