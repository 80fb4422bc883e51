//===-- Schedule.h - One of the orders in which hardware may run things ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Without a schedule, warps run one after the other, and asynchronous work is
// done when it is issued. With a schedule, warps run in a random order, each
// for a random number of instructions. Asynchronous copies and dots read and
// write late: when a thread waits for them, when no warp can go on, or at a
// random moment. Dots of one warp group are done in order; the hardware
// promises no other order. In some runs, a few lanes of a warp go on from a
// wait before the others look again. `elect.sync` may elect any lane: PTX does
// not say which one. Equal seeds give equal runs.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "Machine.h"

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <utility>

namespace tile::sim {

enum class AsyncKind : uint8_t {
  Copy,        ///< cp.async: in groups of a thread
  BulkRead,    ///< bulk stores that are to read their source: in groups of a
               ///< thread
  BulkWrite,   ///< those that have read it
  Transfer,    ///< completes on an mbarrier
  Product,     ///< wgmma: in groups of a warp group
  Tensor,      ///< tcgen05.mma and the like of a thread, in order
  TensorStore, ///< tcgen05.st of a warp, in order
};

class Schedule {
public:
  explicit Schedule(uint64_t seed);

  /// A number below `count`.
  uint32_t below(uint32_t count);
  /// Of lanes that may go on from a wait, those that do so now: mostly all.
  uint32_t lanesToGoOn(uint32_t lanes) {
    return slowLanes && below(8) ? lanes & ~slowLanes : lanes;
  }
  /// The one of `lanes` that is elected: the same one in the whole launch.
  unsigned elected(uint32_t lanes) const;
  /// Turns of a warp and of a cluster.
  uint64_t warpTurn();

  /// Work that a lane of the running warp has issued. `finish` returns false
  /// after recording an error.
  void add(Ctx &c, AsyncKind kind, unsigned lane,
           std::function<bool(Ctx &)> finish);
  /// A bulk store: `write` gets the bytes that its source had when it was read.
  void addStore(Ctx &c, unsigned lane, std::span<const std::byte> source,
                std::function<void(const std::byte *)> write);
  /// A product of the running warp's group, in one of its groups.
  void addProduct(Ctx &c, uint32_t group, std::function<bool(Ctx &)> finish);
  /// The thread's open work becomes a group.
  void commit(const Ctx &c, AsyncKind kind, unsigned lane);
  /// Finishes all but the last `left` groups of the thread.
  bool wait(Ctx &c, AsyncKind kind, unsigned lane, uint32_t left);
  /// Finishes the dots up to a group of the running warp's.
  bool waitProducts(Ctx &c, uint32_t group);
  /// Finishes everything of this kind that the thread has issued before `mark`.
  bool finishUpTo(Ctx &c, AsyncKind kind, uint32_t thread, uint64_t mark);
  uint64_t mark() const { return issued; }

  /// Now and then finishes something.
  bool mayFinish(Ctx &c);
  bool finishAny(Ctx &c);
  bool isIdle() const { return pending.empty(); }

  static uint32_t threadOf(const Ctx &c, unsigned lane) {
    return (c.cta->rank * c.launch->warpsPerCta + c.warp->index) * Lanes + lane;
  }

private:
  /// What is done at last.
  struct Action {
    Cta *cta;
    Warp *warp;
    const Code *code;
    std::function<bool(Ctx &)> finish;
    // Of bulk stores.
    std::span<const std::byte> source = {};
    std::function<void(const std::byte *)> write = {};
    std::vector<std::byte> data = {};
  };
  /// This is small: thousands of copies may be pending. Each wait looks at all
  /// of them, and each that ends moves those behind it.
  struct Work {
    AsyncKind kind;
    uint32_t thread;
    uint32_t group; ///< 0 until a commit closes it
    uint64_t number;
    std::unique_ptr<Action> action;
  };
  void push(Ctx &c, AsyncKind kind, uint32_t thread, uint32_t group,
            std::function<bool(Ctx &)> finish);
  bool finish(Ctx &c, size_t index);
  template <class F> bool finishIf(Ctx &c, F chosen);

  uint64_t state;
  /// One run in four puts everything off for very long.
  bool isLazy;
  /// Lanes that leave waits later than the others of their warp, in one run in
  /// four.
  uint32_t slowLanes;
  uint32_t leader;
  uint64_t issued = 0;
  std::vector<Work> pending; ///< in the order of issue
  std::map<std::pair<AsyncKind, uint32_t>, uint32_t> groups;
};

/// Does `work` now, or when the schedule says.
template <class F>
bool completeAsync(Ctx &c, AsyncKind kind, unsigned lane, F work) {
  if (!c.cluster->schedule)
    return work(c);
  c.cluster->schedule->add(c, kind, lane, std::move(work));
  return true;
}

/// The same for a bulk store: `write` gets a pointer to the source's bytes.
template <class F>
void completeStore(Ctx &c, unsigned lane, std::span<const std::byte> source,
                   F write) {
  if (!c.cluster->schedule)
    return write(source.data());
  c.cluster->schedule->addStore(c, lane, source, std::move(write));
}

/// The schedule's part of commit and wait for the lanes of a warp.
void commitScheduled(Ctx &c, AsyncKind kind, uint32_t mask);
bool waitScheduled(Ctx &c, AsyncKind kind, uint32_t mask, uint32_t left);

} // namespace tile::sim
