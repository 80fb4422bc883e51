//===-- Barrier.cpp - bar, barrier, cluster barriers, fences --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "../../Checkers/OrderChecker.h"
#include "../../Timeline.h"
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
        c.checker->barrierWait(cta, warp, f.mask, number);
      if (c.timeline)
        c.timeline->barrierLeave(cta, warp, number);
    }
  if (c.checker)
    c.checker->barrierDone(cta, number);
  if (c.timeline)
    c.timeline->barrierEnd(cta, number);
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

/// Lanes that the guard keeps out go on by themselves.
static void leaveBehind(Ctx &c, uint32_t mask) {
  if (mask == c.active)
    return;
  Fragment rest;
  rest.pc = c.pc + 1;
  rest.mask = c.active & ~mask;
  rest.frame = c.frame;
  ++c.frame->refs;
  c.warp->frags.push_back(rest);
  c.active = mask;
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
  leaveBehind(c, mask);
  // The warp arrives as one; lanes that are late may still come. Threads that
  // have exited take no part in any barrier.
  if (bool retry; aligned && !c.gather(live, retry, Wait::Aligned))
    return retry ? Step::Jump : Step::Block;
  if (aligned)
    checkSkippedBarrier(c, inst, mask);
  bool explicitCount = inst.op[1] != NoSlot;
  const NamedBarrier &b = cta.barriers[number];
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
  NamedBarrier &own = cta.barriers[number];
  own.expected = expected;
  own.forAll = !explicitCount;
  if (own.arrived == 0) {
    own.reduceAnd = 1;
    own.reduceOr = own.reduceCount = 0;
  }
  if (kind >= RedPopc) {
    uint32_t bits = c.pred(inst.op[2]);
    if (inst.mod[2])
      bits = ~bits;
    uint32_t yes = bits & mask;
    own.reduceCount += uint32_t(std::popcount(yes));
    own.reduceAnd &= yes == mask;
    own.reduceOr |= yes != 0;
  }
  return arriveAtBarrier(c, inst, mask, number, arriving, kind == Arrive);
}

Step tile::sim::arriveAtBarrier(Ctx &c, const Inst &inst, uint32_t mask,
                                unsigned number, uint32_t arriving,
                                bool leaves) {
  Cta &cta = *c.cta;
  NamedBarrier &b = cta.barriers[number];
  b.first = &inst;
  b.arrived += arriving;
  if (c.checker)
    c.checker->barrierArrive(cta, *c.warp, mask, number);
  if (c.timeline)
    c.timeline->barrierArrive(cta, *c.warp, number);
  ++c.worker->counters.barriers;
  if (leaves) {
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
    cluster.checker->clusterDone();
  if (cluster.timeline)
    cluster.timeline->clusterEnd();
  for (auto &cta : cluster.ctas)
    for (Warp &warp : cta->warps)
      for (Fragment &f : warp.frags)
        if (f.wait == Wait::Cluster) {
          f.wait = Wait::Ready;
          ++f.pc;
          if (cluster.checker)
            cluster.checker->clusterWait(*cta, warp, f.mask);
          if (cluster.timeline)
            cluster.timeline->clusterLeave(*cta, warp);
        }
}

/// mod[0]: .aligned.
static Step execClusterArrive(Ctx &c, const Inst &inst, uint32_t mask) {
  if (inst.mod[0]) {
    leaveBehind(c, mask);
    if (bool retry; !c.gather(~c.warp->exited, retry, Wait::Aligned))
      return retry ? Step::Jump : Step::Block;
  }
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
    c.checker->clusterArrive(*c.cta, *c.warp, mask,
                             !(inst.order & Inst::Release));
  if (c.timeline)
    c.timeline->clusterArrive(*c.cta, *c.warp);
  checkClusterRelease(cluster);
  if (inst.mod[0]) {
    ++c.pc;
    return Step::Jump;
  }
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
  if (!wait) {
    if (c.checker)
      c.checker->clusterWait(*c.cta, *c.warp, mask);
    if (c.timeline)
      c.timeline->clusterLeave(*c.cta, *c.warp);
    return Step::Next;
  }
  leaveBehind(c, mask);
  c.saveFragment();
  c.warp->frags[c.current].wait = Wait::Cluster;
  return Step::Block;
}

/// mod[0]: .sc.
static Step execFence(Ctx &c, const Inst &inst, uint32_t mask) {
  if (c.checker)
    c.checker->fence(c, mask, Inst::Scope(inst.scope), inst.mod[0]);
  return Step::Next;
}
static Step execInitFence(Ctx &c, const Inst &, uint32_t mask) {
  if (c.checker)
    c.checker->initFence(c, mask);
  return Step::Next;
}
static Step execNothing(Ctx &, const Inst &, uint32_t) { return Step::Next; }
/// mod[0]: shared memory; mod[1]: global memory.
static Step execProxyFence(Ctx &c, const Inst &inst, uint32_t mask) {
  if (c.checker)
    c.checker->proxyFence(c, mask, inst.mod[0], inst.mod[1]);
  return Step::Next;
}
static Step execMapFence(Ctx &c, const Inst &, uint32_t mask) {
  if (c.checker)
    c.checker->mapFence(c, mask);
  return Step::Next;
}

//===-- Decoders ----------------------------------------------------------===//

namespace {
bool decodeClusterBarrier(FunctionDecoder &d) {
  int what = d.hasOneOf({"arrive", "wait"});
  if (d.hasOneOf({"relaxed", "release"}) != 0)
    d.inst.order = Inst::Strong | Inst::Release;
  d.has("acquire");
  d.inst.mod[0] = d.has("aligned");
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
    bool async = d.has("async");
    // .async::generic with .acquire or .release is for one direction of one
    // CTA pair; the order it gives is that of a full fence.
    async |= d.has("async::generic");
    bool ofMaps = d.has("tensormap::generic");
    while (d.hasPrefix("async", rest) || d.hasPrefix("sync_restrict", rest))
      ;
    d.has("alias");
    int space =
        d.hasOneOf({"global", "shared::cta", "shared::cluster", "shared"});
    d.inst.mod[0] = space != 0;
    d.inst.mod[1] = space <= 0;
    bool acquires = d.hasOneOf({"acquire", "release"}) == 0;
    d.hasOneOf({"cta", "cluster", "gpu", "sys"});
    return d.emit(async                ? execProxyFence
                  : ofMaps && acquires ? execMapFence
                                       : execNothing,
                  Class::Barrier);
  }
  bool init = d.has("mbarrier_init");
  d.inst.mod[0] = d.has("sc");
  d.hasOneOf({"acq_rel", "acquire"});
  d.has("release");
  d.hasPrefix("sync_restrict", rest);
  if (int scope = d.hasOneOf({"cta", "cluster", "gpu", "sys"}); scope >= 0)
    d.inst.scope = uint8_t(scope);
  return d.emit(init ? execInitFence : execFence, Class::Barrier);
}
bool decodeMembar(FunctionDecoder &d) {
  bool proxy = d.has("proxy");
  static constexpr uint8_t scopes[] = {Inst::CtaOnly, Inst::Gpu, Inst::Gpu,
                                       Inst::System, Inst::System};
  if (int scope = d.hasOneOf({"cta", "gl", "gpu", "sys", "alias"}); scope >= 0)
    d.inst.scope = scopes[scope];
  d.inst.mod[0] = true;
  return d.emit(proxy ? execNothing : execFence, Class::Barrier);
}
} // namespace

void tile::sim::registerBarrier(DecodeTable &t) {
  t.insert({{"bar", decodeBarrier},
            {"barrier", decodeBarrier},
            {"fence", decodeFence},
            {"membar", decodeMembar}});
}
