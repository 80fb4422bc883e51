//===-- Rates.h - What parts of a multiprocessor do in a cycle --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The rates of the model of time. The simulator computes with them what a
// launch takes (CostModel.cpp, Timeline.cpp). Passes compare two ways to
// compile a kernel by them (DotCost.cpp). So both believe the same.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RULES_RATES_H
#define TILE_RULES_RATES_H

#include <cstdint>

namespace tile::rates {

/// Banks of shared memory. Each serves a word in a cycle.
inline constexpr uint32_t sharedBanks = 32;
inline constexpr int64_t sharedBytes = sharedBanks * 4;
/// A warp moves a column of its 32 lanes of tensor memory in a cycle. Nobody
/// has published this: it is assumed.
inline constexpr int64_t tensorMemoryBytes = 512;
/// From the L2 cache.
inline constexpr int64_t cacheBytes = 64;

/// Lanes of the units for special functions, such as powers of two.
inline constexpr int64_t specialLanes = 16;

/// From the start of a copy of global memory to its arrival. Assumed.
inline constexpr int64_t copyLatency = 600;

/// What one instruction for tensor memory multiplies: rows, and bytes of a row.
inline constexpr int64_t productRows = 128, productBytes = 32;
/// That tensor cores are busy with one instruction for a warp group (64 rows)
/// or a CTA (128 rows) of n columns, whatever the type. Fewer rows take as
/// long.
constexpr uint64_t productCycles(uint64_t n) { return n < 2 ? 1 : n / 2; }

} // namespace tile::rates

#endif // TILE_RULES_RATES_H
