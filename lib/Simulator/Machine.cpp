//===-- Machine.cpp - CTAs and clusters: setup and scheduling -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Machine.h"
#include "Checkers/SharedChecker.h"

#include <algorithm>
#include <bit>
#include <chrono>

using namespace tile::sim;

static uint32_t specialValue(const Ctx &c, Special what, unsigned lane) {
  const LaunchConfig &config = *c.launch->config;
  const Cta &cta = *c.cta;
  unsigned thread = c.warp->index * Lanes + lane;
  auto axis = [](Special s, Special first) {
    return unsigned(s) - unsigned(first);
  };
  std::array<unsigned, 3> clusters{};
  for (unsigned i = 0; i < 3; ++i)
    clusters[i] = config.grid[i] / config.cluster[i];
  switch (what) {
  case Special::TidX:
    return thread % config.block[0];
  case Special::TidY:
    return thread / config.block[0] % config.block[1];
  case Special::TidZ:
    return thread / config.block[0] / config.block[1];
  case Special::NTidX:
  case Special::NTidY:
  case Special::NTidZ:
    return config.block[axis(what, Special::NTidX)];
  case Special::CtaX:
  case Special::CtaY:
  case Special::CtaZ:
    return cta.id[axis(what, Special::CtaX)];
  case Special::NCtaX:
  case Special::NCtaY:
  case Special::NCtaZ:
    return config.grid[axis(what, Special::NCtaX)];
  case Special::LaneId:
    return lane;
  case Special::WarpId:
    return c.warp->index;
  case Special::NWarpId:
    return 64;
  case Special::SmId:
    return uint32_t(cta.linear % 132);
  case Special::NSmId:
    return 132;
  case Special::GridId:
    return 1;
  case Special::MaskEq:
    return 1u << lane;
  case Special::MaskLe:
    return lane == 31 ? ~0u : (2u << lane) - 1;
  case Special::MaskLt:
    return (1u << lane) - 1;
  case Special::MaskGe:
    return ~((1u << lane) - 1);
  case Special::MaskGt:
    return lane == 31 ? 0 : ~((2u << lane) - 1);
  case Special::ClusterX:
  case Special::ClusterY:
  case Special::ClusterZ:
    return c.cluster->id[axis(what, Special::ClusterX)];
  case Special::NClusterX:
  case Special::NClusterY:
  case Special::NClusterZ:
    return clusters[axis(what, Special::NClusterX)];
  case Special::ClusterCtaX:
  case Special::ClusterCtaY:
  case Special::ClusterCtaZ: {
    unsigned a = axis(what, Special::ClusterCtaX);
    return cta.id[a] % config.cluster[a];
  }
  case Special::ClusterNCtaX:
  case Special::ClusterNCtaY:
  case Special::ClusterNCtaZ:
    return config.cluster[axis(what, Special::ClusterNCtaX)];
  case Special::ClusterRank:
    return cta.rank;
  case Special::ClusterNRank:
    return c.launch->clusterSize;
  case Special::IsExplicitCluster:
    return c.launch->clusterSize > 1;
  case Special::DynamicShared:
    return config.dynamicShared;
  case Special::TotalShared:
  case Special::AggregateShared:
    return c.launch->sharedBytes;
  case Special::SharedAtDynamic:
    return c.launch->sharedBytes - config.dynamicShared;
  case Special::WorkspaceHigh:
    return uint32_t(
        uint64_t(reinterpret_cast<uintptr_t>(c.launch->workspace)) >> 32);
  case Special::WorkspaceLow:
    return uint32_t(reinterpret_cast<uintptr_t>(c.launch->workspace));
  default:
    return 0;
  }
}

void tile::sim::fillSpecials(Ctx &c, Frame &frame) {
  auto *regs = reinterpret_cast<std::byte *>(frame.regs.data());
  for (auto [slot, what] : frame.code->specials) {
    auto *lanes = reinterpret_cast<uint32_t *>(regs + slot);
    for (unsigned lane = 0; lane < Lanes; ++lane)
      lanes[lane] = specialValue(c, what, lane);
  }
}

void tile::sim::startCta(Ctx &c, Cta &cta) {
  Launch &launch = *c.launch;
  cta.shared.assign(launch.sharedBytes, std::byte{0});
  cta.warps.resize(launch.warpsPerCta);
  cta.liveThreads = launch.threadsPerCta;
  cta.liveWarps = launch.warpsPerCta;
  c.cta = &cta;
  c.cluster = cta.cluster;
  for (uint32_t w = 0; w < launch.warpsPerCta; ++w) {
    Warp &warp = cta.warps[w];
    warp.cta = &cta;
    warp.index = w;
    unsigned count = std::min(Lanes, launch.threadsPerCta - w * Lanes);
    warp.initial = count == Lanes ? FullMask : (1u << count) - 1;
    warp.exited = ~warp.initial;
    c.warp = &warp;
    Fragment f;
    f.mask = warp.initial;
    f.frame = c.newFrame(launch.program->codes[0].get(), nullptr);
    warp.frags.push_back(f);
  }
}

static bool isStuck(const Cluster &cluster, const Warp &warp) {
  for (const Fragment &f : warp.frags)
    if (f.wait == Wait::Ready &&
        !(f.spinCount > 256 && f.spinStamp == cluster.progress))
      return false;
  return true;
}

/// Everyone waits and nobody can come: say who waits where.
static void reportDeadlock(Ctx &c, Cluster &cluster) {
  std::string text = "deadlock: no thread of the CTA can go on";
  const Inst *firstInst = nullptr;
  const Code *firstCode = nullptr;
  unsigned firstLaneId = 0, shown = 0;
  for (auto &cta : cluster.ctas)
    for (Warp &warp : cta->warps)
      for (Fragment &f : warp.frags) {
        const Inst &inst = f.frame->code->insts[std::min<size_t>(
            f.pc, f.frame->code->insts.size() - 1)];
        const Inst &at = f.wait == Wait::Ready && f.spinAt ? *f.spinAt : inst;
        c.cta = cta.get();
        c.warp = &warp;
        if (!firstInst) {
          firstInst = &at;
          firstCode = f.frame->code;
          firstLaneId = firstLane(f.mask);
        }
        if (++shown > 16)
          continue;
        char lanes[16];
        snprintf(lanes, sizeof lanes, "%08x", f.mask);
        text += "\n  cta " + std::to_string(cta->linear) + " warp " +
                std::to_string(warp.index) + " lanes 0x" + lanes + " wait at ";
        text +=
            f.wait == Wait::Barrier
                ? "barrier " + std::to_string(f.waitArg) + " (" +
                      std::to_string(cta->barriers[f.waitArg].arrived) +
                      " of " +
                      std::to_string(cta->barriers[f.waitArg].expected) +
                      " threads arrived)"
            : f.wait == Wait::Cluster ? std::string("the cluster barrier")
            : f.wait == Wait::Sync
                ? std::string("a warp-synchronous instruction for other lanes")
                : std::string("an mbarrier that nobody completes");
        text += ", " + c.place(*f.frame->code, at).format();
      }
  if (shown > 16)
    text += "\n  ... and " + std::to_string(shown - 16) + " more";
  if (!firstInst)
    return;
  c.code = firstCode;
  for (auto &cta : cluster.ctas)
    for (Warp &warp : cta->warps)
      if (!warp.done()) {
        c.cta = cta.get();
        c.warp = &warp;
        c.fail(*firstInst, firstLaneId, "deadlock", text);
        return;
      }
}

static void reportBudget(Ctx &c, Cluster &cluster) {
  for (auto &cta : cluster.ctas)
    for (Warp &warp : cta->warps)
      for (Fragment &f : warp.frags)
        if (f.wait == Wait::Ready) {
          c.cta = cta.get();
          c.warp = &warp;
          c.code = f.frame->code;
          c.fail(c.code->insts[f.pc], firstLane(f.mask), "instruction-budget",
                 "the kernel did not end within " +
                     std::to_string(c.launch->config->maxInstructions) +
                     " warp instructions");
          return;
        }
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
  while (total < quota) {
    bool live = false, moved = false;
    for (auto &cta : cluster.ctas) {
      if (cta->hasExited())
        continue;
      live = true;
      c.cta = cta.get();
      for (Warp &warp : cta->warps) {
        if (warp.done() || isStuck(cluster, warp))
          continue;
        uint64_t used = 0;
        bool good = runWarp(c, warp, std::min<uint64_t>(4096, quota), used);
        total += used;
        moved |= used > 0;
        if (!good)
          return false;
      }
    }
    if (!live) {
      finished = true;
      break;
    }
    if (launch.stop.load(std::memory_order_relaxed))
      return false;
    if (!moved) {
      reportDeadlock(c, cluster);
      return false;
    }
    if (launch.config->maxInstructions &&
        launch.executed.load(std::memory_order_relaxed) + total >
            launch.config->maxInstructions) {
      reportBudget(c, cluster);
      return false;
    }
  }
  launch.executed += total;
  cluster.executed += total;
  return true;
}
