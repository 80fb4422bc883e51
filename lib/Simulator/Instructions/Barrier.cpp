//===-- Barrier.cpp - bar, barrier, cluster barriers, fences --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "../Checkers/SharedChecker.h"
#include "Families.h"

#include <algorithm>

using namespace tile::sim;

namespace {
enum Kind : uint8_t { Sync, Arrive, RedPopc, RedAnd, RedOr };
} // namespace

/// The barrier's phase is over: everyone who waits goes on.
static void releaseBarrier(Ctx &c, Cta &cta, unsigned number) {
  NamedBarrier &b = cta.barriers[number];
  for (Warp &warp : cta.warps)
    for (Fragment &f : warp.frags) {
      if (f.wait != Wait::Barrier || f.waitArg != number)
        continue;
      const Inst &inst = f.frame->code->insts[f.pc];
      auto *regs = reinterpret_cast<std::byte *>(f.frame->regs.data());
      if (inst.mod[0] == RedPopc) {
        auto *out = reinterpret_cast<uint32_t *>(regs + inst.op[3]);
        for (unsigned l = 0; l < Lanes; ++l)
          if (f.mask >> l & 1)
            out[l] = b.reduceCount;
      } else if (inst.mod[0] == RedAnd || inst.mod[0] == RedOr) {
        auto *out = reinterpret_cast<uint32_t *>(regs + inst.op[3]);
        bool value = inst.mod[0] == RedAnd ? b.reduceAnd : b.reduceOr;
        *out = value ? *out | f.mask : *out & ~f.mask;
      }
      f.wait = Wait::Ready;
      ++f.pc;
      if (c.checker)
        c.checker->barrierWait(cta, warp, number);
    }
  if (c.checker)
    c.checker->barrierDone(cta, number);
  b = NamedBarrier{};
  ++cta.cluster->progress;
}

void tile::sim::checkBarrierRelease(Ctx &c, Cta &cta, unsigned number) {
  NamedBarrier &b = cta.barriers[number];
  // Only barriers for all threads shrink when threads leave.
  if (b.arrived == 0 || !b.forAll || b.arrived < cta.liveThreads)
    return;
  releaseBarrier(c, cta, number);
}

/// op: barrier, thread count, predicate, result.
static Step execBarrier(Ctx &c, const Inst &inst, uint32_t mask) {
  Cta &cta = *c.cta;
  unsigned lane = firstLane(mask);
  uint32_t number = c.src<uint32_t>(inst.op[0])[lane];
  if (number > 15)
    return c.fail(inst, lane, "bad-barrier",
                  "barrier " + std::to_string(number) +
                      " does not exist: there are 16");
  Kind kind = Kind(inst.mod[0]);
  bool aligned = inst.mod[1];
  uint32_t live = ~c.warp->exited;
  if (aligned && mask != live && (c.checks & CheckBarriers)) {
    // Lanes that are merely late may still come: that is legal only without
    // .aligned.
    return c.fail(inst, lane, "barrier-divergence",
                  "only " + std::to_string(std::popcount(mask)) +
                      " of the warp's " + std::to_string(std::popcount(live)) +
                      " live threads are at this barrier, which all of a warp "
                      "must reach together");
  }
  if (mask != c.active) {
    // The guard keeps some lanes out: they go on by themselves.
    Fragment rest;
    rest.pc = c.pc + 1;
    rest.mask = c.active & ~mask;
    rest.frame = c.frame;
    ++c.frame->refs;
    c.warp->frags.push_back(rest);
    c.active = mask;
  }
  bool explicitCount = inst.op[1] != NoSlot;
  NamedBarrier &b = cta.barriers[number];
  uint32_t expected =
      explicitCount ? c.src<uint32_t>(inst.op[1])[lane] : cta.liveThreads;
  if (explicitCount && (expected == 0 || expected % Lanes))
    return c.fail(inst, lane, "bad-barrier",
                  "the thread count " + std::to_string(expected) +
                      " is not a positive multiple of 32");
  if (explicitCount && expected > c.launch->warpsPerCta * Lanes)
    return c.fail(inst, lane, "bad-barrier",
                  "the barrier waits for " + std::to_string(expected) +
                      " threads, but the CTA has " +
                      std::to_string(c.launch->threadsPerCta));
  if (b.arrived && (b.expected != expected && explicitCount))
    return c.fail(inst, lane, "bad-barrier",
                  "barrier " + std::to_string(number) + " is waiting for " +
                      std::to_string(b.expected) + " threads, this one names " +
                      std::to_string(expected));
  // A partly filled or partly exited warp counts in full when a count is given.
  uint32_t arriving =
      explicitCount && mask == live ? Lanes : uint32_t(std::popcount(mask));
  b.expected = expected;
  b.forAll = !explicitCount;
  b.first = &inst;
  if (b.arrived == 0) {
    b.reduceAnd = 1;
    b.reduceOr = b.reduceCount = 0;
  }
  b.arrived += arriving;
  if (c.checker)
    c.checker->barrierArrive(cta, *c.warp, number);
  ++c.worker->counters.barriers;
  if (kind >= RedPopc) {
    uint32_t bits = c.pred(inst.op[2]);
    if (inst.mod[2])
      bits = ~bits;
    uint32_t yes = bits & mask;
    b.reduceCount += uint32_t(std::popcount(yes));
    b.reduceAnd &= yes == mask;
    b.reduceOr |= yes != 0;
  }
  if (kind == Arrive) {
    if (b.arrived >= b.expected)
      releaseBarrier(c, cta, number);
    ++c.pc;
    return Step::Jump;
  }
  c.saveFragment();
  Fragment &f = c.warp->frags[c.current];
  f.wait = Wait::Barrier;
  f.waitArg = number;
  if (b.arrived >= b.expected)
    releaseBarrier(c, cta, number);
  return Step::Block;
}

//===-- Cluster barrier ---------------------------------------------------===//

void tile::sim::checkClusterRelease(Cluster &cluster) {
  if (cluster.barrierArrived == 0 ||
      cluster.barrierArrived < cluster.liveThreads)
    return;
  cluster.barrierArrived = 0;
  ++cluster.barrierPhase;
  ++cluster.progress;
  if (cluster.checker)
    cluster.checker->clusterBarrier(cluster);
  for (auto &cta : cluster.ctas)
    for (Warp &warp : cta->warps)
      for (Fragment &f : warp.frags)
        if (f.wait == Wait::Cluster) {
          f.wait = Wait::Ready;
          ++f.pc;
        }
}

static Step execClusterArrive(Ctx &c, const Inst &inst, uint32_t mask) {
  Cluster &cluster = *c.cluster;
  auto &tokens = cluster.barrierToken[c.cta->rank];
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = unsigned(std::countr_zero(m));
    uint32_t &token = tokens[c.warp->index * Lanes + l];
    if (token == cluster.barrierPhase + 1)
      return c.fail(
          inst, l, "bad-barrier",
          "the thread arrives at the cluster barrier twice without waiting");
    token = cluster.barrierPhase + 1;
  }
  cluster.barrierArrived += uint32_t(std::popcount(mask));
  ++c.worker->counters.barriers;
  if (c.checker)
    c.checker->clusterArrive(*c.cta, *c.warp);
  checkClusterRelease(cluster);
  return Step::Next;
}

static Step execClusterWait(Ctx &c, const Inst &inst, uint32_t mask) {
  Cluster &cluster = *c.cluster;
  auto &tokens = cluster.barrierToken[c.cta->rank];
  bool wait = false;
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = unsigned(std::countr_zero(m));
    uint32_t token = tokens[c.warp->index * Lanes + l];
    if (token == 0)
      return c.fail(
          inst, l, "bad-barrier",
          "the thread waits at the cluster barrier without having arrived");
    wait |= token > cluster.barrierPhase;
  }
  if (!wait)
    return Step::Next;
  if (mask != c.active) {
    Fragment rest;
    rest.pc = c.pc + 1;
    rest.mask = c.active & ~mask;
    rest.frame = c.frame;
    ++c.frame->refs;
    c.warp->frags.push_back(rest);
    c.active = mask;
  }
  c.saveFragment();
  c.warp->frags[c.current].wait = Wait::Cluster;
  return Step::Block;
}

static Step execFence(Ctx &, const Inst &, uint32_t) { return Step::Next; }
static Step execProxyFence(Ctx &c, const Inst &, uint32_t) {
  if (c.checker)
    c.checker->proxyFence(*c.cta, *c.warp);
  return Step::Next;
}

//===-- Decoders ----------------------------------------------------------===//

namespace {
bool decodeClusterBarrier(FunctionDecoder &d) {
  int what = d.hasOneOf({"arrive", "wait"});
  d.hasOneOf({"release", "relaxed"});
  d.has("acquire");
  d.has("aligned");
  if (what < 0)
    return d.error("needs .arrive or .wait");
  d.builder.program->usesClusters = true;
  return d.expectOperands(0, 0) &&
         d.emit(what == 0 ? execClusterArrive : execClusterWait,
                Class::Barrier);
}

bool decodeBarrier(FunctionDecoder &d) {
  if (d.has("warp"))
    return decodeWarpBarrier(d);
  if (d.has("cluster"))
    return decodeClusterBarrier(d);
  d.has("cta");
  bool aligned = d.has("aligned") || d.in->opcode == "bar";
  int kind = d.hasOneOf({"sync", "arrive", "red"});
  if (kind < 0)
    return d.error("needs .sync, .arrive or .red");
  d.inst.mod[1] = aligned;
  if (kind < 2) {
    d.inst.mod[0] = uint8_t(kind);
    if (!d.expectOperands(kind == 1 ? 2 : 1, 2) || !d.src(0, Type::B32, 0))
      return false;
    if (d.operandCount() == 2 && !d.src(1, Type::B32, 1))
      return false;
    return d.emit(execBarrier, Class::Barrier);
  }
  int op = d.hasOneOf({"popc", "and", "or"});
  Type type = d.takeType();
  if (op < 0 || type != (op == 0 ? Type::U32 : Type::Pred))
    return d.error("needs .popc.u32, .and.pred or .or.pred");
  d.inst.mod[0] = uint8_t(RedPopc + op);
  if (!d.expectOperands(3, 4))
    return false;
  size_t last = d.operandCount() - 1;
  if (!d.src(1, Type::B32, 0) || (last == 3 && !d.src(2, Type::B32, 1)) ||
      !d.src(last, Type::Pred, 2))
    return false;
  return d.dst(0, type, 3) && d.emit(execBarrier, Class::Barrier);
}

bool decodeFence(FunctionDecoder &d) {
  std::string_view rest;
  bool proxy = d.has("proxy");
  if (proxy) {
    bool async = d.hasOneOf({"async", "async::generic", "alias"}) == 0;
    d.has("async");
    while (d.hasPrefix("async", rest) || d.hasPrefix("tensormap", rest) ||
           d.hasPrefix("sync_restrict", rest))
      ;
    d.hasOneOf({"global", "shared::cta", "shared::cluster", "shared"});
    d.hasOneOf({"acquire", "release"});
    d.hasOneOf({"cta", "cluster", "gpu", "sys"});
    return d.emit(async ? execProxyFence : execFence, Class::Barrier);
  }
  d.has("mbarrier_init");
  d.hasOneOf({"sc", "acq_rel", "acquire"});
  d.has("release");
  d.hasPrefix("sync_restrict", rest);
  d.hasOneOf({"cta", "cluster", "gpu", "sys"});
  return d.emit(execFence, Class::Barrier);
}
bool decodeMembar(FunctionDecoder &d) {
  d.has("proxy");
  d.hasOneOf({"cta", "gl", "gpu", "sys", "alias"});
  return d.emit(execFence, Class::Barrier);
}
} // namespace

void tile::sim::registerBarrier(DecodeTable &t) {
  t.insert({{"bar", decodeBarrier},
            {"barrier", decodeBarrier},
            {"fence", decodeFence},
            {"membar", decodeMembar}});
}
