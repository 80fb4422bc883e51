//===-- OrderChecker.cpp - Accesses and what they collide with ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "../Mbarrier.h"
#include "OrderRequest.h"
#include "RegisterChecker.h"
#include "TensorOrder.h"
#include "tile/Rules/Rules.h"
#include "tile/Simulator/TensorMap.h"

#include <algorithm>
#include <cinttypes>
#include <cstring>

using namespace tile::sim;
using tile::Rule;
using tile::RuleText;
using tile::textOf;

OrderChecker::OrderChecker(Launch &launch, const Cluster &cluster,
                           uint64_t number)
    : launch(launch), order(*launch.group->order),
      checks(launch.config->checks), warps(launch.warpsPerCta),
      clusterSize(uint32_t(cluster.ctas.size())), number(uint32_t(number)),
      engines(1), remote(clusterSize), atExit(clusterSize),
      tensorOrder(std::make_unique<TensorOrder>(*this, clusterSize)) {
  states.resize(size_t(clusterSize) * warps);
  for (uint32_t w = 0; w < states.size(); ++w) {
    states[w].live = initialLanes(launch, w % warps);
    // That a CTA's threads run says that it has started.
    for (uint32_t other = w / warps * warps, end = other + warps; other < end;
         ++other)
      Clock::raise(states[w].views[0].known.clock.warps, other, 1);
    states[w].now = 2;
  }
  for (uint32_t i = 0; launch.sharedBytes && i < clusterSize; ++i) {
    shadows.push_back(launch.takeShadow());
    shadows.back()->start(launch.sharedBytes);
  }
}

OrderChecker::~OrderChecker() {
  for (auto &shadow : shadows)
    launch.giveShadow(std::move(shadow));
}

//===-- Accesses of threads -----------------------------------------------===//

static uint8_t strength(const Inst &inst, Access kind) {
  uint8_t flags = Event::Generic;
  if (kind != Access::Load)
    flags |= Event::Write;
  if (kind != Access::Store && inst.isSwap)
    flags |= Event::Swap;
  if (kind == Access::Atomic || (inst.order & Inst::Strong)) {
    flags |= Event::Strong;
    static constexpr uint8_t scopes[] = {Event::CtaScope, Event::ClusterScope,
                                         Event::GpuScope, 0};
    flags |= scopes[inst.scope];
  }
  return flags;
}

void OrderChecker::access(Ctx &c, const Inst &inst, uint32_t mask, Cta *owner,
                          const uint64_t *address, uint32_t bytes,
                          Access kind) {
  uint32_t warp = warpOf(*c.cta, *c.warp);
  uint8_t flags = strength(inst, kind);
  bool strong = (flags & Event::Strong) && (owner || order.synchronizes);
  if (strong && kind != Access::Store)
    acquireFrom(c, inst, mask, owner, address);
  WarpState &state = states[warp];
  for (size_t i = 0; i < state.views.size(); ++i) {
    uint32_t part = state.views[i].lanes & mask;
    if (!part)
      continue;
    Request r{c,
              inst,
              {&state.views[i].known, warp, 0},
              owner,
              Event{state.now, site(c, inst), 0, number, uint16_t(warp), 0, 0,
                    flags}};
    r.self.laneBase = uint8_t(c.laneBase);
    r.bytes = bytes;
    r.address = address;
    r.needsWritten =
        owner && kind != Access::Store && (checks & CheckUninitialized);
    accessLanes(r, part);
  }
  if (owner && kind != Access::Load)
    for (uint32_t m = mask; m; m &= m - 1)
      markWritten(*owner, uint32_t(address[std::countr_zero(m)]) & 0xffffff,
                  bytes);
  if (owner && owner != c.cta)
    checkRemote(c, inst, firstLane(mask), mask, *owner);
  if (strong && kind != Access::Load)
    releaseTo(c, inst, mask, owner, address, kind == Access::Store);
}

void OrderChecker::shared(Ctx &c, const Inst &inst, uint32_t mask, Cta &owner,
                          const uint64_t *address, uint32_t bytes,
                          Access kind) {
  access(c, inst, mask, &owner, address, bytes, kind);
}
void OrderChecker::global(Ctx &c, const Inst &inst, uint32_t mask,
                          const uint64_t *address, uint32_t bytes,
                          Access kind) {
  if (checks & CheckGlobal)
    access(c, inst, mask, nullptr, address, bytes, kind);
}

OrderChecker::Request OrderChecker::threadRequest(Ctx &c, const Inst &inst,
                                                  unsigned lane, Cta *owner,
                                                  uint8_t bytes,
                                                  uint8_t flags) {
  uint32_t warp = warpOf(*c.cta, *c.warp);
  return {c,
          inst,
          {&viewOf(warp, lane).known, warp, 1u << lane},
          owner,
          Event{states[warp].now, site(c, inst), 1u << lane, number,
                uint16_t(warp), 0, bytes, flags}};
}

OrderChecker::Request
OrderChecker::engineRequest(Ctx &c, const Inst &inst, unsigned lane, Cta *owner,
                            uint32_t engine, uint32_t bytes, uint8_t flags) {
  uint32_t warp = warpOf(*c.cta, *c.warp);
  return {c,
          inst,
          {&viewOf(warp, lane).known, warp, 1u << lane},
          owner,
          Event{engines[engine].now, site(c, inst), warp * Lanes + lane, number,
                uint16_t(engine), 0, 0, uint8_t(flags | Event::Engine)},
          bytes,
          /*address=*/nullptr,
          /*asyncProxy=*/!(flags & Event::Generic)};
}

void OrderChecker::sharedBlock(Ctx &c, const Inst &inst, unsigned lane,
                               Cta &owner, uint32_t offset, uint32_t bytes,
                               uint8_t flags, bool isGeneric) {
  if (!bytes)
    return;
  Request r = threadRequest(c, inst, lane, &owner, 0,
                            uint8_t(flags | (isGeneric ? Event::Generic : 0)));
  r.bytes = bytes;
  accessRange(r, offset, bytes, r.self);
  if (flags & Event::Write)
    markWritten(owner, offset, bytes);
  if (&owner != c.cta)
    checkRemote(c, inst, lane, 1u << lane, owner);
}

//===-- Accesses of engines -----------------------------------------------===//

void OrderChecker::asyncShared(Ctx &c, const Inst &inst, unsigned lane,
                               Cta &owner, uint32_t offset, uint32_t bytes,
                               uint8_t flags, uint32_t engine) {
  if (!bytes)
    return;
  Engine &g = engines[engine];
  g.used = g.now;
  g.last = &inst;
  g.lastCode = c.code;
  Request r = engineRequest(c, inst, lane, &owner, engine, bytes, flags);
  if (!(flags & Event::Write) && (checks & CheckUninitialized))
    checkWritten(r, lane, offset, bytes);
  accessRange(r, offset, bytes, r.self);
  if (flags & Event::Write)
    markWritten(owner, offset, bytes);
  if (&owner != c.cta)
    checkRemote(c, inst, lane, 0, owner);
  if (&owner != c.cta || g.kind == EngineKind::Transfer)
    Clock::raise(remote[owner.rank].engines, engine, g.now);
}

void OrderChecker::asyncGlobal(Ctx &c, const Inst &inst, unsigned lane,
                               uint64_t address, uint32_t bytes, uint8_t flags,
                               uint32_t engine) {
  if (!bytes || !(checks & CheckGlobal))
    return;
  Request r = engineRequest(c, inst, lane, nullptr, engine, bytes, flags);
  accessRange(r, address, bytes, r.self);
}

void OrderChecker::mapRead(Ctx &c, const Inst &inst, unsigned lane,
                           uint64_t address, uint32_t engine) {
  if (!(checks & CheckGlobal))
    return;
  Request r = engineRequest(c, inst, lane, nullptr, engine, TensorMap::bytes,
                            Event::Generic);
  r.mapProxy = true;
  accessRange(r, address, TensorMap::bytes, r.self);
}

void OrderChecker::mapWrite(Ctx &c, const Inst &inst, uint32_t mask, Cta &owner,
                            uint32_t offset, uint64_t address) {
  unsigned lane = firstLane(mask);
  sharedBlock(c, inst, lane, owner, offset, TensorMap::bytes, 0);
  if (checks & CheckGlobal) {
    Request r =
        threadRequest(c, inst, lane, nullptr, 0, Event::Write | Event::Generic);
    r.bytes = TensorMap::bytes;
    accessRange(r, address, TensorMap::bytes, r.self);
  }
  // Its lanes copy together.
  warpSync(c, mask);
}

void OrderChecker::beginMatrix(Ctx &c) {
  uint32_t first = warpOf(*c.cta, *c.warp) - c.warp->index % 4;
  matrixEngine =
      engineOf(EngineKind::Matrix, c.cta->rank * warps + (c.warp->index & ~3u));
  matrixTime = c.warp->matrix.group;
  bool fresh = true;
  for (uint32_t w = first; w < first + 4; ++w)
    for (const View &v : states[w].views) {
      if (!(v.lanes & states[w].live))
        continue;
      if (fresh)
        matrixKnown = v.known;
      else
        matrixKnown.meet(v.known);
      fresh = false;
    }
}

void OrderChecker::matrixRead(Ctx &c, const Inst &inst, uint32_t offset,
                              uint32_t bytes) {
  uint32_t warp = warpOf(*c.cta, *c.warp);
  Request r{c,
            inst,
            {&matrixKnown, ~0u, 0},
            c.cta,
            Event{matrixTime, site(c, inst), warp * Lanes, number,
                  uint16_t(matrixEngine), 0, 0, Event::Engine}};
  r.bytes = bytes;
  r.asyncProxy = true;
  if (checks & CheckUninitialized)
    checkWritten(r, 0, offset, bytes);
  accessRange(r, offset, bytes, r.self);
}

//===-- mbarriers ---------------------------------------------------------===//

/// Are the uses of a mbarrier known? Those of a warp whose lanes gave each
/// other values since are, if one of the lanes is known after that. Libcu++
/// counts the lanes of a warp out together, and the last warp's lane ends the
/// object.
bool OrderChecker::knowsUses(const Clock &known, const Clock &uses) const {
  if (known.covers(uses))
    return true;
  for (uint32_t w = 0; w < states.size(); ++w) {
    uint32_t since = states[w].collective;
    bool knowsOne = false;
    for (unsigned l = 0; l < Lanes && !knowsOne; ++l)
      knowsOne = since && known.knowsLane(w, l, since + 1);
    for (unsigned l = 0; l < Lanes; ++l) {
      uint32_t time = std::max(Clock::at(uses.warps, w),
                               Clock::at(uses.lanes, w * Lanes + l));
      if (!known.knowsLane(w, l, time) && !(knowsOne && time <= since))
        return false;
    }
  }
  return true;
}

void OrderChecker::mbarrierInit(Ctx &c, const Inst &inst, unsigned lane,
                                Cta &owner, uint32_t offset, bool ends) {
  uint32_t warp = warpOf(*c.cta, *c.warp);
  Mbarrier &b = mbarriers[key(owner, offset)];
  Clock known = viewOf(warp, lane).known.clock;
  addOwn(warp, 1u << lane, known);
  const RuleText &rule =
      textOf(ends ? Rule::EndUnordered : Rule::InitUnordered);
  if ((checks & CheckRaces) &&
      !(ends ? knowsUses(known, b.uses) : known.covers(b.uses)))
    c.note(inst, lane, rule.kind,
           std::string(rule.text) + " (at shared memory " +
               std::to_string(offset) + ")");
  b = {};
  sharedBlock(c, inst, lane, owner, offset, 8,
              ends ? Event::Write : Event::Write | Event::Init);
}

void OrderChecker::mbarrierUse(Ctx &c, const Inst &inst, unsigned lane,
                               Cta &owner, uint32_t offset) {
  uint32_t warp = warpOf(*c.cta, *c.warp);
  Request r =
      threadRequest(c, inst, lane, &owner, 15, Event::Write | Event::Strong);
  Event bad;
  eachEvent(r, offset, 8, [&](const Event &x) {
    if (x.is(Event::Write) && !x.is(Event::Strong) && !isOrdered(r.observer, x))
      bad = x;
  });
  if (bad.time)
    report(r, r.self, bad, offset, false);
  mbarriers[key(owner, offset)].uses.learn(warp, 1u << lane, states[warp].live,
                                           states[warp].now);
  if (&owner != c.cta)
    checkRemote(c, inst, lane, 1u << lane, owner);
}

void OrderChecker::mbarrierSignal(Ctx &c, const Inst &inst, unsigned lane,
                                  Cta &owner, uint32_t offset,
                                  bool asyncProxy) {
  Request r = threadRequest(c, inst, lane, &owner, 15,
                            Event::Write | Event::Strong | Event::Engine);
  r.self.time = 1;
  const Event *bad = nullptr;
  Event kept;
  eachEvent(r, offset, 8, [&](const Event &x) {
    if (x.is(Event::Init) && !bad &&
        (!isOrdered(r.observer, x) ||
         (asyncProxy && !isFenced(r.observer, x, true, true)))) {
      kept = x;
      bad = &kept;
    }
  });
  if (bad)
    report(r, r.self, kept, offset, isOrdered(r.observer, kept));
}

//===-- Initialization ----------------------------------------------------===//

/// Were all of these bytes of shared memory written? Their flags are 0 or 1.
bool OrderChecker::isWritten(const Request &r, uint64_t at,
                             uint32_t size) const {
  const uint8_t *from = shadows[r.owner->rank]->written.data() + at;
  constexpr uint64_t ones = 0x0101010101010101;
  auto isSet = [&](auto flags, size_t offset = 0) {
    std::memcpy(&flags, from + offset, sizeof flags);
    return flags == decltype(flags)(ones);
  };
  switch (size) {
  case 2:
    return isSet(uint16_t());
  case 4:
    return isSet(uint32_t());
  case 8:
    return isSet(uint64_t());
  case 16:
    return isSet(uint64_t()) && isSet(uint64_t(), 8);
  default:
    return std::memchr(from, 0, size) == nullptr;
  }
}

static void setWritten(uint8_t *to, uint32_t size) {
  switch (size) {
  case 2:
    std::memset(to, 1, 2);
    return;
  case 4:
    std::memset(to, 1, 4);
    return;
  case 8:
    std::memset(to, 1, 8);
    return;
  case 16:
    std::memset(to, 1, 16);
    return;
  default:
    std::memset(to, 1, size);
  }
}

void OrderChecker::checkWritten(Request &r, unsigned lane, uint64_t at,
                                uint32_t size) {
  if (isWritten(r, at, size))
    return;
  // The rows of a matrix go to all lanes.
  bool isRow = std::string_view(r.inst.name) == "ldmatrix";
  if (r.inst.cls == Class::Load &&
      loadNothing(r.c, r.inst, isRow ? FullMask : 1u << lane))
    return;
  r.c.note(r.inst, lane, textOf(Rule::NotWritten).kind,
           r.self.is(Event::Engine)
               ? "asynchronous read of shared memory at byte " +
                     std::to_string(at) + " that nobody has written"
               : "read of " + std::to_string(size) +
                     " bytes of shared memory at " +
                     nameShared(*launch.program, at, size) +
                     " that nobody has written");
  std::memset(shadows[r.owner->rank]->written.data() + at, 1, size);
}

void OrderChecker::markWritten(Cta &owner, uint32_t offset, uint32_t bytes) {
  if (bytes)
    setWritten(shadows[owner.rank]->written.data() + offset, bytes);
}

/// Another CTA's memory: has it started, and will it wait for this access?
void OrderChecker::checkRemote(Ctx &c, const Inst &inst, unsigned lane,
                               uint32_t mask, Cta &owner) {
  uint32_t warp = warpOf(*c.cta, *c.warp);
  const Clock &known = viewOf(warp, lane).known.clock;
  bool started = false;
  for (uint32_t w = owner.rank * warps; w < (owner.rank + 1) * warps; ++w)
    for (unsigned l = 0; l < Lanes && !started; ++l)
      started |= known.knowsLane(w, l, 1);
  if (!started && (checks & CheckRaces))
    c.note(inst, lane, "unstarted-cta",
           "access to the shared memory of CTA rank " +
               std::to_string(owner.rank) +
               " of the cluster, which may not have started: no cluster "
               "barrier comes before");
  if (mask)
    remote[owner.rank].learn(warp, mask, states[warp].live, states[warp].now);
}

//===-- Reports -----------------------------------------------------------===//

uint32_t OrderChecker::site(const Ctx &c, const Inst &inst) const {
  return launch.firstSite[c.code->index] + 1 +
         uint32_t(&inst - c.code->insts.data());
}

static std::pair<const Code *, const Inst *> siteOf(const Launch &launch,
                                                    uint32_t number) {
  --number;
  const std::vector<uint32_t> &first = launch.firstSite;
  size_t index = size_t(std::upper_bound(first.begin(), first.end(), number) -
                        first.begin()) -
                 1;
  const Code *code = launch.program->codes[index].get();
  return {code, &code->insts[number - first[index]]};
}

/// A thread of a cluster by its number there.
static ThreadId threadIn(const Launch &launch, uint32_t cluster,
                         uint32_t thread, uint32_t laneBase = 0) {
  uint32_t warp = thread / Lanes;
  return launch.threadOf(
      ctaId(launch, cluster - launch.firstCluster, warp / launch.warpsPerCta),
      warp % launch.warpsPerCta, laneBase + thread % Lanes);
}

std::string OrderChecker::describe(const Request &r, uint64_t at) const {
  if (r.owner)
    return "shared memory at " + nameShared(*launch.program, at, r.bytes);
  return "global memory at " + nameGlobal(launch, at);
}

/// Where an engine's work completes, and how far that is.
std::string OrderChecker::completion(const Ctx &c, uint32_t engine,
                                     uint32_t time) const {
  const Engine &g = engines[engine];
  if (g.kind == EngineKind::Tensor)
    return " (it completes with a tcgen05.commit of its thread)";
  if (g.kind != EngineKind::Transfer)
    return g.kind == EngineKind::Matrix
               ? " (group " + std::to_string(time) + " of the warp group)"
               : " (group " + std::to_string(time) +
                     " of its thread, which has waited for " +
                     std::to_string(g.done) + ")";
  for (auto [place, index] : engineIndex)
    if (index == engine)
      return " (it completes on the mbarrier: " +
             describeMbarrier(*c.cluster->ctas[place >> 32 & 0xffff],
                              uint32_t(place)) +
             ")";
  return "";
}

void OrderChecker::report(Request &r, const Event &self, const Event &x,
                          uint64_t at, bool proxy) {
  bool isAsync = x.is(Event::Engine);
  unsigned needed = proxy || isAsync ? CheckAsync
                    : r.owner        ? CheckRaces
                                     : CheckGlobal;
  if (!(checks & needed) || r.reported)
    return;
  r.reported = true;
  const Launch &there = launch.group->launchOf(x.cluster);
  auto [code, other] = siteOf(there, x.inst);
  uint32_t thread =
      isAsync ? x.lanes : x.agent * Lanes + uint32_t(std::countr_zero(x.lanes));
  uint32_t lanes =
      self.is(Event::Engine) ? self.lanes % Lanes : firstLane(self.lanes);
  // The lane whose own access does not collide is of no use.
  if (!isAsync && x.agent == self.agent && x.cluster == number &&
      std::popcount(x.lanes) > 1 && (thread & 31) == lanes)
    thread =
        x.agent * Lanes + uint32_t(std::countr_zero(x.lanes & ~(1u << lanes)));
  ThreadId who = threadIn(there, x.cluster, thread, x.laneBase);
  bool init = x.is(Event::Init), sameCluster = x.cluster == number;
  const char *why =
      proxy && r.mapProxy
          ? "a fence.proxy.tensormap::generic.acquire is missing between the "
            "two"
      : proxy && init
          ? "a fence.mbarrier_init or fence.proxy.async is missing between the "
            "two"
      : proxy   ? "a fence.proxy.async is missing between the two"
      : init    ? textOf(Rule::InitUnknown).text
      : isAsync ? textOf(Rule::AsyncUnfinished).text
      : !sameCluster && !order.synchronizes
          ? launch.has(x.cluster) ? "nothing orders the two CTAs"
                                  : "nothing orders the two GPUs"
      : x.is(Event::Strong) && self.is(Event::Strong)
          ? "the scope of one does not include the other"
      : sameCluster && x.agent == self.agent && !self.is(Event::Engine)
          ? "the warp's lanes are not synchronized in between"
      : sameCluster ? textOf(Rule::Unordered).text
                    : "no release and acquire order the two";
  const char *kind = proxy     ? "missing-proxy-fence"
                     : isAsync ? textOf(Rule::AsyncUnfinished).kind
                               : textOf(Rule::Unordered).kind;
  r.c.note(r.inst, lanes, kind,
           tile::describeRace(self.is(Event::Write), describe(r, at), isAsync,
                              x.is(Event::Write), "", why) +
               (isAsync && sameCluster ? completion(r.c, x.agent, x.time) : ""),
           other, code, &who, &there);
}

void OrderChecker::noteEngine(Ctx &c, const Inst &inst, unsigned lane,
                              const Engine &engine,
                              const std::string &message) {
  uint32_t thread = 0;
  if (engine.kind <= EngineKind::BulkWrite)
    thread = engine.owner;
  ThreadId who = threadIn(launch, number, thread);
  c.note(inst, lane, textOf(Rule::AsyncAtExit).kind,
         message +
             completion(c, uint32_t(&engine - engines.data()), engine.used),
         engine.last, engine.lastCode, &who);
}
