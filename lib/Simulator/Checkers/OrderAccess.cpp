//===-- OrderAccess.cpp - Accesses and what they collide with -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "OrderRequest.h"

#include <algorithm>

using namespace tile::sim;

//===-- Order -------------------------------------------------------------===//

/// The usual reason for order: all of the other's warp is known.
inline bool OrderChecker::isKnown(const Observer &o, const Event &x) const {
  return x.cluster == number && !x.is(Event::Engine) &&
         Clock::at(o.known->clock.warps, x.agent) >= x.time;
}

bool OrderChecker::isOrdered(const Observer &o, const Event &x) const {
  if (x.cluster != number) {
    if (!order.synchronizes || !o.known->foreign)
      return false;
    std::shared_ptr<const Knowledge> p =
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
  std::shared_ptr<const Knowledge> there = order.published(
                                       x.cluster, count(k.foreignFenced)),
                                   here = order.published(x.cluster,
                                                          count(k.foreign));
  return (there && knows(there->clock)) || (here && knows(here->globalFenced));
}

/// Does a copy see the map that the generic write `x`, which is ordered, has
/// left? That of another cluster is taken to be seen.
bool OrderChecker::isMapFenced(const Observer &o, const Event &x) const {
  return x.cluster != number || x.is(Event::Engine) ||
         o.known->mapFenced.knows(x.agent, x.lanes, x.time);
}

static bool scopesMeet(const Event &a, const Event &b, bool sameCta,
                       bool sameCluster, bool sameGpu) {
  auto reaches = [&](const Event &e) {
    switch (e.flags & Event::GpuScope) {
    case Event::CtaScope:
      return sameCta;
    case Event::ClusterScope:
      return sameCluster;
    case Event::GpuScope:
      return sameGpu;
    default:
      return true;
    }
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

/// What an earlier turn of the same loop of compare and swap had read.
static uint32_t earlierSwap(Cell &cell, const Event &self) {
  for (uint32_t i = 0; i < cell.size() && self.is(Event::Swap); ++i) {
    const Event &x = cell[i];
    if (x.is(Event::Swap) && x.is(Event::Write) && x.cluster == self.cluster &&
        x.agent == self.agent && (x.lanes & self.lanes))
      return x.readBefore;
  }
  return 0;
}

/// Reads whose value cannot matter, or cannot come late. Compilers let all
/// threads that hold a value load it, and one of them store the new one. A read
/// by the instruction with which the writing thread, too, had read the place is
/// such a copy. What a loop of compare and swap reads first is compared later
/// (ComparedLoads.h), whoever changes the place by an atomic instruction. And a
/// value that went to other lanes was there before they could store.
bool OrderChecker::isHarmless(Cell &cell, const Event &self,
                              const Event &x) const {
  const Event &write = self.is(Event::Write) ? self : x,
              &other = self.is(Event::Write) ? x : self;
  bool sameCta =
      x.cluster == self.cluster && x.agent / warps == self.agent / warps;
  if ((x.flags & self.flags & Event::Write) ||
      ((x.flags | self.flags) & Event::Engine))
    return false;
  if (other.is(Event::Swap) && write.is(Event::Strong))
    return true;
  if (!write.is(Event::Swap) && (!sameCta || write.is(Event::Strong)))
    return false;
  if (!self.is(Event::Write))
    return x.readBefore == self.inst;
  return ownRead(cell, self, x.inst) || self.readBefore == x.inst ||
         (sameCta && x.agent == self.agent &&
          x.time <= states[x.agent].collective);
}

/// Has the agent done the same here since anybody else could learn of it? Then
/// whoever collides with this access collides with that one, too.
static bool isRepeated(Cell &cell, const Event &self, bool whole) {
  if (self.is(Event::Strong) || (self.is(Event::Write) && cell.size() != 1))
    return false;
  bool exact = whole || (self.flags & (Event::Write | Event::Engine));
  for (uint32_t i = 0; i < cell.size(); ++i) {
    Event &x = cell[i];
    if (x.agent != self.agent || x.time != self.time || x.flags != self.flags ||
        x.cluster != self.cluster ||
        (exact ? x.lanes != self.lanes || x.bytes != self.bytes
               : (self.lanes & ~x.lanes) || x.bytes != self.bytes))
      continue;
    x.inst = self.inst;
    x.readBefore = self.readBefore;
    return true;
  }
  return false;
}

/// Do atomic instructions of one place follow each other for whoever comes
/// behind the last of them? Where fences alone give an order (AMDGCN), one that
/// reads and writes what another one wrote stands for that as well.
static bool replaces(const Inst &inst, const Event &self, const Event &x) {
  constexpr uint8_t both = Event::Write | Event::Strong;
  return (inst.watch & Inst::Program) && inst.cls == Class::Atomic &&
         (self.flags & both) == both && (x.flags & both) == both;
}

/// `self` meets what the cell remembers, and is remembered. For a whole granule
/// (`size` > 4) `bytes` of events are those of a lane.
void OrderChecker::accessCell(Request &r, Cell &cell, CellArena &arena,
                              const Event &self, uint64_t at, uint32_t size) {
  bool whole = size > 4, merged = false;
  if (self.is(Event::Write) && !r.owner && !self.readBefore)
    if (uint32_t own = ownRead(cell, self),
        read = own ? own : earlierSwap(cell, self);
        read) {
      Event after = self;
      after.readBefore = read;
      accessCell(r, cell, arena, after, at, size);
      return;
    }
  if (isRepeated(cell, self, whole))
    return;
  const Observer strangers{r.observer.known, r.observer.warp, 0};
  uint32_t otherClusters = 0, lastCluster = ~0u;
  for (uint32_t i = 0; i < cell.size();) {
    Event &x = cell[i];
    if (!whole && !(x.bytes & self.bytes)) {
      ++i;
      continue;
    }
    // Two reads do not meet.
    if (x.cluster == number && x.agent != self.agent &&
        !((x.flags | self.flags) & Event::Write)) {
      ++i;
      continue;
    }
    // Lanes whose accesses lie otherwise may be others than they seem.
    bool alike = !whole || x.is(Event::Engine) ||
                 (x.lanes == self.lanes && x.bytes == self.bytes);
    bool ordered = isKnown(r.observer, x) ||
                   isOrdered(alike ? r.observer : strangers, x),
         settled = ordered;
    bool conflict = x.is(Event::Write) || self.is(Event::Write);
    if (conflict && x.is(Event::Strong) && self.is(Event::Strong) &&
        scopesMeet(x, self,
                   x.cluster == number && x.agent / warps == self.agent / warps,
                   x.cluster == number, launch.has(x.cluster))) {
      conflict = false;
      settled |= replaces(r.inst, self, x);
    }
    if (conflict && !ordered) {
      if (!(!r.owner && isHarmless(cell, self, x)) &&
          !sameValue(r, self, x, at, size))
        report(r, self, x, at, false);
      settled = true;
    } else if (ordered && x.is(Event::Write) && x.is(Event::Generic) &&
               ((r.asyncProxy && !isFenced(r.observer, x, r.owner)) ||
                (r.mapProxy && !isMapFenced(r.observer, x)))) {
      report(r, self, x, at, true);
    }
    bool covered = whole || !(x.bytes & ~self.bytes);
    // Whoever collides with x from now on collides with this access, too.
    if (settled && covered && (self.is(Event::Write) || !x.is(Event::Write)) &&
        (x.is(Event::Strong) || !self.is(Event::Strong))) {
      erase(cell, i);
      continue;
    }
    // For the lanes of this access, that alone is reason enough.
    if (!whole && covered && x.agent == self.agent && x.cluster == number &&
        x.flags == self.flags && x.time != self.time &&
        !self.is(Event::Engine)) {
      x.lanes &= ~self.lanes;
      if (!x.lanes) {
        erase(cell, i);
        continue;
      }
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

//===-- Granules ----------------------------------------------------------===//

GlobalOrder::Page *OrderChecker::pageOf(Request &r, uint64_t at) {
  if (!r.page || at - r.page->base >= GlobalOrder::pageBytes)
    r.page = order.page(at);
  return r.page;
}

uint64_t OrderChecker::granuleStart(Request &r, uint64_t at) {
  GlobalOrder::Page *page = r.owner ? nullptr : pageOf(r, at);
  return page ? page->base % GlobalOrder::granuleBytes : 0;
}

Cell *OrderChecker::granule(Request &r, uint64_t at, CellArena *&arena) {
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
  GlobalOrder::Page *page = pageOf(r, at);
  if (!page)
    return nullptr;
  if (launch.group->parallel)
    r.lock.take(order.lock(page));
  arena = &page->arena;
  return &page->cells[(at - page->base) / GlobalOrder::granuleBytes];
}

/// One granule, or a part of it, by the lanes of `self`.
void OrderChecker::accessGranule(Request &r, uint64_t base, uint64_t at,
                                 uint32_t size, const Event &self) {
  // With more events than this, words of their own keep fewer.
  static constexpr uint32_t mostWhole = 48;
  uint32_t granuleBytes = r.granuleBytes();
  CellArena *arena;
  Cell *cell = granule(r, base, arena);
  if (!cell)
    return;
  bool whole = size == granuleBytes;
  if (whole && !cell->words) {
    whole = cell->size() < mostWhole;
    const Observer strangers{r.observer.known, r.observer.warp, 0};
    // Lanes of the same warp that lie otherwise: word by word.
    for (uint32_t i = 0; i < cell->size() && whole; ++i) {
      const Event &x = (*cell)[i];
      whole = x.agent != r.observer.warp || x.cluster != number ||
              x.is(Event::Engine) || self.is(Event::Engine) ||
              !((x.flags | self.flags) & Event::Write) ||
              (x.lanes == self.lanes && x.bytes == self.bytes) ||
              isOrdered(strangers, x);
    }
    if (whole) {
      accessCell(r, *cell, *arena, self, base, granuleBytes);
      return;
    }
  }
  if (!cell->words)
    divide(*cell, *arena, granuleBytes);
  unsigned width = self.bytes;
  bool several = !self.is(Event::Engine) && width < granuleBytes &&
                 size == granuleBytes && std::popcount(self.lanes) > 1;
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
    for (unsigned b = 0; b < 4; b += width) {
      part.lanes = lanesOf(self.lanes, unsigned(w - base + b) / width,
                           granuleBytes / width);
      r.observer.lanes = part.lanes & observer.lanes;
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
                               Event &self) {
  uint32_t granuleBytes = r.granuleBytes();
  if (!r.owner && !pageOf(r, at))
    return;
  uint64_t start = granuleStart(r, at);
  self.bytes = uint8_t(
      self.is(Event::Engine) ? 0 : std::min<uint32_t>(granuleBytes, r.bytes));
  for (uint64_t end = at + size; at < end;) {
    uint64_t base = (at - start) / granuleBytes * granuleBytes + start,
             next = std::min(base + granuleBytes, end);
    accessGranule(r, base, at, uint32_t(next - at), self);
    at = next;
  }
}

//===-- Lanes -------------------------------------------------------------===//

namespace {
/// What a lane accesses.
struct Spot {
  uint64_t at;
  unsigned lane;
};
} // namespace

/// The bits of a lane's number that its address does not depend on, if all
/// lanes take part.
static unsigned freeBits(const uint64_t *address) {
  unsigned free = 0;
  for (unsigned bit = 1; bit < Lanes; bit *= 2) {
    uint64_t differs = address[0] ^ address[bit];
    for (unsigned l = 0; l < Lanes && !differs; l += 2 * bit)
      for (unsigned k = l; k < l + bit; ++k)
        differs |= address[k] ^ address[k + bit];
    free |= differs ? 0 : bit;
  }
  return free;
}

/// Do these lanes access places side by side?
static bool isSideBySide(const Spot *spots, unsigned count, unsigned bytes) {
  uint64_t differs = 0;
  for (unsigned i = 1; i < count; ++i)
    differs |= spots[i].at ^ (spots[0].at + uint64_t(i) * bytes);
  return !differs;
}

/// All lanes, one after the other, from the start of a granule: what most
/// requests look like. Returns false for one that does not.
bool OrderChecker::accessDense(Request &r) {
  uint32_t granuleBytes = r.granuleBytes(), parts = granuleBytes / r.bytes;
  uint64_t low = r.place(0), differs = 0;
  if (parts < 2 || (low - granuleStart(r, low)) % granuleBytes != 0)
    return false;
  for (unsigned l = 1; l < Lanes; ++l)
    differs |= r.address[l] ^ (r.address[0] + uint64_t(l) * r.bytes);
  if (differs)
    return false;
  Event self = r.self;
  self.bytes = uint8_t(r.bytes);
  for (unsigned l = 0; l < Lanes; l += parts, low += granuleBytes) {
    if (r.needsWritten && !isWritten(r, low, granuleBytes))
      for (unsigned k = 0; k < parts; ++k)
        checkWritten(r, l + k, low + uint64_t(k) * r.bytes, r.bytes);
    self.lanes = r.observer.lanes = FullMask >> (Lanes - parts) << l;
    accessGranule(r, low, low, granuleBytes, self);
  }
  return true;
}

/// Lanes of one view.
void OrderChecker::accessLanes(Request &r, uint32_t mask) {
  if (mask == FullMask && accessDense(r))
    return;
  uint32_t granuleBytes = r.granuleBytes();
  Spot spots[Lanes];
  unsigned count = 0;
  // Lanes that read one place, or that access it so that they do not collide
  // with each other, count as one, by the first of them.
  bool joins = !r.isWrite() || r.self.is(Event::Strong);
  unsigned free = joins && mask == FullMask ? freeBits(r.address) : 0;
  uint32_t copies = 1;
  for (unsigned bit = 1; bit < Lanes; bit *= 2)
    copies |= free & bit ? copies << bit : 0;
  bool same = joins;
  for (unsigned l = firstLane(mask); l < Lanes; l = ((l | free) + 1) & ~free)
    if (mask >> l & 1) {
      spots[count] = {r.place(l), l};
      same &= spots[count++].at == spots[0].at;
    }
  if (same) {
    copies = mask >> spots[0].lane;
    count = 1;
  }
  unsigned together = r.bytes < granuleBytes ? granuleBytes / r.bytes : 1;
  Event self = r.self;
  for (unsigned i = 0, parts; i < count; i += parts) {
    const Spot &first = spots[i];
    self.lanes = copies << first.lane;
    parts = 1;
    // In a granule, all lanes of one copy come before those of the next.
    if (together > 1 && i + together <= count &&
        (!free || spots[i + together - 1].lane - first.lane < (free & -free)) &&
        (first.at - granuleStart(r, first.at)) % granuleBytes == 0 &&
        isSideBySide(&first, together, r.bytes)) {
      parts = together;
      for (unsigned k = 1; k < parts; ++k)
        self.lanes |= copies << spots[i + k].lane;
    }
    if (r.needsWritten && !isWritten(r, first.at, parts * r.bytes))
      for (unsigned k = 0; k < parts; ++k)
        checkWritten(r, spots[i + k].lane, spots[i + k].at, r.bytes);
    accessPlace(r, first.at, parts, self);
  }
}

/// `parts` places side by side. Lanes that access one place differ only in what
/// they did there themselves.
void OrderChecker::accessPlace(Request &r, uint64_t at, unsigned parts,
                               Event &self) {
  auto access = [&] {
    if (parts == 1) {
      accessRange(r, at, r.bytes, self);
      return;
    }
    self.bytes = uint8_t(r.bytes);
    accessGranule(r, at, at, parts * r.bytes, self);
  };
  uint32_t lanes = self.lanes;
  r.observer.lanes = lanes;
  if (std::popcount(lanes) == int(parts)) {
    access();
    return;
  }
  r.observer.lanes = 0;
  bool own = false;
  eachEvent(r, at, parts * r.bytes, [&](const Event &x) {
    // Agents and engines of other clusters have numbers of their own.
    if (x.cluster != number)
      return;
    bool mine = x.is(Event::Engine)
                    ? engines[x.agent].kind <= EngineKind::BulkWrite &&
                          engines[x.agent].owner / Lanes == r.observer.warp
                    : x.agent == r.observer.warp &&
                          ((x.flags | self.flags) & Event::Write) &&
                          !(x.flags & self.flags & Event::Strong);
    own |= mine && !isOrdered(r.observer, x);
  });
  if (!own) {
    access();
    return;
  }
  for (unsigned i = 0; i < parts; ++i)
    for (uint32_t m = lanesOf(lanes, i, parts); m; m &= m - 1) {
      self.lanes = r.observer.lanes = m & (0 - m);
      accessRange(r, at + uint64_t(i) * r.bytes, r.bytes, self);
    }
}
