/*===-- ConcurrencyState.h - What consan knows of a block --------*- C -*-===*\
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*===-----------------------------------------------------------------------===*
|*
|* The sanitizer of concurrency keeps this for each block, in global memory, as
|* words of 32 bits. The pass that puts the checks in says how many there are of
|* everything. The code of the checks, in C, reads and writes them.
|*
|* An actor is somebody who has a clock: the groups of warps (`partitions`),
|* three engines of each of them, and each mbarrier for the copies that complete
|* on it. A clock has a time for each actor: what happened up to that time is
|* known.
|*
\*===-----------------------------------------------------------------------===*/
#ifndef TILE_RULES_CONCURRENCYSTATE_H
#define TILE_RULES_CONCURRENCYSTATE_H

typedef unsigned int ConsanWord;

/* How many there are of everything. The state begins with these words. */
typedef struct {
  ConsanWord partitions; /* groups of warps; the first one runs the kernel */
  ConsanWord barriers;   /* mbarriers */
  ConsanWord roots;      /* allocations */
  ConsanWord units;      /* parts of buffers that are watched */
  ConsanWord groups;     /* groups of copies whose ends are remembered */
} ConsanCounts;

/* Engines of a partition. */
enum ConsanEngine {
  ConsanSelf,    /* none: the threads themselves */
  ConsanCopy,    /* copies to shared memory, in groups */
  ConsanStore,   /* copies from shared memory */
  ConsanProduct, /* matrix products that are waited for in order */
};

/* Words of one of each; the clocks come on top. */
enum {
  ConsanHeaderWords = 8,    /* the counts, and the lock */
  ConsanPartitionWords = 8, /* see ConsanPartitionField */
  ConsanRootWords = 5,      /* see ConsanRootField */
  ConsanUnitWords = 3,      /* see ConsanUnitField; then the reads */
  ConsanReadWords = 2,      /* time, site */
  ConsanBarrierWords = 8,   /* see ConsanBarrierField */
};

enum ConsanPartitionField {
  ConsanIsRunning,
  ConsanWaitsAt, /* number of an mbarrier, from 1 */
  ConsanWaitParity,
  ConsanIssued,                    /* by engine: three words */
  ConsanClosed = ConsanIssued + 3, /* groups of copies */
};

enum ConsanRootField {
  ConsanBase,
  ConsanBytes,
  ConsanUnitBytes,
  ConsanFirst, /* its first unit, or its first mbarrier */
  ConsanIsLive,
};

enum ConsanUnitField {
  ConsanWriter, /* actor, from 1 */
  ConsanWriteTime,
  ConsanWriteSite,
};

enum ConsanBarrierField {
  ConsanIsValid,
  ConsanCount,
  ConsanPending,
  ConsanTransactions,
  ConsanPhase,  /* how many phases have ended */
  ConsanInitBy, /* partition */
  ConsanInitTime,
};

static inline ConsanWord consanActors(const ConsanCounts *n) {
  return 4 * n->partitions + n->barriers;
}
/* Those that read: all but mbarriers. */
static inline ConsanWord consanReaders(const ConsanCounts *n) {
  return 4 * n->partitions;
}
static inline ConsanWord consanPartitionSize(const ConsanCounts *n) {
  return ConsanPartitionWords + n->groups + consanActors(n);
}
static inline ConsanWord consanUnitSize(const ConsanCounts *n) {
  return ConsanUnitWords + ConsanReadWords * consanReaders(n);
}
/* Three clocks, and when each partition used it last. */
static inline ConsanWord consanBarrierSize(const ConsanCounts *n) {
  return ConsanBarrierWords + 3 * consanActors(n) + n->partitions;
}
static inline ConsanWord consanSize(const ConsanCounts *n) {
  return ConsanHeaderWords + n->partitions * consanPartitionSize(n) +
         n->roots * ConsanRootWords + n->units * consanUnitSize(n) +
         n->barriers * consanBarrierSize(n);
}

#endif
