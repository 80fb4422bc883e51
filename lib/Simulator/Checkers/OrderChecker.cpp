//===-- OrderChecker.cpp - Accesses and what they collide with ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "OrderChecker.h"

#include <algorithm>
#include <cinttypes>
#include <cstring>

using namespace tile::sim;

/// Who accesses, and what they know.
struct OrderChecker::Observer {
  const Knowledge *known;
  uint32_t warp;  ///< of the cluster; none for a warp group
  uint32_t lanes; ///< whose own accesses are before this one
};

/// An instruction's accesses.
struct OrderChecker::Request {
  Ctx &c;
  const Inst &inst;
  Observer observer;
  Cta *owner;         ///< of the shared memory; null for global memory
  Event self;         ///< lanes and bytes are filled in for each access
  uint32_t bytes = 0; ///< of a lane
  const uint64_t *address = nullptr;
  bool asyncProxy = false; ///< needs a proxy fence after generic writes
  bool broadcast = false;  ///< all lanes read one place
  bool reported = false;

  bool isWrite() const { return self.is(Event::Write); }
  /// One address for a lane: offsets in shared memory, addresses in global.
  uint64_t place(unsigned lane) const {
    return owner ? address[lane] & 0xffffff : address[lane];
  }
  const std::byte *memory(uint64_t at) const {
    return owner ? owner->shared.data() + at
                 : reinterpret_cast<const std::byte *>(at);
  }
};

OrderChecker::OrderChecker(Launch &launch, const Cluster &cluster,
                           uint64_t number)
    : launch(launch), order(*launch.order), checks(launch.config->checks),
      warps(launch.warpsPerCta), clusterSize(uint32_t(cluster.ctas.size())),
      number(uint32_t(number)), engines(1), remote(clusterSize),
      atExit(clusterSize) {
  states.resize(size_t(clusterSize) * warps);
  for (uint32_t w = 0; w < states.size(); ++w) {
    uint32_t first = w % warps * Lanes,
             count = std::min(Lanes, launch.threadsPerCta - first);
    states[w].live = count == Lanes ? FullMask : (1u << count) - 1;
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

//===-- Order -------------------------------------------------------------===//

bool OrderChecker::isOrdered(const Observer &o, const Event &x) const {
  if (x.cluster != number) {
    if (!order.synchronizes || !o.known->foreign)
      return false;
    const Knowledge *p =
        order.published(x.cluster, (*o.known->foreign)[x.cluster]);
    return p &&
           (x.is(Event::Engine) ? p->clock.knowsEngine(x.agent, x.time)
                                : p->clock.knows(x.agent, x.lanes, x.time));
  }
  if (x.is(Event::Engine)) {
    const Engine &g = engines[x.agent];
    if (g.kind <= EngineKind::BulkWrite && g.owner / Lanes == o.warp &&
        o.lanes == 1u << g.owner % Lanes)
      return g.done >= x.time || o.known->clock.knowsEngine(x.agent, x.time);
    return o.known->clock.knowsEngine(x.agent, x.time);
  }
  uint32_t lanes = x.agent == o.warp ? x.lanes & ~o.lanes : x.lanes;
  return o.known->clock.knows(x.agent, lanes, x.time) ||
         (x.is(Event::Init) && o.known->inits.knows(x.agent, lanes, x.time));
}

/// Is the generic write `x`, which is ordered, visible to the async proxy?
bool OrderChecker::isFenced(const Observer &o, const Event &x, bool shared,
                            bool initToo) const {
  const Knowledge &k = *o.known;
  auto knows = [&](const Clock &clock) {
    return x.is(Event::Engine) ? clock.knowsEngine(x.agent, x.time)
                               : clock.knows(x.agent, x.lanes, x.time);
  };
  if (x.cluster == number)
    return knows(shared ? k.sharedFenced : k.globalFenced) ||
           (initToo && knows(k.inits));
  auto count = [&](const std::shared_ptr<const Foreign> &f) {
    return f ? (*f)[x.cluster] : 0u;
  };
  const Knowledge *there = order.published(x.cluster, count(k.foreignFenced)),
                  *here = order.published(x.cluster, count(k.foreign));
  return (there && knows(there->clock)) || (here && knows(here->globalFenced));
}

static bool scopesMeet(const Event &a, const Event &b, bool sameCta,
                       bool sameCluster) {
  auto reaches = [&](const Event &e) {
    return sameCta || (!e.is(Event::CtaScope) &&
                       (sameCluster || !e.is(Event::ClusterScope)));
  };
  return reaches(a) && reaches(b);
}

//===-- Cells -------------------------------------------------------------===//

/// Is the write of `self` the value that is there already, or that `x`, of the
/// same instruction, is about to write?
bool OrderChecker::sameValue(const Request &r, const Event &self,
                             const Event &x, uint64_t at, uint32_t size) const {
  const std::byte *data = r.c.storeData;
  if (!data || !r.address || !x.is(Event::Write) || x.is(Event::Engine))
    return false;
  bool together = x.agent == self.agent && x.cluster == self.cluster &&
                  x.time == self.time && x.inst == self.inst;
  for (uint32_t m = self.lanes; m; m &= m - 1) {
    unsigned l = unsigned(std::countr_zero(m));
    uint64_t mine = r.place(l);
    for (uint32_t b = 0; b < r.bytes; ++b) {
      uint64_t byte = mine + b;
      if (byte < at || byte >= at + size)
        continue;
      std::byte old = *r.memory(byte);
      for (uint32_t n = together ? x.lanes : 0; n; n &= n - 1) {
        unsigned j = unsigned(std::countr_zero(n));
        uint64_t theirs = r.place(j);
        if (j != l && byte >= theirs && byte < theirs + r.bytes)
          old = data[j * 32 + (byte - theirs)];
      }
      if (data[l * 32 + b] != old)
        return false;
    }
  }
  return true;
}

/// The instruction with which the thread of `self` last read the place.
static uint32_t ownRead(Cell &cell, const Event &self, uint32_t inst = 0) {
  uint32_t found = 0;
  for (uint32_t i = 0; i < cell.size(); ++i) {
    const Event &x = cell[i];
    if (!(x.flags & (Event::Write | Event::Engine)) &&
        x.cluster == self.cluster && x.agent == self.agent &&
        (x.lanes & self.lanes) && (!inst || x.inst == inst))
      found = x.inst;
  }
  return found;
}

/// Reads whose value cannot matter, or cannot come late. Compilers let all
/// threads that hold a value load it, and one of them store the new one: a read
/// by the instruction with which the writing thread, too, had read the place is
/// such a copy. What a loop of compare and swap reads first is compared later.
/// And a value that went to other lanes was there before they could store.
bool OrderChecker::isHarmless(Cell &cell, const Event &self,
                              const Event &x) const {
  const Event &write = self.is(Event::Write) ? self : x;
  bool sameCta =
      x.cluster == self.cluster && x.agent / warps == self.agent / warps;
  if ((x.flags & self.flags & Event::Write) ||
      ((x.flags | self.flags) & Event::Engine) ||
      (!write.is(Event::Swap) && (!sameCta || write.is(Event::Strong))))
    return false;
  if (!self.is(Event::Write))
    return x.readBefore == self.inst;
  return ownRead(cell, self, x.inst) || self.readBefore == x.inst ||
         (sameCta && x.agent == self.agent &&
          x.time <= states[x.agent].collective);
}

/// `self` meets what the cell remembers, and is remembered. For a whole granule
/// (`size` > 4) `bytes` of events are those of a lane.
void OrderChecker::accessCell(Request &r, Cell &cell, CellArena &arena,
                              Event self, uint64_t at, uint32_t size) {
  bool whole = size > 4, merged = false;
  if (self.is(Event::Write) && !r.owner)
    self.readBefore = ownRead(cell, self);
  uint32_t otherClusters = 0, lastCluster = ~0u;
  for (uint32_t i = 0; i < cell.size();) {
    Event &x = cell[i];
    if (!whole && !(x.bytes & self.bytes)) {
      ++i;
      continue;
    }
    bool ordered = isOrdered(r.observer, x), settled = ordered;
    bool conflict = x.is(Event::Write) || self.is(Event::Write);
    if (conflict && x.is(Event::Strong) && self.is(Event::Strong) &&
        scopesMeet(x, self,
                   x.cluster == number && x.agent / warps == self.agent / warps,
                   x.cluster == number))
      conflict = false;
    if (conflict && !ordered) {
      if (!(!r.owner && isHarmless(cell, self, x)) &&
          !sameValue(r, self, x, at, size))
        report(r, self, x, at, false);
      settled = true;
    } else if (ordered && r.asyncProxy && x.is(Event::Write) &&
               x.is(Event::Generic) && !isFenced(r.observer, x, r.owner)) {
      report(r, self, x, at, true);
    }
    bool covered = whole || !(x.bytes & ~self.bytes);
    // Whoever collides with x from now on collides with this access, too.
    if (settled && covered && (self.is(Event::Write) || !x.is(Event::Write)) &&
        (x.is(Event::Strong) || !self.is(Event::Strong))) {
      erase(cell, i);
      continue;
    }
    if (x.agent == self.agent && x.time == self.time && x.flags == self.flags &&
        x.bytes == self.bytes && x.cluster == self.cluster && !merged &&
        (!whole || x.lanes == self.lanes) &&
        (!self.is(Event::Engine) || x.lanes == self.lanes)) {
      x.lanes |= self.lanes;
      x.inst = self.inst;
      merged = true;
    }
    if (!x.is(Event::Write) && x.cluster != number &&
        x.cluster != lastCluster) {
      lastCluster = x.cluster;
      ++otherClusters;
    }
    ++i;
  }
  // Where clusters never synchronize, every write collides with the read of one
  // of two others.
  bool known =
      !self.is(Event::Write) && otherClusters >= 2 && !order.synchronizes;
  if (!merged && !known)
    append(cell, arena, self);
}

/// Excludes the other host threads, if there are any, from a page.
struct OrderChecker::PageLock {
  std::atomic_flag *flag = nullptr;
  ~PageLock() { release(); }
  void release() {
    if (flag)
      flag->clear(std::memory_order_release);
    flag = nullptr;
  }
  void take(std::atomic_flag &f) {
    if (flag == &f)
      return;
    release();
    while (f.test_and_set(std::memory_order_acquire))
      ;
    flag = &f;
  }
};

Cell *OrderChecker::granule(Request &r, uint64_t at, CellArena *&arena,
                            PageLock &lock) {
  if (r.owner) {
    SharedShadow &shadow = *shadows[r.owner->rank];
    Cell &cell = shadow.cells[at / SharedShadow::granuleBytes];
    if (cell.generation != shadow.generation) {
      cell.generation = shadow.generation;
      cell.count = 0;
      cell.words = nullptr;
      cell.more = nullptr;
    }
    arena = &shadow.arena;
    return &cell;
  }
  GlobalOrder::Page *page = order.page(at);
  if (!page)
    return nullptr;
  if (launch.parallel)
    lock.take(order.lock(page));
  arena = &page->arena;
  return &page->cells[(at - page->base) / GlobalOrder::granuleBytes];
}

template <class F>
void OrderChecker::eachEvent(Request &r, uint64_t at, uint32_t size, F f) {
  PageLock lock;
  for (uint64_t w = at / 4 * 4; w < at + size; w += 4) {
    CellArena *arena;
    Cell *cell = granule(r, w, arena, lock);
    if (!cell)
      continue;
    if (cell->words) {
      uint32_t granuleBytes =
          r.owner ? SharedShadow::granuleBytes : GlobalOrder::granuleBytes;
      uint64_t start = r.owner ? 0 : order.page(w)->base % granuleBytes;
      cell = &cell->words[(w - start) % granuleBytes / 4];
    }
    for (uint32_t i = 0; i < cell->size(); ++i)
      f((*cell)[i]);
  }
}

/// One granule, or a part of it, by the lanes of `self`.
void OrderChecker::accessGranule(Request &r, uint64_t base, uint64_t at,
                                 uint32_t size, Event self) {
  uint32_t granuleBytes =
      r.owner ? SharedShadow::granuleBytes : GlobalOrder::granuleBytes;
  PageLock lock;
  CellArena *arena;
  Cell *cell = granule(r, base, arena, lock);
  if (!cell)
    return;
  bool whole = size == granuleBytes;
  if (whole && !cell->words) {
    // Lanes of the same warp that lie otherwise: word by word.
    for (uint32_t i = 0; i < cell->size() && whole; ++i) {
      const Event &x = (*cell)[i];
      whole = x.agent != r.observer.warp || x.cluster != number ||
              x.is(Event::Engine) || self.is(Event::Engine) ||
              (x.lanes == self.lanes && x.bytes == self.bytes) ||
              isOrdered(r.observer, x);
    }
    if (whole) {
      accessCell(r, *cell, *arena, self, base, granuleBytes);
      return;
    }
  }
  if (!cell->words)
    divide(*cell, *arena, granuleBytes);
  unsigned width = self.bytes;
  bool several = std::popcount(self.lanes) > 1 && !self.is(Event::Engine) &&
                 width < granuleBytes && size == granuleBytes && !r.broadcast;
  Observer observer = r.observer;
  for (uint64_t w = at / 4 * 4; w < at + size; w += 4) {
    Event part = self;
    Cell &word = cell->words[(w - base) / 4];
    uint64_t first = std::max(w, at), last = std::min(w + 4, at + size);
    part.bytes = uint8_t(((1u << (last - w)) - 1) & ~((1u << (first - w)) - 1));
    if (!several) {
      accessCell(r, word, *arena, part, w, 4);
      continue;
    }
    unsigned lane0 = unsigned(std::countr_zero(self.lanes));
    for (unsigned b = 0; b < 4; b += width) {
      unsigned lane = lane0 + unsigned(w - base + b) / width;
      part.lanes = 1u << lane;
      r.observer.lanes = part.lanes;
      if (width < 4)
        part.bytes = uint8_t(((1u << width) - 1) << b);
      accessCell(r, word, *arena, part, w, 4);
      if (width >= 4)
        break;
    }
    r.observer = observer;
  }
}

/// A range that one thread or engine accesses.
void OrderChecker::accessRange(Request &r, uint64_t at, uint32_t size,
                               Event self) {
  uint64_t start = 0;
  uint32_t granuleBytes = SharedShadow::granuleBytes;
  if (!r.owner) {
    granuleBytes = GlobalOrder::granuleBytes;
    GlobalOrder::Page *page = order.page(at);
    if (!page)
      return;
    start = page->base % granuleBytes;
  }
  for (uint64_t end = at + size; at < end;) {
    uint64_t base = (at - start) / granuleBytes * granuleBytes + start,
             next = std::min(base + granuleBytes, end);
    self.bytes = uint8_t(
        self.is(Event::Engine) ? 0 : std::min<uint32_t>(granuleBytes, r.bytes));
    accessGranule(r, base, at, uint32_t(next - at), self);
    at = next;
  }
}

/// Lanes of one view.
void OrderChecker::accessLanes(Request &r, uint32_t mask) {
  uint32_t granuleBytes =
      r.owner ? SharedShadow::granuleBytes : GlobalOrder::granuleBytes;
  unsigned first = firstLane(mask), count = unsigned(std::popcount(mask));
  uint64_t low = r.place(first);
  // Neighbouring lanes side by side; or all at one place.
  bool dense = mask >> first == (count == 32 ? FullMask : (1u << count) - 1),
       same = !r.isWrite();
  for (uint32_t m = mask; m && (dense || same); m &= m - 1) {
    unsigned l = unsigned(std::countr_zero(m));
    dense &= r.place(l) == low + uint64_t(l - first) * r.bytes;
    same &= r.place(l) == low;
  }
  Event self = r.self;
  if (same && count > 1) {
    r.observer.lanes = 0; // Each lane's own writes are checked one by one.
    self.lanes = mask;
    r.broadcast = true;
    accessBroadcast(r, low, self);
    r.broadcast = false;
    return;
  }
  uint64_t start = 0;
  if (!r.owner) {
    GlobalOrder::Page *page = order.page(low);
    start = page ? page->base % granuleBytes : 0;
  }
  for (uint32_t m = mask; m;) {
    unsigned l = unsigned(std::countr_zero(m));
    uint64_t at = r.place(l);
    unsigned together = r.bytes < granuleBytes ? granuleBytes / r.bytes : 1;
    if (dense && r.bytes <= granuleBytes && (at - start) % granuleBytes == 0 &&
        l + together <= first + count) {
      uint32_t lanes = (together == 32 ? FullMask : (1u << together) - 1) << l;
      self.lanes = r.observer.lanes = lanes;
      self.bytes = uint8_t(r.bytes);
      accessGranule(r, at, at, granuleBytes, self);
      m &= ~lanes;
      continue;
    }
    self.lanes = r.observer.lanes = 1u << l;
    accessRange(r, at, r.bytes, self);
    m &= m - 1;
  }
}

/// All lanes read one place. Lanes differ only in what they wrote themselves.
void OrderChecker::accessBroadcast(Request &r, uint64_t at, Event self) {
  uint32_t mask = self.lanes;
  bool own = false;
  eachEvent(r, at, r.bytes, [&](const Event &x) {
    own |= x.cluster == number &&
           (x.is(Event::Engine)
                ? engines[x.agent].kind <= EngineKind::BulkWrite &&
                      engines[x.agent].owner / Lanes == r.observer.warp
                : x.agent == r.observer.warp && x.is(Event::Write)) &&
           !isOrdered(r.observer, x);
  });
  if (!own) {
    accessRange(r, at, r.bytes, self);
    return;
  }
  for (uint32_t m = mask; m; m &= m - 1) {
    self.lanes = r.observer.lanes = m & (0 - m);
    accessRange(r, at, r.bytes, self);
  }
}

//===-- Accesses of threads -----------------------------------------------===//

static uint8_t strength(const Inst &inst, Access kind) {
  uint8_t flags = Event::Generic;
  if (kind != Access::Load)
    flags |= Event::Write;
  if (kind == Access::Atomic && inst.isSwap)
    flags |= Event::Swap;
  if (kind == Access::Atomic || (inst.order & Inst::Strong)) {
    flags |= Event::Strong;
    flags |= inst.scope == Inst::CtaOnly       ? Event::CtaScope
             : inst.scope == Inst::ClusterOnly ? Event::ClusterScope
                                               : 0;
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
    r.bytes = bytes;
    r.address = address;
    if (owner && kind != Access::Store && (checks & CheckUninitialized))
      for (uint32_t m = part; m; m &= m - 1) {
        unsigned l = unsigned(std::countr_zero(m));
        checkWritten(r, l, r.place(l), bytes);
      }
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

void OrderChecker::sharedBlock(Ctx &c, const Inst &inst, unsigned lane,
                               Cta &owner, uint32_t offset, uint32_t bytes,
                               uint8_t flags) {
  if (!bytes)
    return;
  uint32_t warp = warpOf(*c.cta, *c.warp);
  Request r{c,
            inst,
            {&viewOf(warp, lane).known, warp, 1u << lane},
            &owner,
            Event{states[warp].now, site(c, inst), 1u << lane, number,
                  uint16_t(warp), 0, 0, uint8_t(flags | Event::Generic)}};
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
  uint32_t warp = warpOf(*c.cta, *c.warp);
  Engine &g = engines[engine];
  g.used = g.now;
  g.last = &inst;
  g.lastCode = c.code;
  Request r{c,
            inst,
            {&viewOf(warp, lane).known, warp, 1u << lane},
            &owner,
            Event{g.now, site(c, inst), warp * Lanes + lane, number,
                  uint16_t(engine), 0, 0, uint8_t(flags | Event::Engine)}};
  r.bytes = bytes;
  r.asyncProxy = !(flags & Event::Generic);
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
  uint32_t warp = warpOf(*c.cta, *c.warp);
  const Engine &g = engines[engine];
  Request r{c,
            inst,
            {&viewOf(warp, lane).known, warp, 1u << lane},
            nullptr,
            Event{g.now, site(c, inst), warp * Lanes + lane, number,
                  uint16_t(engine), 0, 0, uint8_t(flags | Event::Engine)}};
  r.bytes = bytes;
  r.asyncProxy = !(flags & Event::Generic);
  accessRange(r, address, bytes, r.self);
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

void OrderChecker::mbarrierInit(Ctx &c, const Inst &inst, unsigned lane,
                                Cta &owner, uint32_t offset, bool ends) {
  uint32_t warp = warpOf(*c.cta, *c.warp);
  Mbarrier &b = mbarriers[key(owner, offset)];
  Clock known = viewOf(warp, lane).known.clock;
  addOwn(warp, 1u << lane, known);
  if ((checks & CheckRaces) && !known.covers(b.uses))
    c.note(inst, lane, "race",
           std::string(ends ? "the invalidation" : "the initialization") +
               " of the mbarrier at shared memory " + std::to_string(offset) +
               " is not ordered after an operation of another thread on it");
  b = {};
  sharedBlock(c, inst, lane, owner, offset, 8,
              ends ? Event::Write : Event::Write | Event::Init);
}

void OrderChecker::mbarrierUse(Ctx &c, const Inst &inst, unsigned lane,
                               Cta &owner, uint32_t offset) {
  uint32_t warp = warpOf(*c.cta, *c.warp);
  Request r{c,
            inst,
            {&viewOf(warp, lane).known, warp, 1u << lane},
            &owner,
            Event{states[warp].now, site(c, inst), 1u << lane, number,
                  uint16_t(warp), 0, 15, Event::Write | Event::Strong}};
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
  uint32_t warp = warpOf(*c.cta, *c.warp);
  Request r{c,
            inst,
            {&viewOf(warp, lane).known, warp, 1u << lane},
            &owner,
            Event{1, site(c, inst), 1u << lane, number, uint16_t(warp), 0, 15,
                  Event::Write | Event::Strong | Event::Engine}};
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

void OrderChecker::checkWritten(Request &r, unsigned lane, uint64_t at,
                                uint32_t size) {
  std::vector<uint8_t> &written = shadows[r.owner->rank]->written;
  uint8_t *from = written.data() + at;
  if (std::memchr(from, 0, size) == nullptr)
    return;
  char text[24];
  snprintf(text, sizeof text, "0x%" PRIx64, at);
  r.c.note(r.inst, lane, "uninitialized",
           r.self.is(Event::Engine)
               ? "asynchronous read of shared memory at byte " +
                     std::to_string(at) + " that nobody has written"
               : "read of " + std::to_string(size) +
                     " bytes of shared memory at " + text +
                     " that nobody has written");
  std::memset(from, 1, size);
}

void OrderChecker::markWritten(Cta &owner, uint32_t offset, uint32_t bytes) {
  if (bytes)
    std::memset(shadows[owner.rank]->written.data() + offset, 1, bytes);
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

std::string OrderChecker::describe(const Request &r, uint64_t at) const {
  char text[24];
  snprintf(text, sizeof text, "0x%" PRIx64, at);
  if (r.owner)
    return std::string("shared memory at ") + text;
  return "global memory at " + nameGlobal(launch, at);
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
  auto [code, other] = siteOf(launch, x.inst);
  uint32_t thread =
      isAsync ? x.lanes : x.agent * Lanes + uint32_t(std::countr_zero(x.lanes));
  uint32_t lanes =
      self.is(Event::Engine) ? self.lanes % Lanes : firstLane(self.lanes);
  // The lane whose own access does not collide is of no use.
  if (!isAsync && x.agent == self.agent && x.cluster == number &&
      std::popcount(x.lanes) > 1 && (thread & 31) == lanes)
    thread =
        x.agent * Lanes + uint32_t(std::countr_zero(x.lanes & ~(1u << lanes)));
  ThreadId who = r.c.threadOf(ctaId(launch, x.cluster, thread / Lanes / warps),
                              thread / Lanes % warps, thread % Lanes);
  bool init = x.is(Event::Init), sameCluster = x.cluster == number;
  const char *why =
      proxy && init
          ? "a fence.mbarrier_init or fence.proxy.async is missing between the "
            "two"
      : proxy ? "a fence.proxy.async is missing between the two"
      : init  ? "no barrier or fence makes the initialization of the mbarrier "
                "known"
      : isAsync ? "nothing waits for its completion in between"
      : !sameCluster && !order.synchronizes ? "nothing orders the two CTAs"
      : x.is(Event::Strong) && self.is(Event::Strong)
          ? "the scope of one does not include the other"
      : sameCluster && x.agent == self.agent && !self.is(Event::Engine)
          ? "the warp's lanes are not synchronized in between"
      : sameCluster ? "no barrier orders the two"
                    : "no release and acquire order the two";
  const char *kind = proxy     ? "missing-proxy-fence"
                     : isAsync ? "async-race"
                               : "race";
  r.c.note(r.inst, lanes, kind,
           std::string(self.is(Event::Write) ? "write to " : "read of ") +
               describe(r, at) + " races with " +
               (isAsync ? "an asynchronous " : "a ") +
               (x.is(Event::Write) ? "write" : "read") + ": " + why,
           other, code, &who);
}

void OrderChecker::noteEngine(Ctx &c, const Inst &inst, unsigned lane,
                              const Engine &engine, const char *message) {
  uint32_t thread = 0;
  if (engine.kind <= EngineKind::BulkWrite)
    thread = engine.owner;
  ThreadId who = c.threadOf(ctaId(launch, number, thread / Lanes / warps),
                            thread / Lanes % warps, thread % Lanes);
  c.note(inst, lane, "async-exit", message, engine.last, engine.lastCode, &who);
}
