//===-- SharedChecker.h - Races and initialization of shared memory -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Happens-before with vector clocks, one component per agent: a warp, or an
// asynchronous engine (the copies and matrix reads of one warp, the transfers
// that one mbarrier completes). Barriers join the clocks of who takes part;
// each 4-byte word of shared memory remembers its last write and last reads.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "../Machine.h"
#include "../Memory.h"

#include <map>

namespace tile::sim {

using Clock = std::vector<uint32_t>;

/// An access that a word remembers.
struct Event {
  uint32_t agent = 0;
  uint32_t time = 0; ///< 0: no event
  uint32_t inst = 0; ///< the instruction, as SharedChecker::site numbers it
  uint16_t warp = 0;
  uint8_t lane = 0;
  uint8_t bytes = 0; ///< mask of the word's bytes, and AtomicBit
  static constexpr uint8_t AtomicBit = 0x80;
};

struct Word {
  Event write;
  Event read;          ///< the latest read
  Event otherRead;     ///< a read by another agent, if there are several
  uint8_t written = 0; ///< bytes that somebody initialized
};

class SharedChecker {
public:
  SharedChecker(const Launch &launch, const Cluster &cluster);

  void access(Ctx &c, const Inst &inst, unsigned lane, Cta &owner,
              uint32_t offset, uint32_t bytes, Access kind);
  /// The lanes of `mask`, all within `owner`; `address` holds one for each
  /// lane.
  void access(Ctx &c, const Inst &inst, uint32_t mask, Cta &owner,
              const uint64_t *address, uint32_t bytes, Access kind);
  /// Accesses of asynchronous engines: `agent` as given by one of the functions
  /// below.
  void asyncAccess(Ctx &c, const Inst &inst, unsigned lane, Cta &owner,
                   uint32_t offset, uint32_t bytes, bool write, uint32_t agent,
                   bool proxy);

  void warpSync(Ctx &c, uint32_t mask);
  void barrierArrive(Cta &cta, Warp &warp, unsigned number);
  void barrierWait(Cta &cta, Warp &warp, unsigned number);
  void barrierDone(Cta &cta, unsigned number);
  void clusterArrive(Cta &cta, Warp &warp);
  void clusterBarrier(Cluster &cluster);
  void proxyFence(Cta &cta, Warp &warp);

  /// Release and acquire through a word of shared memory (mbarriers, atomics).
  void release(Cta &cta, Warp &warp, Cta &owner, uint32_t offset);
  void acquire(Cta &cta, Warp &warp, Cta &owner, uint32_t offset);

  /// Agents of asynchronous work, and their completion.
  uint32_t copyAgent(const Cta &cta, const Warp &warp) const;
  uint32_t wgmmaAgent(const Cta &cta, const Warp &warp) const;
  uint32_t bulkAgent(const Cta &cta, const Warp &warp) const;
  uint32_t transferAgent(Cta &owner, uint32_t offset); ///< of an mbarrier
  uint32_t now(uint32_t agent) const { return agentTime[agent]; }
  void tick(uint32_t agent) { ++agentTime[agent]; }
  /// The warp knows everything the agent did up to `time`.
  void completed(Cta &cta, Warp &warp, uint32_t agent, uint32_t time);
  /// Whoever waits on the mbarrier knows what the agent did up to `time`.
  void completesOn(Cta &owner, uint32_t offset, uint32_t agent, uint32_t time);
  void markWritten(Cta &owner, uint32_t offset, uint32_t bytes);

private:
  uint32_t warpAgent(const Cta &cta, uint32_t warp) const {
    return cta.rank * warps + warp;
  }
  static void join(Clock &into, const Clock &from);
  static uint32_t at(const Clock &clock, uint32_t agent) {
    return agent < clock.size() ? clock[agent] : 0;
  }
  static void raise(Clock &clock, uint32_t agent, uint32_t time);
  bool ordered(const Clock &clock, const Event &event) const {
    return at(clock, event.agent) >= event.time;
  }
  void report(Ctx &c, const Inst &inst, unsigned lane, uint32_t offset,
              const Event &event, bool write, bool eventWrote, const char *why,
              bool proxy = false);
  uint32_t site(const Ctx &c, const Inst &inst) const;
  std::pair<const Code *, const Inst *> siteOf(uint32_t site) const;
  void lane(Ctx &c, const Inst &inst, Event self, bool ordered, Cta &owner,
            uint32_t offset, uint32_t size, Access kind);

  unsigned checks;
  uint32_t warps, clusterSize;
  uint32_t bytes;
  std::vector<std::vector<Word>> words; ///< by CTA rank
  std::vector<Clock> clocks, fenced; ///< by warp agent: what it knows; what it
                                     ///< knows to be visible to the async proxy
  Clock clusterArrivals, clusterArrivalsFenced;
  std::vector<uint32_t> agentTime;
  std::map<std::pair<uint32_t, uint32_t>, std::pair<Clock, Clock>>
      locations; ///< released clocks, by CTA rank and offset
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> transfers;
  const Program &program;
  std::vector<uint32_t> firstSite; ///< of each function of the program
  struct BarrierState {
    Clock clock, fenced;
  };
  std::map<std::pair<uint32_t, uint32_t>, BarrierState>
      barriers; ///< by CTA rank and number
};

} // namespace tile::sim
