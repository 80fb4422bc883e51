//===-- Schedule.cpp - Random turns, late completion ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Schedule.h"

#include <algorithm>
#include <bit>

using namespace tile::sim;

/// One step of splitmix64.
static uint64_t mix(uint64_t &state) {
  uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

Schedule::Schedule(uint64_t seed) : state(seed) {
  uint64_t choices = mix(state);
  isLazy = choices % 4 == 0;
  slowLanes = choices / 4 % 4 ? 0 : uint32_t(choices >> 32);
  leader = choices / 16 % Lanes;
}

uint32_t Schedule::below(uint32_t count) {
  return uint32_t((mix(state) >> 32) * count >> 32);
}

unsigned Schedule::elected(uint32_t lanes) const {
  for (uint32_t i = leader % uint32_t(std::popcount(lanes)); i > 0; --i)
    lanes &= lanes - 1;
  return unsigned(std::countr_zero(lanes));
}

uint64_t Schedule::warpTurn() {
  // Mostly short, so that warps interleave; sometimes one runs far ahead.
  return below(8) ? 1 + below(48) : 1 + below(4096);
}

void Schedule::push(Ctx &c, AsyncKind kind, uint32_t thread, uint32_t group,
                    std::function<bool(Ctx &)> finish) {
  pending.push_back({kind, thread, group, issued++,
                     std::make_unique<Action>(
                         Action{c.cta, c.warp, c.code, std::move(finish)})});
}

void Schedule::add(Ctx &c, AsyncKind kind, unsigned lane,
                   std::function<bool(Ctx &)> finish) {
  push(c, kind, threadOf(c, lane), 0, std::move(finish));
}

void Schedule::addStore(Ctx &c, unsigned lane,
                        std::span<const std::byte> source,
                        std::function<void(const std::byte *)> write) {
  add(c, AsyncKind::BulkRead, lane, nullptr);
  Action &action = *pending.back().action;
  action.source = source;
  action.write = std::move(write);
}

static uint32_t productsOf(const Ctx &c) {
  return Schedule::threadOf(c, 0) / (4 * Lanes);
}

void Schedule::addProduct(Ctx &c, uint32_t group,
                          std::function<bool(Ctx &)> finish) {
  push(c, AsyncKind::Product, productsOf(c), group, std::move(finish));
}

bool Schedule::waitProducts(Ctx &c, uint32_t group) {
  uint32_t owner = productsOf(c);
  return finishIf(c, [&](const Work &w) {
    return w.kind == AsyncKind::Product && w.thread == owner &&
           w.group <= group;
  });
}

void Schedule::commit(const Ctx &c, AsyncKind kind, unsigned lane) {
  uint32_t thread = threadOf(c, lane), group = ++groups[{kind, thread}];
  for (Work &w : pending)
    if (w.kind == kind && w.thread == thread && !w.group)
      w.group = group;
}

/// The work runs in the place of the warp that issued it. Of a bulk store, this
/// is one of its halves; of what is done in order, the first one comes first.
bool Schedule::finish(Ctx &c, size_t index) {
  ++c.cluster->progress;
  switch (Work &w = pending[index]; w.kind) {
  case AsyncKind::BulkRead:
    w.kind = AsyncKind::BulkWrite;
    w.action->data.assign(w.action->source.begin(), w.action->source.end());
    return true;
  case AsyncKind::BulkWrite:
    w.action->write(w.action->data.data());
    pending.erase(pending.begin() + ptrdiff_t(index));
    return true;
  case AsyncKind::Product:
  case AsyncKind::Tensor:
  case AsyncKind::TensorStore:
    index =
        size_t(std::find_if(pending.begin(), pending.end(),
                            [&](const Work &x) {
                              return x.kind == w.kind && x.thread == w.thread;
                            }) -
               pending.begin());
    break;
  case AsyncKind::Copy:
  case AsyncKind::Transfer:
    break;
  }
  std::unique_ptr<Action> action = std::move(pending[index].action);
  pending.erase(pending.begin() + ptrdiff_t(index));
  Cta *cta = std::exchange(c.cta, action->cta);
  Warp *warp = std::exchange(c.warp, action->warp);
  const Code *code = std::exchange(c.code, action->code);
  InstStats *stats =
      std::exchange(c.stats, c.worker->stats[action->code->index].data());
  bool good = action->finish(c);
  c.cta = cta;
  c.warp = warp;
  c.code = code;
  c.stats = stats;
  return good;
}

template <class F> bool Schedule::finishIf(Ctx &c, F chosen) {
  // In a random order: no order of completion is promised.
  while (true) {
    std::vector<size_t> list;
    for (size_t i = 0; i < pending.size(); ++i)
      if (chosen(pending[i]))
        list.push_back(i);
    if (list.empty())
      return true;
    if (!finish(c, list[below(uint32_t(list.size()))]))
      return false;
  }
}

bool Schedule::wait(Ctx &c, AsyncKind kind, unsigned lane, uint32_t left) {
  uint32_t thread = threadOf(c, lane), closed = groups[{kind, thread}];
  return finishIf(c, [&](const Work &w) {
    return w.kind == kind && w.thread == thread && w.group &&
           uint64_t(w.group) + left <= closed;
  });
}

bool Schedule::finishUpTo(Ctx &c, AsyncKind kind, uint32_t thread,
                          uint64_t mark) {
  return finishIf(c, [&](const Work &w) {
    return w.kind == kind && w.thread == thread && w.number < mark;
  });
}

bool Schedule::finishAny(Ctx &c) {
  return pending.empty() || finish(c, below(uint32_t(pending.size())));
}

bool Schedule::mayFinish(Ctx &c) {
  // However late, it comes: somebody may spin until it has come. Each piece is
  // as late, whether there are few or many.
  uint32_t some = std::max(1u, uint32_t(pending.size()));
  return below(isLazy ? std::max(1024 / some, 3u) : 3) || finishAny(c);
}

void tile::sim::commitScheduled(Ctx &c, AsyncKind kind, uint32_t mask) {
  for (; c.cluster->schedule && mask; mask &= mask - 1)
    c.cluster->schedule->commit(c, kind, firstLane(mask));
}

bool tile::sim::waitScheduled(Ctx &c, AsyncKind kind, uint32_t mask,
                              uint32_t left) {
  for (; c.cluster->schedule && mask; mask &= mask - 1)
    if (!c.cluster->schedule->wait(c, kind, firstLane(mask), left))
      return false;
  return true;
}
