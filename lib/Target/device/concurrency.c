//===-- concurrency.c - The checks of races and barriers ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel under `consan` calls, compiled for the GPU. One thread of a
// group of warps calls for all of them. The shared memory of a block is watched
// in units, which remember who wrote last and who has read since. Clocks say
// what is ordered: an access is wrong where its partition does not know of an
// earlier one.
//
// A copy that completes on an mbarrier counts there when it is started: only
// waits can tell the difference, and they really wait. So the phase of an
// mbarrier is here what it will be when all copies are done.
//
// The result of a check is 0, or the number of a rule and, in the upper 24
// bits, the number of the operation that is in conflict.
//
//===----------------------------------------------------------------------===//
#include "tile/Rules/ConcurrencyState.h"

typedef ConsanWord u32;
typedef int i32;
#ifdef CONSAN_ON_HOST
#define GLOBAL
#else
#define GLOBAL __attribute__((address_space(1)))
#endif
typedef GLOBAL u32 *State;
#define INLINE static inline __attribute__((always_inline))
#define CHECK __attribute__((noinline))

enum {
  RuleNone,
#define RULE(name, kind, text) Rule##name,
#include "tile/Rules/Rules.def"
#undef RULE
};

INLINE u32 broken(u32 rule, u32 site) { return rule | site << 8; }

//===----------------------------------------------------------------------===//
// The state
//===----------------------------------------------------------------------===//

INLINE ConsanCounts countsOf(State s) {
  ConsanCounts n = {s[0], s[1], s[2], s[3], s[4]};
  return n;
}
INLINE GLOBAL u32 *lockOf(State s) { return s + 5; }

INLINE State partitionOf(State s, u32 p) {
  ConsanCounts n = countsOf(s);
  return s + ConsanHeaderWords + p * consanPartitionSize(&n);
}
INLINE State groupsOf(State s, u32 p) {
  return partitionOf(s, p) + ConsanPartitionWords;
}
INLINE State clockOf(State s, u32 p) { return groupsOf(s, p) + s[4]; }

INLINE State rootOf(State s, u32 r) {
  ConsanCounts n = countsOf(s);
  return s + ConsanHeaderWords + n.partitions * consanPartitionSize(&n) +
         r * ConsanRootWords;
}
INLINE State unitOf(State s, u32 u) {
  ConsanCounts n = countsOf(s);
  return rootOf(s, n.roots) + u * consanUnitSize(&n);
}
INLINE State barrierOf(State s, u32 b) {
  ConsanCounts n = countsOf(s);
  return unitOf(s, n.units) + b * consanBarrierSize(&n);
}
enum { Pending, Done, Previous }; // Clocks of an mbarrier.
INLINE State barrierClock(State s, u32 b, u32 which) {
  ConsanCounts n = countsOf(s);
  return barrierOf(s, b) + ConsanBarrierWords + which * consanActors(&n);
}
INLINE State usesOf(State s, u32 b) { return barrierClock(s, b, 3); }

INLINE u32 engineActor(State s, u32 p, u32 engine) {
  return engine == ConsanSelf ? p : s[0] + 3 * p + engine - 1;
}
INLINE u32 barrierActor(State s, u32 b) { return 4 * s[0] + b; }

//===----------------------------------------------------------------------===//
// Clocks
//===----------------------------------------------------------------------===//

INLINE void join(State s, State into, State what) {
  ConsanCounts n = countsOf(s);
  for (u32 a = 0, end = consanActors(&n); a < end; ++a)
    if (into[a] < what[a])
      into[a] = what[a];
}

/// What a partition does from now on is not part of what it has handed on.
INLINE void step(State s, u32 p) { ++clockOf(s, p)[p]; }

INLINE int knows(State s, u32 p, u32 actor, u32 time) {
  return clockOf(s, p)[actor] >= time;
}

// The barriers of the compiler keep the checks where they are in the kernel.
#ifdef CONSAN_ON_HOST
INLINE void lock(State s) { (void)s; }
INLINE void unlock(State s) { (void)s; }
#else
INLINE void lock(State s) {
  u32 expected;
  do
    expected = 0;
  while (!__scoped_atomic_compare_exchange_n(lockOf(s), &expected, 1u, 0,
                                             __ATOMIC_ACQUIRE, __ATOMIC_RELAXED,
                                             __MEMORY_SCOPE_WRKGRP));
  __asm__ volatile("" ::: "memory");
}
INLINE void unlock(State s) {
  __asm__ volatile("" ::: "memory");
  __scoped_atomic_store_n(lockOf(s), 0u, __ATOMIC_RELEASE,
                          __MEMORY_SCOPE_WRKGRP);
}
#endif

//===----------------------------------------------------------------------===//
// The kernel, its partitions, its buffers
//===----------------------------------------------------------------------===//

/// All threads of the block together make the state. A barrier has to follow.
CHECK u32 tile_consan_begin(State s, u32 thread, u32 threads, u32 partitions,
                            u32 barriers, u32 roots, u32 units, u32 groups) {
  ConsanCounts n = {partitions, barriers, roots, units, groups};
  for (u32 i = thread, end = consanSize(&n); i < end; i += threads)
    s[i] = 0;
  // The same thread has cleared them: every kernel has so many threads.
  if (thread < 5)
    s[thread] = thread == 0   ? partitions
                : thread == 1 ? barriers
                : thread == 2 ? roots
                : thread == 3 ? units
                              : groups;
  return RuleNone;
}

/// The first partition begins: it is the kernel. The others know nothing yet.
CHECK u32 tile_consan_start(State s) {
  partitionOf(s, 0)[ConsanIsRunning] = 1;
  for (u32 p = 0, end = s[0]; p < end; ++p)
    clockOf(s, p)[p] = 1;
  return RuleNone;
}

/// Partition 0 starts others.
CHECK u32 tile_consan_fork(State s, u32 first, u32 count) {
  lock(s);
  for (u32 p = first; p < first + count; ++p) {
    join(s, clockOf(s, p), clockOf(s, 0));
    partitionOf(s, p)[ConsanIsRunning] = 1;
  }
  step(s, 0);
  unlock(s);
  return RuleNone;
}

INLINE int isComplete(State s, u32 b, u32 parity) {
  return (barrierOf(s, b)[ConsanPhase] & 1) != (parity & 1);
}

/// Whether somebody runs who is not waiting for something that never comes.
INLINE int canGoOn(State s) {
  for (u32 p = 0, end = s[0]; p < end; ++p) {
    State it = partitionOf(s, p);
    if (it[ConsanIsRunning] &&
        (!it[ConsanWaitsAt] ||
         isComplete(s, it[ConsanWaitsAt] - 1, it[ConsanWaitParity])))
      return 1;
  }
  return 0;
}

/// A partition is at its end, and partition 0 waits for others that end.
CHECK u32 tile_consan_end(State s, u32 p) {
  lock(s);
  partitionOf(s, p)[ConsanIsRunning] = 0;
  int others = 0;
  for (u32 q = 0, end = s[0]; q < end; ++q)
    others |= partitionOf(s, q)[ConsanIsRunning];
  u32 code = others && !canGoOn(s) ? broken(RuleNobodyGoesOn, 0) : RuleNone;
  unlock(s);
  return code;
}

CHECK u32 tile_consan_join(State s, u32 first, u32 count) {
  lock(s);
  partitionOf(s, 0)[ConsanIsRunning] = 1;
  for (u32 p = first; p < first + count; ++p) {
    join(s, clockOf(s, 0), clockOf(s, p));
    step(s, p);
  }
  unlock(s);
  return RuleNone;
}

CHECK u32 tile_consan_alloc(State s, u32 r, u32 base, u32 bytes, u32 unitBytes,
                            u32 first, u32 barriers) {
  lock(s);
  State root = rootOf(s, r);
  root[ConsanBase] = base;
  root[ConsanBytes] = bytes;
  root[ConsanUnitBytes] = unitBytes;
  root[ConsanFirst] = first;
  root[ConsanIsLive] = 1;
  // Another life: nobody has initialized them.
  for (u32 b = first; b < first + barriers; ++b)
    barrierOf(s, b)[ConsanIsValid] = 0;
  unlock(s);
  return RuleNone;
}

CHECK u32 tile_consan_dealloc(State s, u32 r) {
  lock(s);
  rootOf(s, r)[ConsanIsLive] = 0;
  unlock(s);
  return RuleNone;
}

/// The allocation that an address is in. It is number `first`, or one that
/// `set` has a bit for, counted from there.
INLINE u32 findRoot(State s, u32 first, u32 set, u32 address) {
  u32 found = first;
  for (u32 r = first; set; ++r, set >>= 1) {
    State root = rootOf(s, r);
    if ((set & 1) && root[ConsanIsLive] &&
        address - root[ConsanBase] < root[ConsanBytes])
      found = r;
  }
  return found;
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

INLINE u32 checkKnown(State s, u32 p, u32 actor, u32 time, u32 site) {
  if (knows(s, p, actor, time))
    return RuleNone;
  return broken(actor < s[0] ? RuleUnordered : RuleAsyncUnfinished, site);
}

/// One unit, by an actor that partition `p` has started.
INLINE u32 accessUnit(State s, u32 p, State unit, u32 actor, u32 time,
                      int writes, u32 site) {
  u32 code = RuleNone;
  if (unit[ConsanWriter])
    code = checkKnown(s, p, unit[ConsanWriter] - 1, unit[ConsanWriteTime],
                      unit[ConsanWriteSite]);
  else if (!writes)
    code = broken(RuleNotWritten, 0);
  State reads = unit + ConsanUnitWords;
  if (!writes) {
    reads[actor * ConsanReadWords] = time;
    reads[actor * ConsanReadWords + 1] = site;
    return code;
  }
  ConsanCounts n = countsOf(s);
  for (u32 a = 0, end = consanReaders(&n); a < end; ++a) {
    u32 seen = reads[a * ConsanReadWords];
    if (!code && seen)
      code = checkKnown(s, p, a, seen, reads[a * ConsanReadWords + 1]);
    reads[a * ConsanReadWords] = 0;
  }
  unit[ConsanWriter] = actor + 1;
  unit[ConsanWriteTime] = time;
  unit[ConsanWriteSite] = site;
  return code;
}

/// `cells` has a bit for each part of a unit; there are `cellsOfUnit` parts.
INLINE u32 accessAll(State s, u32 p, u32 first, u32 set, u32 address, u32 bytes,
                     u32 cells, u32 cellsOfUnit, u32 actor, u32 time,
                     int writes, u32 site) {
  State root = rootOf(s, findRoot(s, first, set, address));
  if (!root[ConsanIsLive])
    return broken(RuleBufferGivenBack, 0);
  u32 size = root[ConsanUnitBytes];
  u32 unit = (address - root[ConsanBase]) / size;
  u32 end = unit + (bytes + size - 1) / size;
  u32 code = RuleNone;
  for (; unit < end; ++unit)
    for (u32 cell = 0; cell < cellsOfUnit; ++cell)
      if (cells >> cell & 1) {
        u32 number = root[ConsanFirst] + unit * cellsOfUnit + cell;
        u32 one =
            accessUnit(s, p, unitOf(s, number), actor, time, writes, site);
        code = code ? code : one;
      }
  return code;
}

/// By the threads, or by an engine whose work `issue` has begun.
CHECK u32 tile_consan_access(State s, u32 p, u32 first, u32 set, u32 address,
                             u32 bytes, u32 cells, u32 cellsOfUnit, u32 engine,
                             u32 writes, u32 site) {
  lock(s);
  u32 time = engine == ConsanSelf
                 ? clockOf(s, p)[p]
                 : partitionOf(s, p)[ConsanIssued + engine - 1];
  u32 code = accessAll(s, p, first, set, address, bytes, cells, cellsOfUnit,
                       engineActor(s, p, engine), time, (int)writes, site);
  unlock(s);
  return code;
}

CHECK u32 tile_consan_issue(State s, u32 p, u32 engine) {
  lock(s);
  ++partitionOf(s, p)[ConsanIssued + engine - 1];
  unlock(s);
  return RuleNone;
}

/// The copies so far are a group.
CHECK u32 tile_consan_commit(State s, u32 p) {
  lock(s);
  State it = partitionOf(s, p);
  u32 group = ++it[ConsanClosed];
  groupsOf(s, p)[group % s[4]] = it[ConsanIssued + ConsanCopy - 1];
  unlock(s);
  return RuleNone;
}

/// At most `pendings` of the last ones are under way.
CHECK u32 tile_consan_wait(State s, u32 p, u32 engine, u32 pendings) {
  lock(s);
  State it = partitionOf(s, p);
  u32 time = it[ConsanIssued + engine - 1];
  if (engine == ConsanCopy) {
    u32 closed = it[ConsanClosed];
    time = closed > pendings ? groupsOf(s, p)[(closed - pendings) % s[4]] : 0;
  } else {
    time = time > pendings ? time - pendings : 0;
  }
  State known = clockOf(s, p) + engineActor(s, p, engine);
  if (*known < time)
    *known = time;
  unlock(s);
  return RuleNone;
}

/// The kernel ends: everything must be done.
CHECK u32 tile_consan_exit(State s) {
  lock(s);
  ConsanCounts n = countsOf(s);
  u32 code = RuleNone;
  for (u32 u = 0; u < n.units && !code; ++u) {
    State unit = unitOf(s, u);
    u32 writer = unit[ConsanWriter];
    if (writer > n.partitions &&
        !knows(s, 0, writer - 1, unit[ConsanWriteTime]))
      code = broken(RuleAsyncAtExit, unit[ConsanWriteSite]);
    State reads = unit + ConsanUnitWords;
    for (u32 a = n.partitions; a < consanReaders(&n) && !code; ++a)
      if (!knows(s, 0, a, reads[a * ConsanReadWords]))
        code = broken(RuleAsyncAtExit, reads[a * ConsanReadWords + 1]);
  }
  unlock(s);
  return code;
}

//===----------------------------------------------------------------------===//
// mbarriers
//===----------------------------------------------------------------------===//

/// The number of the mbarrier at an address; its state may be another one's
/// where the address is in no allocation.
INLINE u32 findBarrier(State s, u32 first, u32 set, u32 address) {
  State root = rootOf(s, findRoot(s, first, set, address));
  return root[ConsanFirst] +
         (address - root[ConsanBase]) / root[ConsanUnitBytes];
}

INLINE int knowsUses(State s, u32 p, u32 b) {
  State uses = usesOf(s, b);
  for (u32 q = 0, end = s[0]; q < end; ++q)
    if (!knows(s, p, q, uses[q]))
      return 0;
  return 1;
}

/// An operation of a partition; a rule if it may not use the mbarrier.
INLINE u32 use(State s, u32 p, u32 b) {
  State it = barrierOf(s, b);
  if (!it[ConsanIsValid])
    return broken(RuleNotInitialized, 0);
  usesOf(s, b)[p] = clockOf(s, p)[p];
  if (!knows(s, p, it[ConsanInitBy], it[ConsanInitTime]))
    return broken(RuleInitUnknown, 0);
  return RuleNone;
}

/// Begins the next phase, if this one has everything it waits for.
INLINE void flip(State s, u32 b) {
  State it = barrierOf(s, b);
  if (it[ConsanPending] || it[ConsanTransactions])
    return;
  u32 phase = ++it[ConsanPhase];
  it[ConsanPending] = it[ConsanCount];
  State done = barrierClock(s, b, Done);
  join(s, barrierClock(s, b, Previous), done);
  join(s, done, barrierClock(s, b, Pending));
  done[barrierActor(s, b)] = phase;
}

/// What a partition knows is known to those who wait for this phase.
INLINE void handOn(State s, u32 p, u32 b) {
  join(s, barrierClock(s, b, Pending), clockOf(s, p));
}

INLINE u32 addTransactions(State s, u32 b, i32 bytes) {
  i32 now = (i32)barrierOf(s, b)[ConsanTransactions] + bytes;
  if (now >= 1 << 20 || now <= -(1 << 20))
    return broken(RuleTransactionRange, 0);
  barrierOf(s, b)[ConsanTransactions] = (u32)now;
  return RuleNone;
}

CHECK u32 tile_consan_init(State s, u32 p, u32 first, u32 set, u32 address,
                           u32 count) {
  lock(s);
  u32 b = findBarrier(s, first, set, address);
  State it = barrierOf(s, b);
  u32 code = it[ConsanIsValid]    ? broken(RuleInitializedTwice, 0)
             : knowsUses(s, p, b) ? RuleNone
                                  : broken(RuleInitUnordered, 0);
  it[ConsanIsValid] = 1;
  it[ConsanCount] = it[ConsanPending] = count;
  it[ConsanTransactions] = 0;
  // Another life: waits see the parity, and clocks go on counting.
  it[ConsanPhase] = (it[ConsanPhase] + 1) & ~1u;
  it[ConsanInitBy] = p;
  it[ConsanInitTime] = clockOf(s, p)[p];
  unlock(s);
  return code;
}

CHECK u32 tile_consan_inval(State s, u32 p, u32 first, u32 set, u32 address) {
  lock(s);
  u32 b = findBarrier(s, first, set, address);
  u32 code = use(s, p, b);
  if (!code && !knowsUses(s, p, b))
    code = broken(RuleEndUnordered, 0);
  barrierOf(s, b)[ConsanIsValid] = 0;
  unlock(s);
  return code;
}

/// `expect` bytes are announced first. Arrivals that are not part of the count
/// announce themselves: `count` is 0 for them. `copies`: it is the partition's
/// copies that arrive.
CHECK u32 tile_consan_arrive(State s, u32 p, u32 first, u32 set, u32 address,
                             u32 count, u32 expect, u32 copies, u32 pred) {
  if (!pred)
    return RuleNone;
  lock(s);
  u32 b = findBarrier(s, first, set, address);
  u32 code = use(s, p, b);
  State it = barrierOf(s, b);
  if (!code && it[ConsanPending] < count)
    code = broken(RuleTooManyArrivals, 0);
  if (!code && expect)
    code = addTransactions(s, b, (i32)expect);
  if (!code) {
    handOn(s, p, b);
    if (copies) {
      State known = barrierClock(s, b, Pending) + engineActor(s, p, ConsanCopy);
      u32 issued = partitionOf(s, p)[ConsanIssued + ConsanCopy - 1];
      if (*known < issued)
        *known = issued;
    }
    step(s, p);
    it[ConsanPending] -= count;
    flip(s, b);
  }
  unlock(s);
  return code;
}

/// A copy to a buffer that completes on an mbarrier.
CHECK u32 tile_consan_transfer(State s, u32 p, u32 first, u32 set, u32 address,
                               u32 bytes, u32 cells, u32 cellsOfUnit,
                               u32 firstBarrier, u32 barrierSet,
                               u32 barrierAddress, u32 moved, u32 site,
                               u32 pred) {
  if (!pred)
    return RuleNone;
  lock(s);
  u32 b = findBarrier(s, firstBarrier, barrierSet, barrierAddress);
  u32 code = use(s, p, b);
  if (!code)
    code = accessAll(s, p, first, set, address, bytes, cells, cellsOfUnit,
                     barrierActor(s, b), barrierOf(s, b)[ConsanPhase] + 1, 1,
                     site);
  if (!code)
    code = addTransactions(s, b, -(i32)moved);
  if (!code) {
    handOn(s, p, b);
    step(s, p);
    flip(s, b);
  }
  unlock(s);
  return code;
}

CHECK u32 tile_consan_wait_begin(State s, u32 p, u32 first, u32 set,
                                 u32 address, u32 parity, u32 pred) {
  if (!pred)
    return RuleNone;
  lock(s);
  u32 b = findBarrier(s, first, set, address);
  u32 code = use(s, p, b);
  if (!code) {
    State it = partitionOf(s, p);
    it[ConsanWaitsAt] = b + 1;
    it[ConsanWaitParity] = parity;
    if (!canGoOn(s))
      code = broken(RuleNobodyGoesOn, 0);
  }
  unlock(s);
  return code;
}

CHECK u32 tile_consan_wait_end(State s, u32 p, u32 first, u32 set, u32 address,
                               u32 parity, u32 pred) {
  if (!pred)
    return RuleNone;
  lock(s);
  u32 b = findBarrier(s, first, set, address);
  partitionOf(s, p)[ConsanWaitsAt] = 0;
  // The wait may have seen the phase before this one only.
  join(s, clockOf(s, p),
       barrierClock(s, b, isComplete(s, b, parity) ? Done : Previous));
  unlock(s);
  return RuleNone;
}
