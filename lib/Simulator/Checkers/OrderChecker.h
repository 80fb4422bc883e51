//===-- OrderChecker.h - Races, initialization, proxies -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Two accesses of which one writes must be ordered. What orders them:
// program order of a thread; barriers, __syncwarp and mbarriers; release and
// acquire, also as a fence beside a relaxed access; waiting for asynchronous
// work. Strong accesses whose scopes include each other need no order. The
// threads of a warp are threads like any others: that they run together orders
// nothing.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "../Machine.h"
#include "../Memory.h"
#include "Clock.h"
#include "GlobalOrder.h"
#include "Shadow.h"

#include <unordered_map>

namespace tile::sim {

enum class EngineKind : uint8_t {
  Copy,        ///< cp.async of a thread; time: groups
  BulkRead,    ///< sources of a thread's bulk stores; time: groups
  BulkWrite,   ///< their destinations
  Matrix,      ///< operands of a warp group's wgmma; time: groups
  Transfer,    ///< what completes on an mbarrier; time: transfers
  Tensor,      ///< a thread's tcgen05.mma and .cp; time: commits
  TensorIssue, ///< that they were issued; time: fences of the thread
};

struct Engine {
  EngineKind kind;
  uint32_t owner; ///< thread of the cluster, warp group, or CTA of the mbarrier
  uint32_t now = 1;
  uint32_t used = 0; ///< time of the last access
  uint32_t done = 0; ///< what the owning thread has waited for
  const Inst *last = nullptr;
  const Code *lastCode = nullptr;
};

class TensorOrder;

class OrderChecker {
public:
  OrderChecker(Launch &launch, const Cluster &cluster, uint64_t number);
  ~OrderChecker();

  /// Accesses of threads; all within shared memory of `owner`, or all global.
  void shared(Ctx &c, const Inst &inst, uint32_t mask, Cta &owner,
              const uint64_t *address, uint32_t bytes, Access kind);
  void global(Ctx &c, const Inst &inst, uint32_t mask, const uint64_t *address,
              uint32_t bytes, Access kind);

  /// Accesses of engines, issued by a lane of the running warp.
  /// `flags` says more than Engine: Write, Strong, Generic.
  void asyncShared(Ctx &c, const Inst &inst, unsigned lane, Cta &owner,
                   uint32_t offset, uint32_t bytes, uint8_t flags,
                   uint32_t engine);
  /// A block of shared memory that one thread accesses, through the generic
  /// proxy or one that needs no fences.
  void sharedBlock(Ctx &c, const Inst &inst, unsigned lane, Cta &owner,
                   uint32_t offset, uint32_t bytes, uint8_t flags,
                   bool isGeneric = true);
  void asyncGlobal(Ctx &c, const Inst &inst, unsigned lane, uint64_t address,
                   uint32_t bytes, uint8_t flags, uint32_t engine);
  /// A copy reads its tensor map in global memory, at any time until it is
  /// complete.
  void mapRead(Ctx &c, const Inst &inst, unsigned lane, uint64_t address,
               uint32_t engine);
  /// A warp copies a tensor map from shared to global memory.
  void mapWrite(Ctx &c, const Inst &inst, uint32_t mask, Cta &owner,
                uint32_t offset, uint64_t address);
  /// A warp group's wgmma reads shared memory of the running CTA. Between
  /// beginMatrix and endMatrix.
  void beginMatrix(Ctx &c);
  void matrixRead(Ctx &c, const Inst &inst, uint32_t offset, uint32_t bytes);

  uint32_t engineOf(EngineKind kind, uint32_t owner);
  uint32_t threadOf(const Ctx &c, unsigned lane) const {
    return warpOf(*c.cta, *c.warp) * Lanes + lane;
  }
  /// The group that the thread's next commit closes ends here.
  void commit(Ctx &c, EngineKind kind, uint32_t mask);
  /// All but the last `left` groups are complete.
  void waitGroups(Ctx &c, EngineKind kind, uint32_t mask, uint32_t left);
  void waitMatrix(Ctx &c, uint32_t left);

  // Synchronization.
  void warpSync(Ctx &c, uint32_t mask);
  /// Lanes exchange values, which orders no memory.
  void collective(Ctx &c, uint32_t mask) {
    WarpState &state = states[warpOf(*c.cta, *c.warp)];
    if (!(state.live & ~mask))
      state.collective = state.now++;
  }
  void barrierArrive(Cta &cta, Warp &warp, uint32_t mask, unsigned number);
  void barrierWait(Cta &cta, Warp &warp, uint32_t mask, unsigned number);
  void barrierDone(Cta &cta, unsigned number);
  void clusterArrive(Cta &cta, Warp &warp, uint32_t mask, bool relaxed);
  void clusterDone();
  void clusterWait(Cta &cta, Warp &warp, uint32_t mask);
  void proxyFence(Ctx &c, uint32_t mask, bool sharedToo, bool globalToo);
  /// Copies of these lanes see the tensor maps that are known.
  void mapFence(Ctx &c, uint32_t mask);
  void initFence(Ctx &c, uint32_t mask);
  /// What the threads have observed comes before what they do from now on.
  void acquireFence(Ctx &c, uint32_t mask);
  /// `sequential`: a fence.sc.
  void fence(Ctx &c, uint32_t mask, Inst::Scope scope, bool sequential = false);

  // mbarriers.
  /// It begins, or `ends`.
  void mbarrierInit(Ctx &c, const Inst &inst, unsigned lane, Cta &owner,
                    uint32_t offset, bool ends);
  /// An operation of a thread: it must know of the initialization.
  void mbarrierUse(Ctx &c, const Inst &inst, unsigned lane, Cta &owner,
                   uint32_t offset);
  /// An engine signals the mbarrier.
  void mbarrierSignal(Ctx &c, const Inst &inst, unsigned lane, Cta &owner,
                      uint32_t offset, bool asyncProxy);
  void mbarrierArrive(Ctx &c, unsigned lane, Cta &owner, uint32_t offset,
                      bool relaxed);
  void mbarrierFlip(Cta &owner, uint32_t offset);
  void mbarrierWait(Ctx &c, uint32_t mask, Cta &owner, uint32_t offset,
                    bool relaxed);
  /// The running phase of the mbarrier completes what the engine did up to a
  /// time.
  void completesOn(Cta &owner, uint32_t offset, uint32_t engine, uint32_t time);
  /// What a lane knows now, for an engine that signals an mbarrier later:
  /// whoever waits for the mbarrier comes behind what the engine came behind.
  std::shared_ptr<const Knowledge> snapshot(const Ctx &c, unsigned lane) {
    return std::make_shared<const Knowledge>(viewOf(warpNumber(c), lane).known);
  }
  void passOn(Cta &owner, uint32_t offset, const Knowledge &what) {
    mbarriers[key(owner, offset)].pending.join(what);
  }
  uint32_t transferEngine(Cta &owner, uint32_t offset);
  /// One more transfer: what follows is no part of it. Returns its time.
  uint32_t tick(uint32_t engine) { return engines[engine].now++; }

  // What the order in tensor memory builds on. `mask` names lanes of the
  // running warp, all of which must know something.
  TensorOrder &tensor() { return *tensorOrder; }
  uint32_t warpNumber(const Ctx &c) const { return warpOf(*c.cta, *c.warp); }
  uint32_t timeOf(const Ctx &c) const { return states[warpNumber(c)].now; }
  uint32_t nowOf(uint32_t engine) const { return engines[engine].now; }
  const Clock &known(const Ctx &c, unsigned lane) {
    return viewOf(warpNumber(c), lane).known.clock;
  }
  bool knowsEngine(Ctx &c, uint32_t mask, uint32_t engine, uint32_t time) const;
  bool knowsWarp(Ctx &c, uint32_t mask, uint32_t warp, uint32_t time) const;
  void learnEngine(Ctx &c, uint32_t mask, uint32_t engine, uint32_t time);

  void markWritten(Cta &owner, uint32_t offset, uint32_t bytes);
  /// Threads leave; the last one of a CTA ends its shared memory.
  void exitThreads(Ctx &c, const Inst &inst, uint32_t mask);
  void exitCta(Ctx &c, const Inst &inst, unsigned lane);

private:
  /// Lanes of a warp that know the same.
  struct View {
    uint32_t lanes = FullMask;
    Knowledge known;
    /// What the last fence releases with the relaxed stores after it.
    std::shared_ptr<const Knowledge> fenced;
    /// Of such fences the widest.
    Inst::Scope fenceScope = Inst::CtaOnly;
    /// What relaxed loads saw, for the next fence to acquire.
    std::shared_ptr<const Knowledge> observed;
  };
  struct WarpState {
    std::vector<View> views{1};
    uint32_t now = 1;
    uint32_t live = 0;
    uint32_t collective = 0; ///< all lanes gave each other values since
    bool hasEngines = false;
  };
  struct Mbarrier {
    Knowledge pending, done;
    Clock uses; ///< operations since the initialization
  };
  struct Observer;
  struct Request;
  struct PageLock;

  uint32_t warpOf(const Cta &cta, const Warp &warp) const {
    return cta.rank * warps + warp.index;
  }
  static uint64_t key(const Cta &owner, uint32_t offset) {
    return uint64_t(owner.rank) << 32 | offset;
  }
  View &viewOf(uint32_t warp, unsigned lane);
  template <class F> void eachView(uint32_t warp, uint32_t mask, F f);
  void acquire(uint32_t warp, uint32_t mask, const Knowledge &what);
  /// Adds to `into` what the lanes know and did, and lets time pass.
  void release(uint32_t warp, uint32_t mask, Knowledge &into);
  void addOwn(uint32_t warp, uint32_t mask, Clock &clock) const;
  void observe(uint32_t warp, uint32_t mask, bool acquires,
               const Knowledge &what);
  void noteEngine(Ctx &c, const Inst &inst, unsigned lane, const Engine &engine,
                  const std::string &message);

  bool knowsUses(const Clock &known, const Clock &uses) const;
  bool isKnown(const Observer &o, const Event &x) const;
  bool isOrdered(const Observer &o, const Event &x) const;
  bool isFenced(const Observer &o, const Event &x, bool shared,
                bool initToo = false) const;
  bool isMapFenced(const Observer &o, const Event &x) const;
  /// An access by one thread, whose event has `bytes`, to shared memory or
  /// (where nobody owns it) global memory.
  Request threadRequest(Ctx &c, const Inst &inst, unsigned lane, Cta *owner,
                        uint8_t bytes, uint8_t flags);
  /// One by an engine that a thread has started, to shared memory or (where
  /// nobody owns it) global memory.
  Request engineRequest(Ctx &c, const Inst &inst, unsigned lane, Cta *owner,
                        uint32_t engine, uint32_t bytes, uint8_t flags);
  void access(Ctx &c, const Inst &inst, uint32_t mask, Cta *owner,
              const uint64_t *address, uint32_t bytes, Access kind);
  bool accessDense(Request &r);
  void accessLanes(Request &r, uint32_t mask);
  void accessPlace(Request &r, uint64_t at, unsigned parts, Event &self);
  void accessRange(Request &r, uint64_t at, uint32_t size, Event &self);
  void accessGranule(Request &r, uint64_t base, uint64_t at, uint32_t size,
                     const Event &self);
  void accessCell(Request &r, Cell &cell, CellArena &arena, const Event &self,
                  uint64_t at, uint32_t size);
  bool isHarmless(Cell &cell, const Event &self, const Event &x) const;
  GlobalOrder::Page *pageOf(Request &r, uint64_t at);
  /// Where granules begin: their addresses modulo their size.
  uint64_t granuleStart(Request &r, uint64_t at);
  Cell *granule(Request &r, uint64_t at, CellArena *&arena);
  template <class F>
  void eachEvent(Request &r, uint64_t at, uint32_t size, F f);
  bool sameValue(const Request &r, const Event &self, const Event &x,
                 uint64_t at, uint32_t size) const;
  void acquireFrom(Ctx &c, const Inst &inst, uint32_t mask, Cta *owner,
                   const uint64_t *address);
  void releaseTo(Ctx &c, const Inst &inst, uint32_t mask, Cta *owner,
                 const uint64_t *address, bool replaces);
  bool isWritten(const Request &r, uint64_t at, uint32_t size) const;
  void checkWritten(Request &r, unsigned lane, uint64_t at, uint32_t size);
  void checkRemote(Ctx &c, const Inst &inst, unsigned lane, uint32_t mask,
                   Cta &owner);
  void report(Request &r, const Event &self, const Event &x, uint64_t at,
              bool proxy);
  std::string completion(const Ctx &c, uint32_t engine, uint32_t time) const;
  std::string describe(const Request &r, uint64_t at) const;
  uint32_t site(const Ctx &c, const Inst &inst) const;

  Launch &launch;
  GlobalOrder &order;
  unsigned checks;
  uint32_t warps, clusterSize, number;
  std::vector<WarpState> states;
  std::vector<Engine> engines;
  std::array<std::vector<uint32_t>, 3> threadEngines; ///< by EngineKind
  std::unordered_map<uint64_t, uint32_t> engineIndex; ///< of the other kinds
  std::vector<std::unique_ptr<SharedShadow>> shadows; ///< by CTA
  std::unordered_map<uint64_t, Mbarrier> mbarriers;
  std::unordered_map<uint64_t, Knowledge> locations; ///< shared words
  std::unordered_map<uint64_t, Knowledge> barriers;  ///< by CTA and number
  Knowledge clusterPending, clusterKnown;
  Knowledge matrixKnown;
  uint32_t matrixEngine = 0, matrixTime = 0;
  /// Accesses by others to a CTA's shared memory, and what its threads knew
  /// when they left.
  std::vector<Clock> remote, atExit;
  std::unique_ptr<TensorOrder> tensorOrder;
};

} // namespace tile::sim
