//===-- Clock.cpp - What a thread knows to have happened ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Clock.h"

using namespace tile::sim;

static void meetVectors(std::vector<uint32_t> &v,
                        const std::vector<uint32_t> &o) {
  v.resize(std::min(v.size(), o.size()));
  for (size_t i = 0; i < v.size(); ++i)
    v[i] = std::min(v[i], o[i]);
}

void Clock::meet(const Clock &o) {
  // A lane may be known by its own entry on one side and by its warp's on the
  // other.
  size_t lanesKnown = std::max(lanes.size(), o.lanes.size());
  if (lanesKnown) {
    std::vector<uint32_t> both(lanesKnown);
    for (size_t i = 0; i < lanesKnown; ++i)
      both[i] = std::min(std::max(at(lanes, i), at(warps, i / 32)),
                         std::max(at(o.lanes, i), at(o.warps, i / 32)));
    lanes = std::move(both);
  }
  meetVectors(warps, o.warps);
  meetVectors(engines, o.engines);
}

void tile::sim::joinForeign(std::shared_ptr<const Foreign> &into,
                            const std::shared_ptr<const Foreign> &from) {
  if (!from || into == from)
    return;
  if (!into || Clock::covers(*from, *into)) {
    into = from;
    return;
  }
  if (Clock::covers(*into, *from))
    return;
  auto joined = std::make_shared<Foreign>(*into);
  Clock::join(*joined, *from);
  into = std::move(joined);
}

static bool coversForeign(const std::shared_ptr<const Foreign> &a,
                          const std::shared_ptr<const Foreign> &b) {
  return !b || a == b || (a && Clock::covers(*a, *b));
}

void Knowledge::join(const Knowledge &o) {
  clock.join(o.clock);
  sharedFenced.join(o.sharedFenced);
  globalFenced.join(o.globalFenced);
  mapFenced.join(o.mapFenced);
  inits.join(o.inits);
  ordered.join(o.ordered);
  joinForeign(foreign, o.foreign);
  joinForeign(foreignFenced, o.foreignFenced);
  joinForeign(foreignOrdered, o.foreignOrdered);
}

bool Knowledge::covers(const Knowledge &o) const {
  return clock.covers(o.clock) && sharedFenced.covers(o.sharedFenced) &&
         globalFenced.covers(o.globalFenced) && mapFenced.covers(o.mapFenced) &&
         inits.covers(o.inits) && ordered.covers(o.ordered) &&
         coversForeign(foreign, o.foreign) &&
         coversForeign(foreignFenced, o.foreignFenced) &&
         coversForeign(foreignOrdered, o.foreignOrdered);
}

void Knowledge::meet(const Knowledge &o) {
  clock.meet(o.clock);
  sharedFenced.meet(o.sharedFenced);
  globalFenced.meet(o.globalFenced);
  mapFenced.meet(o.mapFenced);
  inits.meet(o.inits);
  ordered.meet(o.ordered);
  auto both = [](std::shared_ptr<const Foreign> &a,
                 const std::shared_ptr<const Foreign> &b) {
    if (a == b || !a)
      return;
    if (!b) {
      a = nullptr;
      return;
    }
    auto made = std::make_shared<Foreign>(*a);
    meetVectors(*made, *b);
    a = std::move(made);
  };
  both(foreign, o.foreign);
  both(foreignFenced, o.foreignFenced);
  both(foreignOrdered, o.foreignOrdered);
}
