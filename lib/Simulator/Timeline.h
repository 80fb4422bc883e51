//===-- Timeline.h - When warps would run, from a latency model -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Each warp of a cluster has a clock. It issues one instruction a cycle. An
// instruction starts when the registers that it reads are written. Those behind
// it may start first, as ptxas orders the instructions of a basic block anew.
// But only a few of them: results that are not used yet take registers. A warp
// waits for barriers, mbarriers and groups of asynchronous work. A CTA has one
// engine for bulk copies and one for tensor cores, which do one thing after the
// other. A tcgen05.commit arrives when the tensor cores have done what came
// before it. Barriers have lanes, too: from the first arrival to the last.
// Warps do not slow each other down otherwise: schedulers, caches and bandwidth
// are not modelled.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "Machine.h"
#include "tile/Rules/Rates.h"

#include <algorithm>
#include <map>

namespace tile::sim {

using rates::productCycles;

class Timeline {
public:
  explicit Timeline(const Launch &launch);

  /// The cycle that the running warp is in.
  uint64_t getCycle(const Ctx &c) { return of(c).clock; }
  uint64_t getCycle(const Cta &cta, const tile::sim::Warp &warp) const {
    return warps[cta.rank * warpsPerCta + warp.index].clock;
  }
  /// Whether a warp tries again to pass an mbarrier.
  bool isSpinning(const Cta &cta, const tile::sim::Warp &warp) const {
    return warps[cta.rank * warpsPerCta + warp.index].spins;
  }

  /// The running warp issues an instruction.
  void issue(const Ctx &c, const Inst &inst);

  void barrierArrive(const Cta &cta, const Warp &warp, unsigned number);
  /// Warps that waited go on; `ends` after the last.
  void barrierLeave(const Cta &cta, const Warp &warp, unsigned number);
  void barrierEnd(const Cta &cta, unsigned number);
  void clusterArrive(const Cta &cta, const Warp &warp);
  void clusterEnd();
  void clusterLeave(const Cta &cta, const Warp &warp);

  /// Bytes arrive at an mbarrier, or the running warp does.
  void mbarrierTransfer(const Ctx &c, const Cta &owner, uint32_t offset,
                        uint64_t bytes);
  void mbarrierArrive(const Ctx &c, const Cta &owner, uint32_t offset);
  void mbarrierFlip(const Cta &owner, uint32_t offset);
  /// Until the wait succeeds, time stands still: how often it is tried says
  /// nothing.
  void mbarrierFailed(const Ctx &c);
  void mbarrierPassed(const Ctx &c, const Cta &owner, uint32_t offset);

  /// Groups of the running warp's asynchronous work.
  enum Group : uint8_t { Copies, BulkStores, Products };
  void commit(const Ctx &c, Group group);
  void waitGroups(const Ctx &c, Group group, uint32_t left);
  /// The running warp's group starts a wgmma of n columns.
  void product(const Ctx &c, unsigned n);

  /// The running warp issues work for the tensor cores of CTAs.
  void tensorWork(const Ctx &c, const std::vector<Cta *> &ctas,
                  const char *what, uint64_t cycles, unsigned columns);
  /// An mbarrier hears of what the CTA's tensor cores have to do by now.
  void tensorCommit(const Ctx &c, const Cta &owner, uint32_t offset);
  /// The running warp accesses tensor memory; it waits for its accesses.
  void tensorAccess(const Ctx &c, bool stores);
  void tensorWait(const Ctx &c, bool stores);

  /// When the last warp ends.
  uint64_t getEnd() const;

  /// Events as Chrome and Perfetto read them, one line each; a comma before all
  /// but the first event of `text`. Cycles stand where microseconds should.
  void print(std::string &text) const;

private:
  struct Span {
    uint64_t start, end;
    uint32_t cta;  ///< rank
    uint32_t lane; ///< warp, or an engine
    uint32_t name;
    uint32_t count; ///< instructions or bytes
  };
  struct Register {
    uint64_t ready = 0;
    const Inst *writer = nullptr;
  };
  /// When an instruction had started, and whose result it waited for.
  struct Started {
    uint64_t at = 0;
    const Inst *writer = nullptr;
  };
  /// How many instructions later than another one may be one that starts first.
  static constexpr uint32_t reach = 32;
  struct Warp {
    uint64_t clock = 0;
    const Frame *frame = nullptr;
    std::vector<Register> registers; ///< by slot / 64
    Span run{};                      ///< that is going on
    const Inst *runOf = nullptr;
    bool spins = false;  ///< waits for an mbarrier; its tries take no time
    uint64_t start = 0;  ///< when the last instruction does
    uint64_t latest = 0; ///< when the last one to do so does
    const Inst *latestWriter = nullptr;  ///< whose result that one waits for
    std::array<Started, reach> window{}; ///< the last instructions
    uint32_t next = 0;                   ///< the oldest of them
    std::array<uint64_t, 3> open{};      ///< when the open group is complete
    std::array<std::vector<uint64_t>, 3> groups;
    std::array<uint64_t, 2> tensorDone{}; ///< its loads and stores
  };
  /// From the first arrival at a barrier to the last.
  struct Phase {
    uint64_t first = UINT64_MAX, last = 0;
    void arrive(uint64_t start, uint64_t end) {
      first = std::min(first, start);
      last = std::max(last, end);
    }
  };
  struct Mbarrier {
    Phase phase;
    uint64_t done = 0;
    uint32_t lane = 0;
  };

  Warp &of(const Cta &cta, const tile::sim::Warp &warp) {
    return warps[cta.rank * warpsPerCta + warp.index];
  }
  Warp &of(const Ctx &c) { return of(*c.cta, *c.warp); }
  Mbarrier &mbarrierAt(const Cta &owner, uint32_t offset);
  uint32_t intern(const std::string &name);
  void record(const Span &span);
  void endRun(Warp &warp);
  /// What the running warp does next is behind all that it has yet to start.
  void settle(const Ctx &c);
  void waitUntil(const Cta &cta, const tile::sim::Warp &warp, uint64_t until,
                 const std::string &what);
  std::string lineOf(const Ctx &c, const Inst &inst) const;

  const Launch &launch;
  uint32_t warpsPerCta;
  std::vector<Warp> warps;
  std::vector<uint64_t> copyEngine, tensorEngine; ///< free from then on, by CTA
  std::unordered_map<uint64_t, Phase> barriers;
  std::unordered_map<uint64_t, Mbarrier> mbarriers;
  /// What the lanes of barriers are called, by CTA and lane.
  std::map<std::pair<uint32_t, uint32_t>, std::string> barrierLanes;
  uint64_t clusterPending = 0, clusterDone = 0;
  std::vector<Span> spans;
  std::vector<std::string> names;
  std::unordered_map<std::string, uint32_t> index;
  std::array<std::array<unsigned, 3>, 16> ids{};
};

} // namespace tile::sim
