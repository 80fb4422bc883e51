//===-- Timeline.cpp - When warps would run, from a latency model ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Timeline.h"

#include <algorithm>
#include <cstdio>

using namespace tile::sim;
using tile::rates::copyLatency;

//===-- The model ---------------------------------------------------------===//

static constexpr uint64_t tensorAccessLatency = 34;
/// Cycles until the result of an instruction can be used; rounded figures of
/// Hopper.
static uint64_t latencyOf(const Inst &inst) {
  switch (inst.cls) {
  case Class::Load:
    switch (inst.space) {
    case Space::Shared:
      return 30;
    case Space::SharedCluster:
      return 200;
    case Space::Param:
    case Space::Const:
      return 8;
    case Space::Local:
      return 40;
    case Space::Tmem:
      return tensorAccessLatency;
    default:
      return 500;
    }
  case Class::Atomic:
    return inst.space == Space::Shared ? 60 : 600;
  case Class::Float64:
    return 16;
  case Class::Special:
    return 20;
  case Class::Collective:
    return 24;
  case Class::Tensor:
    return 34;
  default:
    return 5;
  }
}
/// Of copies of a CTA that has a multiprocessor to itself, in a cycle.
static constexpr uint64_t copyBytesPerCycle = tile::rates::cacheBytes;
/// A wait that is shorter is part of the work.
static constexpr uint64_t shortestWait = 8;
static constexpr size_t mostSpans = size_t(1) << 20;
/// Numbers of the engines beside those of warps.
static constexpr uint32_t copyLane = 100, tensorLane = 101, commitLane = 102,
                          barrierLane = 110, mbarrierLane = 130;

//===-- Spans -------------------------------------------------------------===//

Timeline::Timeline(const Launch &launch)
    : launch(launch), warpsPerCta(launch.warpsPerCta),
      warps(size_t(launch.clusterSize) * launch.warpsPerCta),
      copyEngine(launch.clusterSize), tensorEngine(launch.clusterSize) {}

uint32_t Timeline::intern(const std::string &name) {
  auto [it, fresh] = index.try_emplace(name, uint32_t(names.size()));
  if (fresh)
    names.push_back(name);
  return it->second;
}

void Timeline::record(const Span &span) {
  if (spans.size() < mostSpans)
    spans.push_back(span);
}

void Timeline::endRun(Warp &warp) {
  if (warp.runOf)
    record(warp.run);
  warp.runOf = nullptr;
}

std::string Timeline::lineOf(const Ctx &c, const Inst &inst) const {
  Place p = c.place(*c.code, inst);
  return p.sourceLine ? (p.file.empty() ? std::string("line") : p.file) + ":" +
                            std::to_string(p.sourceLine)
                      : "PTX:" + std::to_string(p.line);
}

void Timeline::waitUntil(const Cta &cta, const tile::sim::Warp &warp,
                         uint64_t until, const std::string &what) {
  Warp &w = of(cta, warp);
  if (until > w.clock && until - w.clock >= shortestWait) {
    endRun(w);
    record({w.clock, until, cta.rank, warp.index, intern("wait: " + what), 0});
  }
  w.clock = std::max(w.clock, until);
}

/// Instructions of which others hear, and ends of basic blocks: no assembler
/// moves what is in front of them behind them.
static bool keepsPlace(const Inst &inst) {
  return inst.isWgmma || inst.cls == Class::Control ||
         inst.cls == Class::Barrier || inst.cls == Class::Async;
}

void Timeline::settle(const Ctx &c) {
  Warp &w = of(c);
  if (w.latest > w.clock && w.latestWriter)
    waitUntil(*c.cta, *c.warp, w.latest, w.latestWriter->name);
  w.clock = std::max(w.clock, w.latest);
}

void Timeline::issue(const Ctx &c, const Inst &inst) {
  Warp &w = of(c);
  if (inst.micro || w.spins)
    return;
  ids[c.cta->rank] = c.cta->id;
  if (w.frame != c.frame) {
    w.frame = c.frame;
    w.registers.assign((c.code->frameBytes + 63) / 64, Register{});
  }
  uint64_t ready = 0;
  const Inst *writer = nullptr;
  const RegisterUse *uses = c.code->registers.data() + inst.regs;
  auto at = [&](uint32_t slot) -> Register * {
    return slot / 64 < w.registers.size() ? &w.registers[slot / 64] : nullptr;
  };
  // What an asynchronous dot writes is waited for by its group.
  for (uint32_t i = 0; i < inst.regCount && !inst.isWgmma; ++i)
    if (Register *r = at(uses[i].slot); r && r->ready > ready) {
      ready = r->ready;
      writer = r->writer;
    }
  auto waitFor = [&](const Started &other) {
    if (other.writer && other.at > w.clock)
      waitUntil(*c.cta, *c.warp, other.at, other.writer->name);
  };
  Started &place = w.window[w.next];
  w.next = (w.next + 1) % reach;
  waitFor(place);
  if (keepsPlace(inst)) {
    waitFor({ready, writer});
    settle(c);
  }
  w.start = std::max(w.clock, ready);
  if (w.start > w.latest) {
    w.latest = w.start;
    w.latestWriter = writer;
  }
  place = {w.start + 1, writer};
  if (!w.runOf || w.runOf->source != inst.source ||
      (inst.source < 0 && w.runOf->line != inst.line)) {
    endRun(w);
    w.run = {
        w.clock, w.clock, c.cta->rank, c.warp->index, intern(lineOf(c, inst)),
        0};
    w.runOf = &inst;
  }
  ++w.clock;
  w.run.end = w.clock;
  ++w.run.count;
  if (inst.cls == Class::Async) {
    for (Group group : {Copies, BulkStores})
      w.open[group] = std::max(w.open[group], w.clock + copyLatency);
    return;
  }
  if (inst.isWgmma)
    return;
  uint64_t latency = latencyOf(inst);
  for (uint32_t i = 0; i < inst.regCount; ++i)
    if (Register *r = uses[i].written ? at(uses[i].slot) : nullptr)
      *r = {w.start + 1 + latency, &inst};
}

//===-- Barriers ----------------------------------------------------------===//

static uint64_t key(const Cta &cta, uint32_t number) {
  return uint64_t(cta.rank) << 32 | number;
}

void Timeline::barrierArrive(const Cta &cta, const tile::sim::Warp &warp,
                             unsigned number) {
  uint64_t now = of(cta, warp).clock;
  barriers[key(cta, number)].arrive(now, now);
}
void Timeline::barrierLeave(const Cta &cta, const tile::sim::Warp &warp,
                            unsigned number) {
  waitUntil(cta, warp, barriers[key(cta, number)].last, "barrier");
}
void Timeline::barrierEnd(const Cta &cta, unsigned number) {
  auto it = barriers.find(key(cta, number));
  if (it == barriers.end())
    return;
  std::string name = "barrier " + std::to_string(number);
  uint32_t lane = barrierLane + number;
  barrierLanes.try_emplace({cta.rank, lane}, name);
  record({it->second.first, it->second.last, cta.rank, lane, intern(name), 0});
  barriers.erase(it);
}
void Timeline::clusterArrive(const Cta &cta, const tile::sim::Warp &warp) {
  clusterPending = std::max(clusterPending, of(cta, warp).clock);
}
void Timeline::clusterEnd() {
  clusterDone = clusterPending;
  clusterPending = 0;
}
void Timeline::clusterLeave(const Cta &cta, const tile::sim::Warp &warp) {
  waitUntil(cta, warp, clusterDone, "cluster barrier");
}

//===-- mbarriers ---------------------------------------------------------===//

Timeline::Mbarrier &Timeline::mbarrierAt(const Cta &owner, uint32_t offset) {
  auto [it, isNew] = mbarriers.try_emplace(key(owner, offset));
  if (isNew) {
    it->second.lane = mbarrierLane + uint32_t(mbarriers.size()) - 1;
    barrierLanes[{owner.rank, it->second.lane}] =
        "mbarrier at " + std::to_string(offset);
  }
  return it->second;
}

void Timeline::mbarrierTransfer(const Ctx &c, const Cta &owner, uint32_t offset,
                                uint64_t bytes) {
  uint64_t &engine = copyEngine[c.cta->rank];
  uint64_t start = std::max(engine, of(c).clock),
           end = start + copyLatency + bytes / copyBytesPerCycle;
  // The next copy's latency overlaps with this one.
  engine = end - copyLatency;
  record({start, end, c.cta->rank, copyLane, intern("bulk copy"),
          uint32_t(bytes)});
  mbarrierAt(owner, offset).phase.arrive(start, end);
}
void Timeline::mbarrierArrive(const Ctx &c, const Cta &owner, uint32_t offset) {
  uint64_t now = of(c).clock;
  mbarrierAt(owner, offset).phase.arrive(now, now);
}
void Timeline::mbarrierFlip(const Cta &owner, uint32_t offset) {
  Mbarrier &b = mbarrierAt(owner, offset);
  // By the clocks of warps, a phase may begin before the last one ends.
  uint64_t start = std::max(b.phase.first, b.done);
  b.done = b.phase.last;
  if (start <= b.done)
    record({start, b.done, owner.rank, b.lane, intern("phase"), 0});
  b.phase = Phase();
}
void Timeline::mbarrierFailed(const Ctx &c) { of(c).spins = true; }
void Timeline::mbarrierPassed(const Ctx &c, const Cta &owner, uint32_t offset) {
  of(c).spins = false;
  waitUntil(*c.cta, *c.warp, mbarrierAt(owner, offset).done, "mbarrier");
}

//===-- Groups ------------------------------------------------------------===//

void Timeline::commit(const Ctx &c, Group group) {
  Warp &w = of(c);
  w.groups[group].push_back(w.open[group]);
  w.open[group] = 0;
}
void Timeline::waitGroups(const Ctx &c, Group group, uint32_t left) {
  static constexpr const char *names[] = {"cp.async group", "bulk group",
                                          "wgmma group"};
  std::vector<uint64_t> &groups = of(c).groups[group];
  if (groups.size() <= left)
    return;
  auto end = groups.end() - left;
  uint64_t until = *std::max_element(groups.begin(), end);
  groups.erase(groups.begin(), end);
  waitUntil(*c.cta, *c.warp, until, names[group]);
}
void Timeline::product(const Ctx &c, unsigned n) {
  uint32_t first = c.warp->index & ~3u, rank = c.cta->rank;
  uint64_t &engine = tensorEngine[rank], start = engine;
  for (uint32_t i = first; i < first + 4; ++i)
    start = std::max(start, warps[rank * warpsPerCta + i].clock);
  engine = start + productCycles(n);
  record({start, engine, rank, tensorLane, intern("wgmma"), n});
  for (uint32_t i = first; i < first + 4; ++i) {
    Warp &w = warps[rank * warpsPerCta + i];
    w.open[Products] = std::max(w.open[Products], engine);
  }
}

//===-- Tensor memory -----------------------------------------------------===//

void Timeline::tensorWork(const Ctx &c, const std::vector<Cta *> &ctas,
                          const char *what, uint64_t cycles, unsigned columns) {
  settle(c);
  // The tensor cores of a pair work together.
  uint64_t start = of(c).clock;
  for (const Cta *cta : ctas)
    start = std::max(start, tensorEngine[cta->rank]);
  uint64_t end = start + std::max<uint64_t>(cycles, 1);
  for (const Cta *cta : ctas) {
    tensorEngine[cta->rank] = end;
    record({start, end, cta->rank, tensorLane, intern(what), columns});
  }
}

void Timeline::tensorCommit(const Ctx &c, const Cta &owner, uint32_t offset) {
  settle(c);
  uint64_t start = of(c).clock,
           end = std::max(tensorEngine[c.cta->rank], start + 1);
  record({start, end, c.cta->rank, commitLane, intern("tcgen05.commit"), 1});
  mbarrierAt(owner, offset).phase.arrive(start, end);
}

void Timeline::tensorAccess(const Ctx &c, bool stores) {
  Warp &w = of(c);
  w.tensorDone[stores] =
      std::max(w.tensorDone[stores], w.start + 1 + tensorAccessLatency);
}
void Timeline::tensorWait(const Ctx &c, bool stores) {
  waitUntil(*c.cta, *c.warp, of(c).tensorDone[stores],
            stores ? "tcgen05.st" : "tcgen05.ld");
}

uint64_t Timeline::getEnd() const {
  uint64_t end = 0;
  for (const Warp &w : warps)
    end = std::max({end, w.clock, w.latest});
  return end;
}

//===-- Output ------------------------------------------------------------===//

static std::string escape(const std::string &text) {
  std::string out;
  for (char ch : text) {
    if (ch == '"' || ch == '\\')
      out += '\\';
    out += uint8_t(ch) < 0x20 ? ' ' : ch;
  }
  return out;
}

void Timeline::print(std::string &text) const {
  auto pid = [&](uint32_t rank) {
    const auto &id = ids[rank];
    const auto &grid = launch.config->grid;
    return std::to_string(id[0] +
                          uint64_t(grid[0]) *
                              (id[1] + uint64_t(grid[1]) * uint64_t(id[2])));
  };
  auto add = [&](const std::string &event) {
    text += (text.empty() ? "" : ",\n") + event;
  };
  auto name = [&](const char *what, uint32_t rank, uint32_t lane,
                  const std::string &value) {
    add(std::string("{\"ph\": \"M\", \"name\": \"") + what +
        "\", \"pid\": " + pid(rank) + ", \"tid\": " + std::to_string(lane) +
        ", \"args\": {\"name\": \"" + value + "\"}}");
  };
  auto span = [&](const Span &s) {
    const char *count = s.lane >= barrierLane  ? ""
                        : s.lane == copyLane   ? "bytes"
                        : s.lane == tensorLane ? "columns"
                        : s.lane == commitLane ? "arrivals"
                                               : "instructions";
    add("{\"ph\": \"X\", \"name\": \"" + escape(names[s.name]) +
        "\", \"pid\": " + pid(s.cta) + ", \"tid\": " + std::to_string(s.lane) +
        ", \"ts\": " + std::to_string(s.start) +
        ", \"dur\": " + std::to_string(s.end - s.start) +
        (*count ? std::string(", \"args\": {\"") + count +
                      "\": " + std::to_string(s.count) + "}}"
                : "}"));
  };
  for (uint32_t rank = 0; rank < launch.clusterSize; ++rank) {
    const auto &id = ids[rank];
    name("process_name", rank, 0,
         "CTA (" + std::to_string(id[0]) + ", " + std::to_string(id[1]) + ", " +
             std::to_string(id[2]) + ")");
    for (uint32_t w = 0; w < warpsPerCta; ++w)
      name("thread_name", rank, w, "warp " + std::to_string(w));
    name("thread_name", rank, copyLane, "bulk copies");
    name("thread_name", rank, tensorLane, "tensor cores");
    if (std::any_of(spans.begin(), spans.end(),
                    [](const Span &s) { return s.lane == commitLane; }))
      name("thread_name", rank, commitLane, "tcgen05.commit");
  }
  for (const auto &[place, text] : barrierLanes)
    name("thread_name", place.first, place.second, text);
  for (const Span &s : spans)
    span(s);
  for (const Warp &w : warps)
    if (w.runOf)
      span(w.run);
}
