//===-- TensorOrder.cpp - Order of accesses to tensor memory --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "TensorOrder.h"
#include "OrderChecker.h"
#include "tile/Simulator/Assumptions.h"

#include <algorithm>

using namespace tile::sim;

static const char *nameOf(TensorKind kind) {
  switch (kind) {
  case TensorKind::Load:
    return "tcgen05.ld";
  case TensorKind::Store:
    return "tcgen05.st";
  case TensorKind::Product:
    return "tcgen05.mma";
  case TensorKind::Copy:
    return "tcgen05.cp";
  case TensorKind::Shift:
    return "tcgen05.shift";
  case TensorKind::Free:
    return "tcgen05.dealloc";
  }
  return "";
}

bool TensorOrder::assumes(const Ctx &c, uint32_t assumption) const {
  return c.launch->config->assumptions & assumption;
}

uint32_t TensorOrder::engineOf(Ctx &c, unsigned lane) {
  return order.engineOf(EngineKind::Tensor, order.threadOf(c, lane));
}

std::pair<uint32_t, uint32_t> TensorOrder::commit(Ctx &c, unsigned lane) {
  uint32_t engine = engineOf(c, lane);
  return {engine, order.tick(engine)};
}

void TensorOrder::fenceBefore(Ctx &c, uint32_t mask) {
  uint32_t warp = order.warpNumber(c);
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned lane = unsigned(std::countr_zero(m));
    uint32_t issuing =
        order.engineOf(EngineKind::TensorIssue, order.threadOf(c, lane));
    order.learnEngine(c, 1u << lane, issuing, order.tick(issuing));
  }
  // Accesses that the warp has waited for go on as from here.
  if (assumes(c, AssumeTensorFences))
    for (std::vector<Event> &list : events)
      for (Event &x : list)
        if (!x.engine && !x.isOpen && x.warp == warp && x.time == ~0u)
          x.time = order.timeOf(c);
}

void TensorOrder::fenceAfter(Ctx &c, uint32_t mask) {
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned lane = unsigned(std::countr_zero(m));
    after[order.threadOf(c, lane)] = order.known(c, lane);
  }
}

void TensorOrder::wait(Ctx &c, bool stores) {
  uint32_t warp = order.warpNumber(c);
  TensorKind kind = stores ? TensorKind::Store : TensorKind::Load;
  for (Event &x : events[c.cta->rank])
    if (x.isOpen && x.warp == warp && x.access.kind == kind) {
      x.isOpen = false;
      // With fences needed, nobody else knows of it before the next one.
      x.time = assumes(c, AssumeTensorFences) ? ~0u : order.timeOf(c);
    }
}

bool TensorOrder::knowsAfterFence(Ctx &c, uint32_t mask, uint32_t engine,
                                  uint32_t time) {
  for (uint32_t m = mask; m; m &= m - 1) {
    auto it = after.find(order.threadOf(c, unsigned(std::countr_zero(m))));
    if (it == after.end() || !it->second.knowsEngine(engine, time))
      return false;
  }
  return true;
}

/// Do the tensor cores run the two in the order in which they are issued?
static bool isPipelined(const TensorAccess &first, const TensorAccess &second,
                        bool copiesWait) {
  using enum TensorKind;
  TensorKind a = first.kind, b = second.kind;
  if (a == Product && b == Product)
    return first.accumulator && first.accumulator == second.accumulator;
  if (a == Product && b == Copy)
    return !copiesWait && !first.isWrite;
  if (a == Copy && b == Copy)
    return !copiesWait;
  return b == Product || (a == Product && b == Shift) ||
         (a == Shift && b == Copy);
}

std::string TensorOrder::whyEnginesUnordered(Ctx &c, const Event &self,
                                             const Event &x,
                                             const char *&kind) {
  if (isPipelined(x.access, self.access, assumes(c, AssumeTensorCopiesWait))) {
    if (x.warp == self.warp && x.lane == self.lane)
      return "";
    uint32_t issuing =
        order.engineOf(EngineKind::TensorIssue, x.warp * Lanes + x.lane);
    if (knowsAfterFence(c, 1u << self.lane, issuing, x.issued))
      return "";
    kind = "missing-tcgen05-fence";
    return "between what two threads issue, tcgen05.fence::before_thread_sync, "
           "a barrier and tcgen05.fence::after_thread_sync are missing";
  }
  return "nothing waits for its completion in between: a tcgen05.commit behind "
         "it and a wait on the commit's mbarrier are missing";
}

std::string TensorOrder::whyUnordered(Ctx &c, const Event &self, const Event &x,
                                      uint32_t mask, const char *&kind) {
  kind = "async-race";
  bool fences = assumes(c, AssumeTensorFences);
  auto needsAfter = [&](bool known) -> std::string {
    if (known)
      return "";
    kind = "missing-tcgen05-fence";
    return "no tcgen05.fence::after_thread_sync follows the barrier or the "
           "wait that orders the two";
  };
  if (x.engine) {
    if (!order.knowsEngine(c, mask, x.engine, x.time))
      return self.engine ? whyEnginesUnordered(c, self, x, kind)
                         : "nothing waits for its completion in between: a "
                           "tcgen05.commit behind it and a wait on the "
                           "commit's mbarrier are missing";
    return fences ? needsAfter(knowsAfterFence(c, mask, x.engine, x.time)) : "";
  }
  bool isSameWarp = x.warp == self.warp;
  if (x.isOpen) {
    bool follow = x.access.kind == TensorKind::Store &&
                  self.access.kind == TensorKind::Store;
    if (isSameWarp && follow)
      return "";
    return std::string("the warp that issued it has not waited for it: a "
                       "tcgen05.wait::") +
           (x.access.kind == TensorKind::Load ? "ld" : "st") + " is missing";
  }
  if (isSameWarp)
    return "";
  if (x.time == ~0u) {
    kind = "missing-tcgen05-fence";
    return "no tcgen05.fence::before_thread_sync follows it";
  }
  if (!order.knowsWarp(c, mask, x.warp, x.time)) {
    kind = "race";
    return "no barrier orders the two";
  }
  if (!fences)
    return "";
  for (uint32_t m = mask; m; m &= m - 1) {
    auto it = after.find(order.threadOf(c, unsigned(std::countr_zero(m))));
    if (it == after.end() || !it->second.knows(x.warp, FullMask, x.time))
      return needsAfter(false);
  }
  return "";
}

void TensorOrder::access(Ctx &c, const Inst &inst, Event self, Cta &cta,
                         uint32_t mask) {
  std::vector<Event> &list = events[cta.rank];
  const TensorRegion &region = self.access.region;
  bool reported = false;
  for (const Event &x : list) {
    if (!(x.access.isWrite || self.access.isWrite) ||
        !region.meets(x.access.region))
      continue;
    const char *kind = "";
    std::string why = whyUnordered(c, self, x, mask, kind);
    if (why.empty() || reported)
      continue;
    reported = true;
    if (!(c.checks &
          (std::string_view(kind) == "race" ? CheckRaces : CheckAsync)))
      continue;
    unsigned column = std::max(region.column, x.access.region.column), lane = 0;
    while (!region.has(lane) || !x.access.region.has(lane))
      ++lane;
    c.note(inst, self.lane, kind,
           std::string(self.access.isWrite ? "write to" : "read of") +
               " tensor memory (" + nameTensor(lane, column) + ") by " +
               ::nameOf(self.access.kind) + " races with a " +
               (x.access.isWrite ? "write" : "read") + " by " +
               ::nameOf(x.access.kind) + ": " + why,
           x.inst, x.code, &x.thread);
  }
  // What a later access must be ordered with is ordered with this one, too.
  std::erase_if(list, [&](const Event &x) {
    bool isRepeated = x.engine == self.engine && x.warp == self.warp &&
                      x.lane == self.lane && !x.access.isWrite;
    return region.covers(x.access.region) &&
           (self.access.isWrite || isRepeated);
  });
  if (self.access.kind != TensorKind::Free)
    list.push_back(std::move(self));
}

void TensorOrder::warpAccess(Ctx &c, const Inst &inst,
                             const TensorAccess &what) {
  Event self;
  self.access = what;
  self.warp = order.warpNumber(c);
  self.isOpen = true;
  self.inst = &inst;
  self.code = c.code;
  self.thread = c.thread(0);
  access(c, inst, std::move(self), *c.cta, c.warp->initial & ~c.warp->exited);
}

void TensorOrder::engineAccess(Ctx &c, const Inst &inst, unsigned lane,
                               Cta &cta, const TensorAccess &what) {
  uint32_t thread = order.threadOf(c, lane);
  Event self;
  self.access = what;
  self.warp = order.warpNumber(c);
  self.lane = lane;
  self.engine = engineOf(c, lane);
  self.time = order.nowOf(self.engine);
  self.issued = order.nowOf(order.engineOf(EngineKind::TensorIssue, thread));
  self.inst = &inst;
  self.code = c.code;
  self.thread = c.thread(lane);
  access(c, inst, std::move(self), cta, 1u << lane);
}
