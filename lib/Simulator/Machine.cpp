//===-- Machine.cpp - CTAs and clusters: setup and scheduling -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Machine.h"
#include "Checkers/OrderChecker.h"
#include "Debug/Hooks.h"
#include "Schedule.h"
#include "Timeline.h"
#include "Turns.h"
#include "Waits.h"

#include <algorithm>
#include <bit>
#include <chrono>

using namespace tile::sim;

uint32_t tile::sim::initialLanes(const Launch &launch, uint32_t warp) {
  uint32_t lanes = launch.program->waveLanes;
  uint32_t count = std::min(Lanes, launch.threadsPerCta - warp * lanes);
  return count == Lanes ? FullMask : (1u << count) - 1;
}

void tile::sim::startCta(Ctx &c, Cta &cta) {
  Launch &launch = *c.launch;
  cta.shared.assign(launch.sharedBytes, std::byte{0});
  cta.warps.resize(launch.warpsPerCta);
  cta.liveThreads = 0;
  cta.liveWarps = launch.warpsPerCta;
  c.cta = &cta;
  c.cluster = cta.cluster;
  for (uint32_t w = 0; w < launch.warpsPerCta; ++w) {
    Warp &warp = cta.warps[w];
    warp.cta = &cta;
    warp.index = w;
    warp.initial = initialLanes(launch, w);
    warp.exited = ~warp.initial;
    cta.liveThreads += unsigned(std::popcount(warp.initial));
    c.warp = &warp;
    Fragment f;
    f.mask = warp.initial;
    f.frame = c.newFrame(launch.program->codes[0].get(), nullptr);
    launch.program->start(c, *f.frame);
    warp.frags.push_back(f);
  }
}

Obstacle Program::describeWait(const Cta &cta, const Warp &warp,
                               const Fragment &f) const {
  switch (f.wait) {
  case Wait::Barrier: {
    const NamedBarrier &b = cta.barriers[f.waitArg];
    return {"barrier " + std::to_string(f.waitArg) + " (" +
            std::to_string(b.arrived) + " of " + std::to_string(b.expected) +
            " threads arrived)"};
  }
  case Wait::Cluster:
    return {"the cluster barrier (" +
            std::to_string(cta.cluster->barrierArrived) + " of " +
            std::to_string(cta.cluster->liveThreads) + " threads arrived)"};
  case Wait::Sync:
    return {"a warp-synchronous instruction for other lanes"};
  case Wait::Aligned:
    return {
        "a barrier for the other lanes of the warp", 4, "barrier-divergence",
        "only " + std::to_string(std::popcount(f.mask)) + " of the warp's " +
            std::to_string(std::popcount(~warp.exited)) +
            " live threads are at this barrier, which all of a warp must "
            "reach together, and the others cannot come"};
  default:
    return {"something that nobody does"};
  }
}

/// Everyone waits and nobody can come: say who waits where. Waiting for lanes
/// or warps that went elsewhere has a name of its own.
static void reportDeadlock(Ctx &c, Cluster &cluster) {
  std::string text;
  unsigned shown = 0;
  Obstacle worst;
  struct {
    Cta *cta = nullptr;
    Warp *warp = nullptr;
    const Code *code = nullptr;
    const Inst *inst = nullptr;
    unsigned lane = 0;
  } first;
  for (auto &cta : cluster.ctas)
    for (Warp &warp : cta->warps)
      for (Fragment &f : warp.frags) {
        const Inst &at = waitingAt(f);
        c.cta = cta.get();
        c.warp = &warp;
        Obstacle obstacle = c.launch->program->describeWait(*cta, warp, f);
        std::string waitsFor = obstacle.text;
        // What keeps the others waiting comes first.
        if (!first.inst || obstacle.rank > worst.rank) {
          worst = std::move(obstacle);
          first = {cta.get(), &warp, f.frame->code, &at, firstLane(f.mask)};
        }
        if (++shown > 16)
          continue;
        char lanes[16];
        snprintf(lanes, sizeof lanes, "%08x", f.mask);
        text += "\n  cta " + std::to_string(cta->linear) + " warp " +
                std::to_string(warp.index) + " lanes 0x" + lanes + " wait at " +
                waitsFor + ", " + c.place(*f.frame->code, at).format();
      }
  if (shown > 16)
    text += "\n  ... and " + std::to_string(shown - 16) + " more";
  if (!first.inst)
    return;
  c.cta = first.cta;
  c.warp = first.warp;
  c.code = first.code;
  c.fail(*first.inst, first.lane, worst.kind, worst.head + text);
}

bool tile::sim::awaitTurn(const Ctx &c) {
  const auto &turns = c.launch->group->turns;
  return !turns || turns->await(c.worker->index);
}

bool tile::sim::isOverBudget(const Launch &launch, uint64_t more) {
  uint64_t most = launch.config->maxInstructions;
  return most &&
         launch.group->executed.load(std::memory_order_relaxed) + more > most;
}

std::string tile::sim::budgetMessage(const Launch &launch) {
  return "the kernel did not end within " +
         std::to_string(launch.config->maxInstructions) + " warp instructions";
}

/// Says where a cluster is that runs too long.
static bool reportPlace(Ctx &c, Cluster &cluster, const std::string &message) {
  const Inst *last = nullptr;
  for (auto &cta : cluster.ctas)
    for (Warp &warp : cta->warps)
      for (Fragment &f : warp.frags) {
        // A thread that can go on says most about where the kernel is.
        if (last && f.wait != Wait::Ready)
          continue;
        c.cta = cta.get();
        c.warp = &warp;
        c.code = f.frame->code;
        last = &c.code->insts[f.pc];
        if (f.wait == Wait::Ready) {
          c.fail(*last, firstLane(f.mask), "instruction-budget", message);
          return true;
        }
      }
  if (last)
    c.fail(*last, 0, "instruction-budget", message);
  return last;
}

void tile::sim::reportInterruption(Ctx &c, Cluster &cluster) {
  if (!c.launch->group->interrupted.exchange(false))
    return;
  c.cluster = &cluster;
  reportPlace(c, cluster, "the kernel was here when it was interrupted");
}

/// Runs the warp that the schedule chooses for a while. `moved` says whether
/// there was one; `live` says whether there are threads left.
static bool runChosen(Ctx &c, Cluster &cluster, uint64_t &total, bool &live,
                      bool &moved) {
  Schedule &schedule = *cluster.schedule;
  std::vector<Warp *> ready;
  for (auto &cta : cluster.ctas)
    for (Warp &warp : cta->warps) {
      live |= !warp.done();
      if (!warp.done() && !isStuck(cluster, warp))
        ready.push_back(&warp);
    }
  if (ready.empty()) {
    moved = !schedule.isIdle();
    return schedule.finishAny(c);
  }
  Warp &warp = *ready[schedule.below(uint32_t(ready.size()))];
  c.cta = warp.cta;
  uint64_t used = 0;
  if (!runWarp(c, warp, schedule.warpTurn(), used))
    return false;
  total += used;
  moved = true;
  return debugRound(c, *warp.cta, moved) && schedule.mayFinish(c);
}

/// Runs every warp for a while, one after the other.
static bool runAll(Ctx &c, Cluster &cluster, uint64_t quota, uint64_t &total,
                   bool &live, bool &moved) {
  for (auto &cta : cluster.ctas) {
    if (cta->hasExited())
      continue;
    live = true;
    c.cta = cta.get();
    for (Warp &warp : cta->warps) {
      if (warp.done() || isStuck(cluster, warp))
        continue;
      if (debugHolds(*c.launch, warp)) {
        moved = true;
        continue;
      }
      uint64_t used = 0, flops = c.worker->counters.tensorFlops;
      bool good = runWarp(c, warp, std::min<uint64_t>(4096, quota), used);
      total += used;
      if (const auto &turns = c.launch->group->turns)
        turns->pass(c.worker->index, used,
                    c.worker->counters.tensorFlops - flops);
      moved |= used > 0;
      if (!good)
        return false;
    }
    if (!debugRound(c, *cta, moved))
      return false;
  }
  return true;
}

/// Runs the warps whose clocks are behind, for a little while. So what warps
/// share, such as the tensor cores, serves them in the order of their clocks.
static bool runEarliest(Ctx &c, Cluster &cluster, uint64_t &total, bool &live,
                        bool &moved) {
  // Short, beside the hundreds of cycles that copies and dots take.
  constexpr uint64_t cycles = 32;
  const Timeline &timeline = *cluster.timeline;
  std::vector<Warp *> ready;
  uint64_t earliest = UINT64_MAX;
  for (auto &cta : cluster.ctas)
    for (Warp &warp : cta->warps) {
      live |= !warp.done();
      if (warp.done() || isStuck(cluster, warp))
        continue;
      ready.push_back(&warp);
      // One that tries an mbarrier again and again does not hold others up.
      if (!timeline.isSpinning(*cta, warp))
        earliest = std::min(earliest, timeline.getCycle(*cta, warp));
    }
  const auto &turns = c.launch->group->turns;
  for (Warp *warp : ready) {
    if (!timeline.isSpinning(*warp->cta, *warp) &&
        timeline.getCycle(*warp->cta, *warp) >= earliest + cycles)
      continue;
    c.cta = warp->cta;
    uint64_t used = 0, flops = c.worker->counters.tensorFlops;
    bool good = runWarp(c, *warp, cycles, used);
    total += used;
    moved |= used > 0;
    if (turns)
      turns->pass(c.worker->index, used,
                  c.worker->counters.tensorFlops - flops);
    if (!good)
      return false;
  }
  return true;
}

/// Runs a cluster's warps in turn. Returns false on an error; `finished` says
/// whether all threads left.
bool tile::sim::runCluster(Ctx &c, Cluster &cluster, uint64_t quota,
                           bool &finished) {
  Launch &launch = *c.launch;
  uint64_t total = 0;
  finished = false;
  c.cluster = &cluster;
  c.checker = cluster.checker.get();
  c.timeline = cluster.timeline;
  while (total < quota) {
    bool live = false, moved = false;
    bool good;
    if (cluster.schedule)
      good = runChosen(c, cluster, total, live, moved);
    else if (cluster.timeline && !launch.config->debugger)
      good = runEarliest(c, cluster, total, live, moved);
    else
      good = runAll(c, cluster, quota, total, live, moved);
    if (!good)
      return false;
    if (!live && !moved) {
      finished = true;
      ++launch.group->finished;
      break;
    }
    if (launch.group->stop.load(std::memory_order_relaxed)) {
      reportInterruption(c, cluster);
      return false;
    }
    if (!moved) {
      reportDeadlock(c, cluster);
      debugFinding(c);
      return false;
    }
    if (isOverBudget(launch, total) &&
        reportPlace(c, cluster, budgetMessage(launch))) {
      debugFinding(c);
      return false;
    }
  }
  launch.group->executed += total;
  cluster.executed += total;
  return true;
}
