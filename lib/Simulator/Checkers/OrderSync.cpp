//===-- OrderSync.cpp - What orders accesses ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "OrderChecker.h"

using namespace tile::sim;

//===-- Views -------------------------------------------------------------===//

OrderChecker::View &OrderChecker::viewOf(uint32_t warp, unsigned lane) {
  for (View &v : states[warp].views)
    if (v.lanes >> lane & 1)
      return v;
  return states[warp].views.front();
}

/// Calls f(view) for views that together hold exactly the lanes of `mask` that
/// are alive.
template <class F>
void OrderChecker::eachView(uint32_t warp, uint32_t mask, F f) {
  WarpState &state = states[warp];
  for (size_t i = 0, count = state.views.size(); i < count; ++i) {
    uint32_t part = state.views[i].lanes & mask;
    if (!part)
      continue;
    if (state.views[i].lanes & state.live & ~part) {
      View copy = state.views[i];
      copy.lanes = part;
      state.views[i].lanes &= ~part;
      state.views.push_back(std::move(copy));
      f(state.views.back());
    } else {
      f(state.views[i]);
    }
  }
}

void OrderChecker::acquire(uint32_t warp, uint32_t mask,
                           const Knowledge &what) {
  WarpState &state = states[warp];
  if (state.views.size() == 1 && !(state.live & ~mask)) {
    state.views[0].known.join(what);
    return;
  }
  // Lanes that learn nothing new stay together with the others.
  for (const View &v : state.views)
    if ((v.lanes & mask) && v.known.covers(what))
      mask &= ~v.lanes;
  eachView(warp, mask, [&](View &v) { v.known.join(what); });
}

void OrderChecker::addOwn(uint32_t warp, uint32_t mask, Clock &clock) const {
  const WarpState &state = states[warp];
  clock.learn(warp, mask, state.live, state.now);
  if (!state.hasEngines)
    return;
  for (; mask; mask &= mask - 1) {
    uint32_t thread = warp * Lanes + uint32_t(std::countr_zero(mask));
    for (const auto &table : threadEngines)
      if (thread < table.size() && table[thread])
        Clock::raise(clock.engines, table[thread], engines[table[thread]].done);
  }
}

void OrderChecker::release(uint32_t warp, uint32_t mask, Knowledge &into) {
  for (const View &v : states[warp].views)
    if (v.lanes & mask)
      into.join(v.known);
  addOwn(warp, mask, into.clock);
  ++states[warp].now;
}

static void joinShared(std::shared_ptr<const Knowledge> &into,
                       const std::shared_ptr<const Knowledge> &from) {
  if (!from || into == from)
    return;
  if (!into) {
    into = from;
    return;
  }
  auto joined = std::make_shared<Knowledge>(*into);
  joined->join(*from);
  into = std::move(joined);
}

void OrderChecker::warpSync(Ctx &c, uint32_t mask) {
  uint32_t warp = warpOf(*c.cta, *c.warp);
  WarpState &state = states[warp];
  if (state.views.size() == 1 && !(state.live & ~mask)) {
    addOwn(warp, mask, state.views[0].known.clock);
    ++state.now;
    return;
  }
  View together;
  together.lanes = mask;
  for (View &v : state.views)
    if (v.lanes & mask) {
      together.known.join(v.known);
      joinShared(together.fenced, v.fenced);
      together.fenceScope = std::max(together.fenceScope, v.fenceScope);
      joinShared(together.observed, v.observed);
      v.lanes &= ~mask;
    }
  addOwn(warp, mask, together.known.clock);
  ++state.now;
  std::erase_if(state.views,
                [&](const View &v) { return !(v.lanes & state.live); });
  if (state.views.empty())
    together.lanes = FullMask;
  state.views.push_back(std::move(together));
}

//===-- Engines -----------------------------------------------------------===//

uint32_t OrderChecker::engineOf(EngineKind kind, uint32_t owner) {
  if (kind <= EngineKind::BulkWrite) {
    std::vector<uint32_t> &table = threadEngines[size_t(kind)];
    if (table.empty())
      table.resize(size_t(clusterSize) * warps * Lanes);
    if (!table[owner]) {
      table[owner] = uint32_t(engines.size());
      engines.push_back({kind, owner});
      states[owner / Lanes].hasEngines = true;
    }
    return table[owner];
  }
  auto [it, fresh] = engineIndex.try_emplace(uint64_t(kind) << 56 | owner,
                                             uint32_t(engines.size()));
  if (fresh)
    engines.push_back({kind, owner});
  return it->second;
}

uint32_t OrderChecker::transferEngine(Cta &owner, uint32_t offset) {
  auto [it, fresh] = engineIndex.try_emplace(
      uint64_t(EngineKind::Transfer) << 56 | key(owner, offset),
      uint32_t(engines.size()));
  if (fresh)
    engines.push_back({EngineKind::Transfer, owner.rank});
  return it->second;
}

void OrderChecker::commit(Ctx &c, EngineKind kind, uint32_t mask) {
  const std::vector<uint32_t> &table = threadEngines[size_t(kind)];
  for (; mask && !table.empty(); mask &= mask - 1) {
    // An empty group counts, too.
    uint32_t thread = threadOf(c, unsigned(std::countr_zero(mask)));
    ++engines[engineOf(kind, thread)].now;
  }
}

void OrderChecker::waitGroups(Ctx &c, EngineKind kind, uint32_t mask,
                              uint32_t left) {
  const std::vector<uint32_t> &table = threadEngines[size_t(kind)];
  for (; mask && !table.empty(); mask &= mask - 1) {
    uint32_t at = table[threadOf(c, unsigned(std::countr_zero(mask)))];
    if (at && engines[at].now > left)
      engines[at].done = std::max(engines[at].done, engines[at].now - 1 - left);
  }
}

void OrderChecker::waitMatrix(Ctx &c, uint32_t left) {
  uint32_t warp = warpOf(*c.cta, *c.warp), group = c.warp->matrix.group;
  uint32_t engine =
      engineOf(EngineKind::Matrix, c.cta->rank * warps + (c.warp->index & ~3u));
  if (group > left)
    for (View &v : states[warp].views)
      Clock::raise(v.known.clock.engines, engine, group - 1 - left);
}

bool OrderChecker::knowsEngine(Ctx &c, uint32_t mask, uint32_t engine,
                               uint32_t time) const {
  for (const View &v : states[warpNumber(c)].views)
    if ((v.lanes & mask) && !v.known.clock.knowsEngine(engine, time))
      return false;
  return true;
}
bool OrderChecker::knowsWarp(Ctx &c, uint32_t mask, uint32_t warp,
                             uint32_t time) const {
  for (const View &v : states[warpNumber(c)].views)
    if ((v.lanes & mask) && !v.known.clock.knows(warp, FullMask, time))
      return false;
  return true;
}
void OrderChecker::learnEngine(Ctx &c, uint32_t mask, uint32_t engine,
                               uint32_t time) {
  eachView(warpNumber(c), mask,
           [&](View &v) { Clock::raise(v.known.clock.engines, engine, time); });
}

//===-- Barriers ----------------------------------------------------------===//

void OrderChecker::barrierArrive(Cta &cta, Warp &warp, uint32_t mask,
                                 unsigned number) {
  // CUDA's guide has __syncthreads after a relaxed atomic stand for the fence
  // that acquires what was seen.
  uint32_t w = warpOf(cta, warp);
  for (View &v : states[w].views)
    if ((v.lanes & mask) && v.observed) {
      v.known.join(*v.observed);
      v.observed = nullptr;
    }
  release(w, mask, barriers[key(cta, number)]);
}
void OrderChecker::barrierWait(Cta &cta, Warp &warp, uint32_t mask,
                               unsigned number) {
  acquire(warpOf(cta, warp), mask, barriers[key(cta, number)]);
}
void OrderChecker::barrierDone(Cta &cta, unsigned number) {
  barriers.erase(key(cta, number));
}

void OrderChecker::clusterArrive(Cta &cta, Warp &warp, uint32_t mask,
                                 bool relaxed) {
  uint32_t w = warpOf(cta, warp);
  if (!relaxed) {
    release(w, mask, clusterPending);
    return;
  }
  for (const View &v : states[w].views)
    if ((v.lanes & mask) && v.fenced)
      clusterPending.join(*v.fenced);
}
void OrderChecker::clusterDone() {
  clusterKnown.join(clusterPending);
  clusterPending = {};
}
void OrderChecker::clusterWait(Cta &cta, Warp &warp, uint32_t mask) {
  acquire(warpOf(cta, warp), mask, clusterKnown);
}

//===-- Fences ------------------------------------------------------------===//

void OrderChecker::proxyFence(Ctx &c, uint32_t mask, bool sharedToo,
                              bool globalToo) {
  uint32_t warp = warpOf(*c.cta, *c.warp);
  eachView(warp, mask, [&](View &v) {
    Clock known = v.known.clock;
    addOwn(warp, v.lanes & mask, known);
    if (sharedToo)
      v.known.sharedFenced.join(known);
    if (globalToo) {
      v.known.globalFenced.join(known);
      joinForeign(v.known.foreignFenced, v.known.foreign);
    }
  });
  // Later stores of these lanes are not covered.
  ++states[warp].now;
}

void OrderChecker::mapFence(Ctx &c, uint32_t mask) {
  uint32_t warp = warpOf(*c.cta, *c.warp);
  eachView(warp, mask, [&](View &v) {
    v.known.mapFenced.join(v.known.clock);
    addOwn(warp, v.lanes & mask, v.known.mapFenced);
  });
  ++states[warp].now;
}

void OrderChecker::initFence(Ctx &c, uint32_t mask) {
  uint32_t warp = warpOf(*c.cta, *c.warp);
  eachView(warp, mask, [&](View &v) {
    v.known.inits.join(v.known.clock);
    addOwn(warp, v.lanes & mask, v.known.inits);
    // A relaxed arrival at the cluster barrier passes that on.
    auto snapshot = v.fenced ? std::make_shared<Knowledge>(*v.fenced)
                             : std::make_shared<Knowledge>();
    snapshot->inits.join(v.known.inits);
    v.fenced = std::move(snapshot);
    v.fenceScope = std::max(v.fenceScope, Inst::ClusterOnly);
  });
  ++states[warp].now;
}

void OrderChecker::acquireFence(Ctx &c, uint32_t mask) {
  eachView(warpOf(*c.cta, *c.warp), mask, [](View &v) {
    if (v.observed)
      v.known.join(*v.observed);
    v.observed = nullptr;
  });
}
void OrderChecker::fence(Ctx &c, uint32_t mask, Inst::Scope scope,
                         bool sequential) {
  uint32_t warp = warpOf(*c.cta, *c.warp);
  acquireFence(c, mask);
  eachView(warp, mask, [&](View &v) {
    if (sequential) {
      // Fences of this kind have one order. Whoever sees a store behind a
      // barrier that this fence precedes, and makes such a fence, comes later.
      v.known.ordered.join(v.known.clock);
      addOwn(warp, v.lanes & mask, v.known.ordered);
      joinForeign(v.known.foreignOrdered, v.known.foreign);
    }
    auto snapshot = std::make_shared<Knowledge>(v.known);
    addOwn(warp, v.lanes & mask, snapshot->clock);
    v.fenced = std::move(snapshot);
    v.fenceScope = std::max(v.fenceScope, scope);
  });
  ++states[warp].now;
}

//===-- mbarriers ---------------------------------------------------------===//

void OrderChecker::mbarrierArrive(Ctx &c, unsigned lane, Cta &owner,
                                  uint32_t offset, bool relaxed) {
  uint32_t warp = warpOf(*c.cta, *c.warp);
  Knowledge &pending = mbarriers[key(owner, offset)].pending;
  if (!relaxed)
    release(warp, 1u << lane, pending);
  else if (const View &v = viewOf(warp, lane); v.fenced)
    pending.join(*v.fenced);
}
void OrderChecker::mbarrierFlip(Cta &owner, uint32_t offset) {
  Mbarrier &b = mbarriers[key(owner, offset)];
  b.done.join(b.pending);
  b.pending = {};
}
void OrderChecker::mbarrierWait(Ctx &c, uint32_t mask, Cta &owner,
                                uint32_t offset, bool relaxed) {
  uint32_t warp = warpOf(*c.cta, *c.warp);
  const Knowledge &done = mbarriers[key(owner, offset)].done;
  if (!relaxed) {
    acquire(warp, mask, done);
    return;
  }
  eachView(warp, mask, [&](View &v) {
    joinShared(v.observed, std::make_shared<const Knowledge>(done));
  });
}
void OrderChecker::completesOn(Cta &owner, uint32_t offset, uint32_t engine,
                               uint32_t time) {
  Clock::raise(mbarriers[key(owner, offset)].pending.clock.engines, engine,
               time);
}

//===-- Words that threads synchronize through ----------------------------===//

void OrderChecker::observe(uint32_t warp, uint32_t mask, bool acquires,
                           const Knowledge &what) {
  if (acquires) {
    acquire(warp, mask, what);
    return;
  }
  eachView(warp, mask, [&](View &v) {
    if (v.observed && v.observed->covers(what))
      return;
    joinShared(v.observed, std::make_shared<const Knowledge>(what));
  });
}

/// The lanes of one instruction acquire together, and release together.
void OrderChecker::acquireFrom(Ctx &c, const Inst &inst, uint32_t mask,
                               Cta *owner, const uint64_t *address) {
  uint32_t warp = warpOf(*c.cta, *c.warp);
  bool acquires = inst.order & Inst::Acquire;
  const Knowledge *last = nullptr;
  if (owner) {
    for (uint32_t m = mask; m && !locations.empty(); m &= m - 1) {
      uint32_t offset = uint32_t(address[std::countr_zero(m)]) & 0xffffff;
      auto it = locations.find(key(*owner, offset));
      if (it != locations.end() && &it->second != last)
        observe(warp, mask, acquires, *(last = &it->second));
    }
    return;
  }
  std::lock_guard lock(order.guard);
  const GlobalLocation *seen = nullptr;
  for (uint32_t m = mask; m && !order.locations.empty(); m &= m - 1) {
    auto it = order.locations.find(address[std::countr_zero(m)]);
    if (it == order.locations.end() || &it->second == seen)
      continue;
    seen = &it->second;
    Knowledge other = seen->visibleTo(launch.gpu, Inst::Scope(inst.scope));
    if (seen->cluster == number)
      observe(warp, mask, acquires, seen->local);
    else if (std::shared_ptr<const Knowledge> own =
                 other.foreign
                     ? order.published(number, (*other.foreign)[number])
                     : nullptr)
      observe(warp, mask, acquires, *own);
    // A scope that ends at the CTA reaches no other cluster.
    if (inst.scope >= Inst::Gpu && other.foreign)
      observe(warp, mask, acquires, other);
  }
}

void OrderChecker::releaseTo(Ctx &c, const Inst &inst, uint32_t mask,
                             Cta *owner, const uint64_t *address,
                             bool replaces) {
  uint32_t warp = warpOf(*c.cta, *c.warp);
  Knowledge what;
  bool any = inst.order & Inst::Release;
  auto scope = Inst::Scope(inst.scope);
  if (any)
    release(warp, mask, what);
  else {
    auto fences = Inst::CtaOnly;
    for (const View &v : states[warp].views) {
      if (!(v.lanes & mask))
        continue;
      fences = std::max(fences, v.fenceScope);
      if (v.fenced) {
        what.join(*v.fenced);
        any = true;
      }
      if (v.known.ordered.isEmpty() && !v.known.foreignOrdered)
        continue;
      what.clock.join(v.known.ordered);
      what.ordered.join(v.known.ordered);
      joinForeign(what.foreign, v.known.foreignOrdered);
      joinForeign(what.foreignOrdered, v.known.foreignOrdered);
      any = true;
      // Whoever made that fence, and how wide it was, is not known.
      fences = Inst::System;
    }
    scope = std::min(scope, fences);
  }
  if (owner) {
    for (uint32_t m = mask; m; m &= m - 1) {
      uint32_t offset = uint32_t(address[std::countr_zero(m)]) & 0xffffff;
      if (!any && !locations.count(key(*owner, offset)))
        continue;
      Knowledge &at = locations[key(*owner, offset)];
      if (replaces)
        at = what;
      else
        at.join(what);
    }
    return;
  }
  std::lock_guard lock(order.guard);
  std::shared_ptr<const Foreign> published = what.foreign;
  if (any && scope >= Inst::Gpu)
    published = order.with(number, order.publish(number, what), published);
  for (uint32_t m = mask; m; m &= m - 1) {
    uint64_t place = address[std::countr_zero(m)];
    if (!any && !order.locations.count(place))
      continue;
    GlobalLocation &at = order.locations[place];
    if (replaces) {
      at = {};
    }
    if (!any)
      continue;
    if (at.cluster != number) {
      at.cluster = number;
      at.local = what;
      // What this cluster had released here before is in its publications.
    } else {
      at.local.join(what);
    }
    at.show(launch.gpu, scope, published, what.foreignFenced);
  }
}

//===-- Leaving -----------------------------------------------------------===//

void OrderChecker::exitThreads(Ctx &c, const Inst &inst, uint32_t mask) {
  uint32_t warp = warpOf(*c.cta, *c.warp);
  for (uint32_t m = mask; m && states[warp].hasEngines; m &= m - 1) {
    unsigned lane = unsigned(std::countr_zero(m));
    const auto &table = threadEngines[size_t(EngineKind::BulkRead)];
    if (table.empty() || !table[warp * Lanes + lane])
      continue;
    const Engine &g = engines[table[warp * Lanes + lane]];
    if (g.used > g.done && (checks & CheckAsync))
      noteEngine(c, inst, lane, g,
                 "the thread ends while its bulk copy may still read shared "
                 "memory: a cp.async.bulk.commit_group and wait_group of the "
                 "same thread are missing");
  }
  Knowledge last;
  release(warp, mask, last);
  atExit[c.cta->rank].join(last.clock);
  states[warp].live &= ~mask;
}

void OrderChecker::exitCta(Ctx &c, const Inst &inst, unsigned lane) {
  const Clock &known = atExit[c.cta->rank], &used = remote[c.cta->rank];
  if (!(checks & CheckAsync))
    return;
  for (uint32_t e = 1; e < used.engines.size(); ++e)
    if (used.engines[e] > Clock::at(known.engines, e)) {
      noteEngine(c, inst, lane, engines[e],
                 "the CTA ends while an asynchronous copy into its shared "
                 "memory may still run: nobody waited for it");
      return;
    }
  for (uint32_t w = 0; w < clusterSize * warps; ++w) {
    uint32_t lanes = 0;
    for (unsigned l = 0; l < Lanes; ++l) {
      uint32_t time = std::max(Clock::at(used.warps, w),
                               Clock::at(used.lanes, w * Lanes + l));
      lanes |= uint32_t(!known.knowsLane(w, l, time)) << l;
    }
    if (!lanes)
      continue;
    ThreadId other =
        c.threadOf(*c.cluster->ctas[w / warps], w % warps, firstLane(lanes));
    c.note(inst, lane, "exited-cta",
           "the CTA may end before the accesses of " + other.format() +
               " to its shared memory: no cluster barrier or mbarrier orders "
               "the two");
    return;
  }
}
