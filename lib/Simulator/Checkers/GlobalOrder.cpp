//===-- GlobalOrder.cpp - What the clusters of a launch share -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "GlobalOrder.h"

#include <algorithm>

using namespace tile::sim;

void SharedShadow::start(uint32_t bytes) {
  cells.resize((bytes + granuleBytes - 1) / granuleBytes);
  written.assign(bytes, 0);
  arena.recycle();
  ++generation;
}

Knowledge GlobalLocation::visibleTo(uint32_t gpu, Inst::Scope scope) const {
  Knowledge what;
  if (gpu < own.size()) {
    what.foreign = own[gpu].foreign;
    what.foreignFenced = own[gpu].fenced;
  }
  if (scope == Inst::System) {
    joinForeign(what.foreign, all.foreign);
    joinForeign(what.foreignFenced, all.fenced);
  }
  return what;
}

void GlobalLocation::show(uint32_t gpu, Inst::Scope scope,
                          const std::shared_ptr<const Foreign> &published,
                          const std::shared_ptr<const Foreign> &fenced) {
  auto add = [&](Published &to) {
    joinForeign(to.foreign, published);
    joinForeign(to.fenced, fenced);
  };
  if (gpu >= own.size())
    own.resize(gpu + 1);
  add(own[gpu]);
  if (scope == Inst::System)
    add(all);
}

GlobalOrder::GlobalOrder(const Group &group)
    : synchronizes(group.synchronizes), parallel(group.parallel) {
  for (const Allocation &a : group.allocations) {
    // Granules follow the allocation, wherever the host put it, but are made of
    // words.
    uint64_t before = a.base % 4;
    size_t count = size_t((a.size + before) / pageBytes + 1);
    Region r{a.base - before, a.size + before,
             std::make_unique<std::atomic<Page *>[]>(count)};
    for (size_t i = 0; i < count; ++i)
      r.pages[i] = nullptr;
    regions.push_back(std::move(r));
  }
  if (synchronizes)
    clusters.resize(group.clusterCount);
  everything = std::make_shared<Foreign>(clusters.size());
}

GlobalOrder::Page *GlobalOrder::page(uint64_t address) {
  // Beyond this, memory goes unwatched.
  static constexpr size_t mostPages = (size_t(1) << 29) / sizeof(Page);
  auto it =
      std::upper_bound(regions.begin(), regions.end(), address,
                       [](uint64_t a, const Region &r) { return a < r.base; });
  if (it == regions.begin())
    return nullptr;
  Region &r = *std::prev(it);
  uint64_t offset = address - r.base;
  if (offset >= r.size)
    return nullptr;
  std::atomic<Page *> &slot = r.pages[offset / pageBytes];
  if (Page *known = slot.load(std::memory_order_acquire))
    return known;
  std::lock_guard lock(making);
  if (Page *known = slot.load(std::memory_order_acquire))
    return known;
  if (owned.size() >= mostPages)
    return nullptr;
  Page *made = owned.emplace_back(std::make_unique<Page>()).get();
  made->base = r.base + offset / pageBytes * pageBytes;
  slot.store(made, std::memory_order_release);
  return made;
}

uint32_t GlobalOrder::publish(uint32_t cluster, const Knowledge &what) {
  static constexpr size_t mostSteps = 1 << 14;
  std::lock_guard lock(publishing);
  Publications &p = clusters[cluster];
  if (!p.steps.empty() && p.all.covers(what))
    return uint32_t(p.steps.size());
  p.all.join(what);
  auto step = std::make_shared<const Knowledge>(p.all);
  if (kept < mostSteps || p.steps.empty()) {
    p.steps.push_back(std::move(step));
    ++kept;
  } else {
    p.steps.back() = std::move(step);
  }
  return uint32_t(p.steps.size());
}

std::shared_ptr<const Knowledge> GlobalOrder::published(uint32_t cluster,
                                                        uint32_t count) const {
  if (count == 0)
    return nullptr;
  std::lock_guard lock(publishing);
  const Publications &p = clusters[cluster];
  return p.steps.empty() ? nullptr
                         : p.steps[std::min<size_t>(count, p.steps.size()) - 1];
}

std::shared_ptr<const Foreign>
GlobalOrder::with(uint32_t cluster, uint32_t count,
                  const std::shared_ptr<const Foreign> &known) {
  // Where very many CTAs synchronize through very many words, one list stands
  // for all: whoever acquires anything then knows all publications.
  static constexpr size_t mostEntries = size_t(1) << 23;
  // Other host threads may be reading the list that they were given.
  if (parallel && everything.use_count() > 1)
    everything = std::make_shared<Foreign>(*everything);
  (*everything)[cluster] = std::max((*everything)[cluster], count);
  if (locations.size() * clusters.size() > mostEntries)
    return everything;
  auto made = known ? std::make_shared<Foreign>(*known)
                    : std::make_shared<Foreign>(clusters.size());
  (*made)[cluster] = std::max((*made)[cluster], count);
  return made;
}
