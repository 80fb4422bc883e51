//===-- Mbarrier.h - The state of an mbarrier object ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#pragma once

#include "Machine.h"

namespace tile::sim {

/// The 64-bit object in shared memory. The top bit marks a valid one, so that
/// uninitialized memory is noticed.
struct MbarrierState {
  uint32_t phase = 0;       ///< parity of the running phase
  uint32_t expected = 0;    ///< arrivals of a phase
  uint32_t pending = 0;     ///< arrivals that the running phase still waits for
  int32_t transactions = 0; ///< bytes that the running phase still waits for

  static constexpr uint32_t maxCount = (1u << 20) - 1;
  static constexpr int32_t maxTransactions = (1 << 20) - 1;
  uint64_t pack() const {
    return uint64_t(1) << 63 |
           uint64_t(uint32_t(transactions) & 0x1fffff) << 41 |
           uint64_t(pending) << 21 | uint64_t(expected) << 1 | phase;
  }
  static bool isValid(uint64_t bits) { return bits >> 63; }
  static MbarrierState unpack(uint64_t bits) {
    MbarrierState s;
    s.phase = bits & 1;
    s.expected = uint32_t(bits >> 1) & maxCount;
    s.pending = uint32_t(bits >> 21) & maxCount;
    s.transactions = int32_t(uint32_t(bits >> 41) << 11) >> 11;
    return s;
  }
};

/// What an operation does to the barrier, all at once.
struct MbarrierChange {
  uint32_t arrivals = 0;
  uint32_t drop = 0;
  uint32_t announce = 0; ///< arrivals that will come in addition
  int32_t expect = 0;    ///< bytes to wait for, added before the arrival
  int32_t complete = 0;  ///< bytes that have arrived
  bool byEngine = false; ///< not by the thread itself
  bool asyncProxy = false;
};

/// The object's state for people: phase, pending arrivals and bytes.
std::string describeMbarrier(const Cta &owner, uint32_t offset);

/// Changes the mbarrier at a shared address. Returns false after recording an
/// error.
bool changeMbarrier(Ctx &c, const Inst &inst, unsigned lane, uint64_t address,
                    const MbarrierChange &change, uint64_t *before);

} // namespace tile::sim
