//===-- TensorOrder.h - Order of accesses to tensor memory ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// tcgen05.ld and .st are a warp's: they are complete when its tcgen05.wait says
// so, and then come before what a barrier puts behind the warp. Dots, copies
// and shifts belong to the thread that issues them. They are complete for
// whoever has waited for an mbarrier that a later tcgen05.commit of the thread
// arrived at. Some follow each other without that, if they come from one
// thread, or from two with tcgen05.fence on both sides of what orders the
// threads.
//
// Memory remembers accesses as sets of lanes and ranges of columns, of which a
// later write that covers them makes an end.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "../TensorMemory.h"
#include "Clock.h"

#include <unordered_map>

namespace tile::sim {

class OrderChecker;

enum class TensorKind : uint8_t { Load, Store, Product, Copy, Shift, Free };

struct TensorAccess {
  TensorKind kind;
  bool isWrite;
  TensorRegion region;
  /// Dots with the same one add to the same place in the same way.
  uint64_t accumulator = 0;
};

class TensorOrder {
public:
  explicit TensorOrder(OrderChecker &order, unsigned ctas)
      : order(order), events(ctas) {}

  /// tcgen05.ld, .st, or the end of an allocation, by the running warp.
  void warpAccess(Ctx &c, const Inst &inst, const TensorAccess &access);
  /// By the engine of a lane of the running warp, in any CTA of the pair.
  void engineAccess(Ctx &c, const Inst &inst, unsigned lane, Cta &cta,
                    const TensorAccess &access);
  /// The running warp's loads (or stores) are complete.
  void wait(Ctx &c, bool stores);
  /// tcgen05.fence::before_thread_sync and ::after_thread_sync.
  void fenceBefore(Ctx &c, uint32_t mask);
  void fenceAfter(Ctx &c, uint32_t mask);
  /// What a lane's tcgen05.commit completes: its engine, up to a time.
  std::pair<uint32_t, uint32_t> commit(Ctx &c, unsigned lane);
  /// The engine that reads shared memory for a lane.
  uint32_t engineOf(Ctx &c, unsigned lane);

private:
  struct Event {
    TensorAccess access;
    uint32_t warp = 0, lane = 0; ///< of the cluster; that issued it
    uint32_t engine = 0;         ///< 0 for accesses of a warp
    uint32_t time = 0;           ///< of the engine, or the warp
    uint32_t issued = 0;         ///< of the thread's issuing engine
    bool isOpen = false;         ///< nobody has waited for it
    const Inst *inst = nullptr;
    const Code *code = nullptr;
    ThreadId thread;
  };
  struct Self;

  void access(Ctx &c, const Inst &inst, Event self, Cta &cta, uint32_t mask);
  /// Empty if the two are in order.
  std::string whyUnordered(Ctx &c, const Event &self, const Event &x,
                           uint32_t mask, const char *&kind);
  std::string whyEnginesUnordered(Ctx &c, const Event &self, const Event &x,
                                  const char *&kind);
  bool knowsAfterFence(Ctx &c, uint32_t mask, uint32_t engine, uint32_t time);
  bool assumes(const Ctx &c, uint32_t assumption) const;

  OrderChecker &order;
  std::vector<std::vector<Event>> events; ///< by CTA
  /// What a thread knew at its last fence::after_thread_sync.
  std::unordered_map<uint32_t, Clock> after;
  uint32_t openCount = 0;
};

} // namespace tile::sim
