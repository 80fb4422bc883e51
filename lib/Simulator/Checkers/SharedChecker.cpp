//===-- SharedChecker.cpp - Races and initialization of shared memory -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "SharedChecker.h"

#include <algorithm>
#include <bit>
#include <cinttypes>
#include <cstring>

using namespace tile::sim;

SharedChecker::SharedChecker(const Launch &launch, const Cluster &cluster)
    : checks(launch.config->checks), warps(launch.warpsPerCta),
      clusterSize(uint32_t(cluster.ctas.size())), bytes(launch.sharedBytes),
      program(*launch.program) {
  uint32_t first = 0;
  for (auto &code : program.codes) {
    firstSite.push_back(first);
    first += uint32_t(code->insts.size());
  }
  words.resize(clusterSize);
  for (auto &w : words)
    w.resize((bytes + 3) / 4);
  uint32_t agents = clusterSize * warps;
  clocks.resize(agents);
  fenced.resize(agents);
  // Every warp has three engines beside it: copies, bulk copies and matrix
  // reads.
  agentTime.assign(agents * 4, 1);
  for (uint32_t a = 0; a < agents; ++a)
    raise(clocks[a], a, 1);
}

void SharedChecker::raise(Clock &clock, uint32_t agent, uint32_t time) {
  if (agent >= clock.size())
    clock.resize(agent + 1);
  clock[agent] = std::max(clock[agent], time);
}

void SharedChecker::join(Clock &into, const Clock &from) {
  if (into.size() < from.size())
    into.resize(from.size());
  for (size_t i = 0; i < from.size(); ++i)
    into[i] = std::max(into[i], from[i]);
}

uint32_t SharedChecker::site(const Ctx &c, const Inst &inst) const {
  return firstSite[c.code->index] + uint32_t(&inst - c.code->insts.data());
}

std::pair<const Code *, const Inst *>
SharedChecker::siteOf(uint32_t number) const {
  size_t index =
      size_t(std::upper_bound(firstSite.begin(), firstSite.end(), number) -
             firstSite.begin()) -
      1;
  const Code *code = program.codes[index].get();
  return {code, &code->insts[number - firstSite[index]]};
}

uint32_t SharedChecker::copyAgent(const Cta &cta, const Warp &warp) const {
  return clusterSize * warps + warpAgent(cta, warp.index);
}
uint32_t SharedChecker::wgmmaAgent(const Cta &cta, const Warp &warp) const {
  return 2 * clusterSize * warps + warpAgent(cta, warp.index);
}
uint32_t SharedChecker::bulkAgent(const Cta &cta, const Warp &warp) const {
  return 3 * clusterSize * warps + warpAgent(cta, warp.index);
}

uint32_t SharedChecker::transferAgent(Cta &owner, uint32_t offset) {
  auto [it, fresh] =
      transfers.try_emplace({owner.rank, offset}, uint32_t(agentTime.size()));
  if (fresh)
    agentTime.push_back(1);
  return it->second;
}

//===-- Reports -----------------------------------------------------------===//

void SharedChecker::report(Ctx &c, const Inst &inst, unsigned lane,
                           uint32_t offset, const Event &event, bool write,
                           bool eventWrote, const char *why, bool proxy) {
  auto [code, other] = siteOf(event.inst);
  uint32_t agents = clusterSize * warps;
  uint32_t owner = event.agent < 4 * agents ? event.agent % agents : event.warp;
  ThreadId thread =
      c.threadOf(*c.cluster->ctas[owner / warps], event.warp, event.lane);
  char address[16];
  snprintf(address, sizeof address, "0x%" PRIx32, offset);
  bool async = event.agent >= agents;
  c.note(inst, lane,
         proxy   ? "missing-proxy-fence"
         : async ? "async-race"
                 : "race",
         std::string(write ? "write to" : "read of") + " shared memory at " +
             address + " races with " + (async ? "an asynchronous " : "a ") +
             (eventWrote ? "write" : "read") + ": " + why,
         other, code, &thread);
}

static const char *reason(bool sameWarp, bool async) {
  return async      ? "nothing waits for its completion in between"
         : sameWarp ? "the warp's lanes are not synchronized in between"
                    : "no barrier orders the two";
}

//===-- Accesses ----------------------------------------------------------===//

static uint8_t byteMask(uint32_t word, uint32_t offset, uint32_t bytes) {
  uint32_t first = std::max(offset, word * 4) - word * 4,
           last = std::min(offset + bytes, word * 4 + 4) - word * 4;
  return uint8_t(((1u << last) - 1) & ~((1u << first) - 1));
}

void SharedChecker::access(Ctx &c, const Inst &inst, unsigned lane, Cta &owner,
                           uint32_t offset, uint32_t size, Access kind) {
  uint32_t agent = warpAgent(*c.cta, c.warp->index);
  bool ordered = kind == Access::Atomic || inst.mod[2];
  if (ordered)
    acquire(*c.cta, *c.warp, owner, offset);
  this->lane(c, inst,
             {agent, at(clocks[agent], agent), site(c, inst),
              uint16_t(c.warp->index), uint8_t(lane), 0},
             ordered, owner, offset, size, kind);
  if (ordered && kind != Access::Load)
    release(*c.cta, *c.warp, owner, offset);
}

void SharedChecker::access(Ctx &c, const Inst &inst, uint32_t mask, Cta &owner,
                           const uint64_t *address, uint32_t size,
                           Access kind) {
  bool ordered = kind == Access::Atomic || inst.mod[2];
  uint32_t agent = warpAgent(*c.cta, c.warp->index);
  Event self{agent,
             at(clocks[agent], agent),
             site(c, inst),
             uint16_t(c.warp->index),
             0,
             0};
  for (; mask; mask &= mask - 1) {
    unsigned l = unsigned(std::countr_zero(mask));
    if (ordered) {
      access(c, inst, l, owner, uint32_t(address[l]), size, kind);
      continue;
    }
    self.lane = uint8_t(l);
    lane(c, inst, self, false, owner, uint32_t(address[l]), size, kind);
  }
}

void SharedChecker::lane(Ctx &c, const Inst &inst, Event self, bool ordered,
                         Cta &owner, uint32_t offset, uint32_t size,
                         Access kind) {
  uint32_t agent = self.agent;
  unsigned lane = self.lane;
  const Clock &clock = clocks[agent];
  bool write = kind != Access::Load;
  std::vector<Word> &memory = words[owner.rank];
  // Earlier events of the same warp are ordered if the lane is the same or the
  // warp was synchronized since.
  auto races = [&](const Event &e, uint8_t mask) {
    if (!e.time || !(e.bytes & mask) ||
        (ordered && (e.bytes & Event::AtomicBit)))
      return false;
    if (e.agent == agent)
      return e.time == self.time && e.lane != lane && e.inst != self.inst;
    return at(clock, e.agent) < e.time;
  };
  for (uint32_t w = offset / 4; w <= (offset + size - 1) / 4; ++w) {
    Word &word = memory[w];
    uint8_t mask = byteMask(w, offset, size);
    if ((checks & CheckUninitialized) && kind != Access::Store &&
        (word.written & mask) != mask) {
      char address[16];
      snprintf(address, sizeof address, "0x%" PRIx32, offset);
      c.note(inst, lane, "uninitialized",
             "read of " + std::to_string(size) + " bytes of shared memory at " +
                 address + " that nobody has written");
      word.written |= mask;
    }
    bool isAsync = word.write.agent >= clusterSize * warps;
    if ((checks & (isAsync ? CheckAsync : CheckRaces)) &&
        races(word.write, mask)) {
      bool same = write && c.storeData && !isAsync;
      for (uint32_t b = 0; same && b < 4; ++b) {
        uint32_t at = w * 4 + b;
        if (mask >> b & 1)
          same = owner.shared[at] == c.storeData[lane * 32 + (at - offset)];
      }
      // Two threads that write the same value disturb nobody.
      if (!same)
        report(c, inst, lane, w * 4, word.write, write, true,
               reason(word.write.agent == agent, isAsync));
    }
    self.bytes = uint8_t(mask | (ordered ? Event::AtomicBit : 0));
    if (write) {
      for (const Event *read : {&word.read, &word.otherRead}) {
        bool asyncRead = read->agent >= clusterSize * warps;
        if ((checks & (asyncRead ? CheckAsync : CheckRaces)) &&
            races(*read, mask)) {
          report(c, inst, lane, w * 4, *read, true, false,
                 reason(read->agent == agent, asyncRead));
          break;
        }
      }
      if (word.write.agent == agent && word.write.time == self.time &&
          word.write.lane == lane && word.write.inst == self.inst)
        self.bytes |= word.write.bytes;
      word.write = self;
      word.read.time = word.otherRead.time = 0;
      word.written |= mask;
    } else {
      if (word.read.time == 0 || word.read.agent == agent ||
          at(clock, word.read.agent) >= word.read.time)
        word.read = self;
      else
        word.otherRead = self;
    }
  }
}

void SharedChecker::asyncAccess(Ctx &c, const Inst &inst, unsigned lane,
                                Cta &owner, uint32_t offset, uint32_t size,
                                bool write, uint32_t agent, bool proxy) {
  if (size == 0)
    return;
  uint32_t issuer = warpAgent(*c.cta, c.warp->index);
  const Clock &clock = clocks[issuer];
  Event self{agent,         agentTime[agent],
             site(c, inst), uint16_t(c.warp->index),
             uint8_t(lane), 0};
  bool noted = false;
  for (uint32_t w = offset / 4; w <= (offset + size - 1) / 4; ++w) {
    Word &word = words[owner.rank][w];
    uint8_t mask = byteMask(w, offset, size);
    auto races = [&](const Event &e) {
      return e.time && (e.bytes & mask) && e.agent != issuer &&
             e.agent != agent && at(clock, e.agent) < e.time;
    };
    if (!noted && (checks & CheckUninitialized) && !write &&
        (word.written & mask) != mask) {
      c.note(inst, lane, "uninitialized",
             "asynchronous read of shared memory at byte " +
                 std::to_string(w * 4) + " that nobody has written");
      noted = true;
    }
    if (!noted && (checks & CheckAsync) && races(word.write)) {
      report(c, inst, lane, w * 4, word.write, write, true,
             reason(false, word.write.agent >= clusterSize * warps));
      noted = true;
    }
    // What ordinary stores wrote reaches the asynchronous proxy only through a
    // fence.
    bool generic = word.write.time && (word.write.bytes & mask) &&
                   word.write.agent < clusterSize * warps;
    if (!noted && proxy && (checks & CheckAsync) && generic &&
        at(fenced[issuer], word.write.agent) < word.write.time) {
      report(c, inst, lane, w * 4, word.write, write, true,
             "a fence.proxy.async is missing between the two", true);
      noted = true;
    }
    self.bytes = mask;
    if (write) {
      for (const Event *read : {&word.read, &word.otherRead})
        if (!noted && (checks & CheckAsync) && races(*read)) {
          report(c, inst, lane, w * 4, *read, true, false,
                 reason(false, read->agent >= clusterSize * warps));
          noted = true;
        }
      word.write = self;
      word.read.time = word.otherRead.time = 0;
      word.written |= mask;
    } else if (word.read.time == 0 || word.read.agent == agent ||
               at(clock, word.read.agent) >= word.read.time) {
      word.read = self;
    } else {
      word.otherRead = self;
    }
  }
}

void SharedChecker::markWritten(Cta &owner, uint32_t offset, uint32_t size) {
  for (uint32_t w = offset / 4; size && w <= (offset + size - 1) / 4; ++w)
    words[owner.rank][w].written |= byteMask(w, offset, size);
}

//===-- Synchronization ---------------------------------------------------===//

void SharedChecker::warpSync(Ctx &c, uint32_t) {
  uint32_t agent = warpAgent(*c.cta, c.warp->index);
  raise(clocks[agent], agent, ++agentTime[agent]);
}

void SharedChecker::barrierArrive(Cta &cta, Warp &warp, unsigned number) {
  uint32_t agent = warpAgent(cta, warp.index);
  BarrierState &state = barriers[{cta.rank, number}];
  join(state.clock, clocks[agent]);
  join(state.fenced, fenced[agent]);
  raise(clocks[agent], agent, ++agentTime[agent]);
}
void SharedChecker::barrierWait(Cta &cta, Warp &warp, unsigned number) {
  uint32_t agent = warpAgent(cta, warp.index);
  const BarrierState &state = barriers[{cta.rank, number}];
  join(clocks[agent], state.clock);
  join(fenced[agent], state.fenced);
}
void SharedChecker::barrierDone(Cta &cta, unsigned number) {
  barriers.erase({cta.rank, number});
}

void SharedChecker::clusterArrive(Cta &cta, Warp &warp) {
  uint32_t agent = warpAgent(cta, warp.index);
  join(clusterArrivals, clocks[agent]);
  join(clusterArrivalsFenced, fenced[agent]);
  raise(clocks[agent], agent, ++agentTime[agent]);
}
void SharedChecker::clusterBarrier(Cluster &) {
  for (size_t a = 0; a < clocks.size(); ++a) {
    join(clocks[a], clusterArrivals);
    join(fenced[a], clusterArrivalsFenced);
  }
  clusterArrivals.clear();
  clusterArrivalsFenced.clear();
}

void SharedChecker::proxyFence(Cta &cta, Warp &warp) {
  uint32_t agent = warpAgent(cta, warp.index);
  join(fenced[agent], clocks[agent]);
  // Later stores of this warp are not covered.
  raise(clocks[agent], agent, ++agentTime[agent]);
}

void SharedChecker::release(Cta &cta, Warp &warp, Cta &owner, uint32_t offset) {
  uint32_t agent = warpAgent(cta, warp.index);
  auto &[clock, fence] = locations[{owner.rank, offset}];
  join(clock, clocks[agent]);
  join(fence, fenced[agent]);
  raise(clocks[agent], agent, ++agentTime[agent]);
}
void SharedChecker::acquire(Cta &cta, Warp &warp, Cta &owner, uint32_t offset) {
  auto it = locations.find({owner.rank, offset});
  if (it == locations.end())
    return;
  uint32_t agent = warpAgent(cta, warp.index);
  join(clocks[agent], it->second.first);
  join(fenced[agent], it->second.second);
}

void SharedChecker::completed(Cta &cta, Warp &warp, uint32_t agent,
                              uint32_t time) {
  raise(clocks[warpAgent(cta, warp.index)], agent, time);
}
void SharedChecker::completesOn(Cta &owner, uint32_t offset, uint32_t agent,
                                uint32_t time) {
  raise(locations[{owner.rank, offset}].first, agent, time);
}
