//===-- Machine.h - State of a running launch -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A worker (host thread) runs clusters; a cluster holds its CTAs, a CTA its
// warps. A warp is a set of fragments: lanes at one program counter of one
// frame. The fragment that is furthest behind runs, so lanes come together
// again at the earliest point of the block order (see Layout.cpp). A fragment
// that runs for too long while others are ready lets them go first. That gives
// every lane forward progress.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "Checkers/Origin.h"
#include "Program.h"
#include "tile/Simulator/Module.h"

#include <atomic>
#include <bit>
#include <mutex>
#include <unordered_map>

namespace tile::sim {

struct Warp;
struct Cta;
struct Cluster;
struct Group;
struct Launch;
struct Worker;
class DisjointChecker;
class OrderChecker;
class GlobalOrder;
class Schedule;
class Timeline;
class Turns;
struct SharedShadow;
struct TensorMemory;

struct Frame {
  const Code *code = nullptr;
  Frame *parent = nullptr;
  uint32_t returnPc = 0;
  uint32_t refs = 1;
  uint32_t depth = 0;
  uint32_t localBase = 0;
  uint32_t allocated = 0; ///< by alloca, behind the function's own variables
  /// Where this frame's local memory ends.
  uint32_t localEnd() const { return localBase + code->localBytes + allocated; }
  const Inst *call = nullptr;
  std::vector<Chunk> regs;
  std::vector<uint32_t> initialized; ///< by lane (Code::doubtful, KnownBits)
  /// Of the addresses of the access under way, by lane, and what else the
  /// program keeps there (Program::followsOrigins).
  std::vector<Origin> origins;
};

enum class Wait : uint8_t {
  Ready,
  Sync,    ///< for other lanes of the warp, at a warp-synchronous instruction
  Aligned, ///< for other lanes of the warp, at a barrier for whole warps
  Barrier,
  Cluster,
  Own, ///< from here on: what instructions of one front end alone wait for
};

struct Fragment {
  uint32_t pc = 0;
  uint32_t mask = 0;
  Frame *frame = nullptr;
  Wait wait = Wait::Ready;
  uint32_t waitArg = 0; ///< barrier number, or the lanes waited for
  uint32_t stamp = 0;   ///< how often it used up its turn
  // Waiting on an mbarrier: failed tries since the cluster's last event that
  // could help.
  uint64_t spinStamp = 0;
  uint32_t spinCount = 0;
  const Inst *spinAt = nullptr;
  uint32_t spinOffset = 0, spinRank = 0; ///< the mbarrier
  uint8_t spinPhase = 0;                 ///< the phase waited for
};

/// What is known of the registers of a warp that wgmma uses.
struct MatrixState {
  struct Register {
    uint32_t touchedAt = 0; ///< `fences` + 1 when something else used it
    uint32_t resultOf = 0, operandOf = 0; ///< groups that may be in flight
    uint64_t shape = 0;                   ///< of what writes it
  };
  const Frame *frame = nullptr;
  uint32_t group = 1; ///< the one that the next commit closes
  uint32_t waited = 0, fences = 0;
  std::vector<Register> registers; ///< by slot / 64
  Register &at(const Frame *where, uint32_t slot) {
    if (where != frame) {
      registers.clear();
      frame = where;
    }
    if (slot / 64 >= registers.size())
      registers.resize(slot / 64 + 1);
    return registers[slot / 64];
  }
};

/// How some lanes of a warp ended before the others: with which instruction
/// before the exit.
struct Exit {
  const Code *code;
  uint32_t last; ///< an index into Code::insts
  uint32_t lanes;
};

struct Warp {
  Cta *cta = nullptr;
  uint32_t index = 0;  ///< in the CTA
  uint32_t exited = 0; ///< lanes that left, or never were
  uint32_t initial = 0;
  std::vector<Fragment> frags;
  std::vector<std::byte> local;
  std::vector<uint8_t> localWritten; ///< by byte, as `local`
  uint32_t localStride = 0;
  MatrixState matrix;
  uint32_t registers = 0; ///< of a thread, as setmaxnreg counts them
  std::vector<Exit> exits;
  bool done() const { return frags.empty(); }
};

struct NamedBarrier {
  uint32_t expected = 0, arrived = 0;
  uint32_t reduceCount = 0, reduceAnd = 0, reduceOr = 0;
  bool forAll = false; ///< waits for all threads, not for a given number
  const Inst *first = nullptr;
};

struct Cta {
  Cluster *cluster = nullptr;
  std::array<unsigned, 3> id{};
  uint64_t linear = 0;
  uint32_t rank = 0; ///< in the cluster
  std::vector<Warp> warps;
  std::vector<std::byte> shared;
  NamedBarrier barriers[16];
  uint32_t freeRegisters = 0; ///< given back by warps, for one thread of each
  std::shared_ptr<TensorMemory> tensor; ///< null as long as nobody uses it
  uint32_t liveThreads = 0;
  uint32_t liveWarps = 0;
  bool hasExited() const { return liveWarps == 0; }
};

struct Cluster {
  std::vector<std::unique_ptr<Cta>> ctas;
  std::array<unsigned, 3> id{};
  uint32_t barrierArrived = 0, barrierPhase = 0;
  std::vector<std::vector<uint32_t>>
      barrierToken; ///< phase each thread arrived for, by CTA and thread
  uint32_t liveThreads = 0;
  uint64_t clock = 0;
  uint64_t progress = 1; ///< counts events that may release a waiting warp
  uint64_t executed = 0;
  uint64_t stores = 0; ///< a cluster that stores nothing for a whole turn
                       ///< probably waits for another
  uint64_t turn = 0;
  /// clusterlaunchcontrol: somebody has read that no cluster was left.
  bool sawLastAnswer = false;
  std::unique_ptr<OrderChecker> checker;
  std::unique_ptr<Schedule> schedule; ///< null for the plain order
  Cluster();
  ~Cluster();
  Timeline *timeline = nullptr; ///< if this cluster's is wanted
};

/// Coordinates of a CTA in its launch's grid.
std::array<unsigned, 3> ctaId(const Launch &launch, uint64_t cluster,
                              uint32_t rank);
/// An address for people: the allocation that holds it, and the offset.
std::string nameGlobal(const Launch &launch, uint64_t address);
/// An address in shared memory for people: the element, of so many bytes, of a
/// variable.
std::string nameShared(const Program &program, uint64_t at, uint64_t bytes);

struct InstStats {
  uint64_t warps = 0, lanes = 0, requests = 0, sectors = 0, bytes = 0,
           wavefronts = 0, conflicts = 0;
  void add(const InstStats &o) {
    warps += o.warps, lanes += o.lanes, requests += o.requests,
        sectors += o.sectors, bytes += o.bytes;
    wavefronts += o.wavefronts, conflicts += o.conflicts;
  }
};

/// The arguments of a launch as the kernel finds them in memory.
struct ArgumentBuffer {
  std::span<const std::byte> bytes;
  std::vector<Chunk> own; ///< where they were not given so
  /// Further memory that the kernel may read.
  std::vector<Allocation> allocations;
};

/// What one GPU runs.
struct Launch {
  Group *group = nullptr;
  uint32_t gpu = 0; ///< number in the group
  const Program *program = nullptr;
  const LaunchConfig *config = nullptr;
  std::span<const std::byte> args;
  ArgumentBuffer ownArguments; ///< where they were not given so
  const std::map<unsigned, std::string> *files = nullptr;
  uint32_t sharedBytes = 0;
  uint32_t warpsPerCta = 0, threadsPerCta = 0, clusterSize = 1;
  std::atomic<uint64_t> nextCluster{0};
  uint64_t clusterCount = 0;
  /// Checkers number clusters through all launches of the group.
  uint64_t firstCluster = 0;
  bool has(uint64_t cluster) const {
    return cluster - firstCluster < clusterCount;
  }
  std::map<uint64_t, std::string> output;    ///< by CTA
  std::vector<std::vector<std::byte>> heap;  ///< of malloc in the kernel
  std::unique_ptr<DisjointChecker> disjoint; ///< if arguments must not meet
  std::vector<uint32_t> firstSite; ///< of each function of the program
  std::vector<std::unique_ptr<Timeline>> timelines; ///< of the first clusters
  std::vector<std::unique_ptr<SharedShadow>> freeShadows;
  std::mutex shadowLock;
  Launch();
  ~Launch();
  std::unique_ptr<SharedShadow> takeShadow();
  void giveShadow(std::unique_ptr<SharedShadow> shadow);
  Place place(const Code &in, const Inst &inst) const;
  ThreadId threadOf(std::array<unsigned, 3> cta, uint32_t warp,
                    unsigned lane) const;
  /// Where the CTAs of a cooperative launch count each other (grid.sync()).
  alignas(16) std::byte workspace[64] = {};
};

/// Launches that run at once, each on a GPU of its own, and what they share.
/// Most have one.
struct Group {
  std::vector<std::unique_ptr<Launch>> launches; ///< by GPU
  std::vector<Allocation> allocations;           ///< sorted by base
  uint64_t clusterCount = 0;                     ///< of all launches
  std::atomic<bool> stop{false};
  /// Ended from outside: the next cluster says where it is, for all.
  std::atomic<bool> interrupted{false};
  std::atomic<uint64_t> executed{0};
  std::atomic<uint64_t> finished{0}; ///< clusters
  bool parallel = false;
  std::unique_ptr<Turns> turns; ///< if clusters see each other's order
  std::mutex atomics, outputLock;
  /// Excludes other host threads from atomics, where they may come at once.
  std::unique_lock<std::mutex> lockAtomics() {
    return parallel && !turns ? std::unique_lock(atomics)
                              : std::unique_lock<std::mutex>();
  }
  std::unique_ptr<GlobalOrder> order; ///< if accesses are checked

  Group();
  ~Group();
  /// CTAs may wait for each other, of one launch or of several.
  bool synchronizes = false;
  Launch &launchOf(uint64_t cluster) const;
};

/// One host thread's share of a launch: counters and findings, merged at the
/// end in a fixed order.
struct Worker {
  unsigned index = 0;       ///< of the thread
  uint64_t nextCluster = 0; ///< where workers have clusters of their own
  std::vector<std::vector<InstStats>> stats; ///< by code and instruction
  Counters counters;
  std::vector<bool> undefinedLoads; ///< those that left lanes undefined
  std::vector<std::pair<uint64_t, Finding>> findings; ///< with the CTA's number
  std::vector<std::unique_ptr<Frame>> frames;         ///< all that were made
  std::vector<Frame *> freeFrames;
};

/// Everything a handler needs, for the fragment that is running.
struct Ctx {
  const std::byte *base[2] = {nullptr, nullptr}; ///< registers, constants
  std::byte *regs = nullptr;
  uint32_t pc = 0;
  uint32_t active = 0;
  /// The lanes of the last mask that `countLanes` was asked for.
  uint32_t countedMask = 0, countedLanes = 0;
  const Code *code = nullptr;
  Frame *frame = nullptr;
  Warp *warp = nullptr;
  Cta *cta = nullptr;
  Cluster *cluster = nullptr;
  Launch *launch = nullptr;
  Worker *worker = nullptr;
  InstStats *stats = nullptr;
  OrderChecker *checker = nullptr;
  Timeline *timeline = nullptr;
  uint32_t current = 0;  ///< index of the running fragment
  unsigned laneBase = 0; ///< the first of the lanes that access memory together
  unsigned checks = 0;
  bool counting = true;
  // The allocation of the last global access.
  uint64_t cachedLow = 1, cachedHigh = 0;
  bool cachedWritable = false;
  /// What a checked store is about to write: 32 bytes for each lane, or null.
  const std::byte *storeData = nullptr;

  template <class T> const T *src(uint32_t slot) const {
    return reinterpret_cast<const T *>(base[slot >> 31] + (slot & ~ConstBit));
  }
  template <class T> T *dst(uint32_t slot) const {
    return reinterpret_cast<T *>(regs + slot);
  }
  uint32_t pred(uint32_t slot) const { return *src<uint32_t>(slot); }
  void setPred(uint32_t slot, uint32_t bits, uint32_t mask) const {
    uint32_t *p = dst<uint32_t>(slot);
    *p = (*p & ~mask) | (bits & mask);
  }
  InstStats &stat(const Inst &inst) const {
    return stats[&inst - code->insts.data()];
  }

  /// Records a finding and asks the launch to stop.
  Step fail(const Inst &inst, unsigned lane, const char *kind,
            std::string message);
  /// Records a finding; the kernel goes on. Repeated findings of one
  /// instruction are kept once.
  void note(const Inst &inst, unsigned lane, const char *kind,
            std::string message, const Inst *other = nullptr,
            const Code *otherCode = nullptr,
            const ThreadId *otherThread = nullptr,
            const Launch *otherLaunch = nullptr);
  Place place(const Code &in, const Inst &inst) const {
    return launch->place(in, inst);
  }
  ThreadId thread(unsigned lane) const;
  ThreadId threadOf(const Cta &in, uint32_t warp, unsigned lane) const {
    return launch->threadOf(in.id, warp, lane);
  }

  /// True once all live lanes of `need` are in the running fragment. Else the
  /// fragment blocks, and the handler must return Block (or Jump if `retry` was
  /// set because lanes have joined).
  bool gather(uint32_t need, bool &retry, Wait kind = Wait::Sync);
  /// Counting takes long on a host that this is not compiled for, and the same
  /// lanes take part in one instruction after the other.
  uint32_t countLanes(uint32_t mask) {
    if (mask != countedMask) {
      countedMask = mask;
      countedLanes = uint32_t(std::popcount(mask));
    }
    return countedLanes;
  }
  /// Switches the context to a fragment, and saves the running one.
  void loadFragment(uint32_t index);
  void saveFragment();
  void setFrame(Frame *frame);
  Frame *newFrame(const Code *code, Frame *parent);
  /// Makes the local memory of each lane at least so large.
  void reserveLocal(uint32_t bytes);
  /// Bytes of a lane's local memory hold values.
  void markLocal(unsigned lane, uint32_t offset, uint32_t bytes);
  void release(Frame *frame);
};

unsigned firstLane(uint32_t mask);
/// The lanes that a warp starts with, as fragments and checkers count them.
uint32_t initialLanes(const Launch &launch, uint32_t warp);

/// Runs one warp until it blocks, ends, yields or used `quota` instructions.
/// Returns false on an error.
bool runWarp(Ctx &ctx, Warp &warp, uint64_t quota, uint64_t &used);
/// Lanes leave: wakes whoever waits for them.
void exitLanes(Ctx &ctx, const Inst &inst, uint32_t mask);
/// Lanes leave at an exit, for whom a barrier may wait (SkippedBarriers.cpp).
void rememberExit(Ctx &ctx, const Inst &inst, uint32_t mask);
/// The lanes that a warp has left are at a barrier for whole warps: were the
/// others meant to be?
void checkSkippedBarrier(Ctx &ctx, const Inst &inst, uint32_t mask);
/// An instruction touches registers that some wgmma of the function uses
/// (Wgmma.cpp).
void touchMatrixRegisters(Ctx &ctx, const Inst &inst, uint32_t mask);
/// Barrier bookkeeping when threads leave (Barrier.cpp).
void checkBarrierRelease(Ctx &ctx, Cta &cta, unsigned barrier);
/// The running fragment arrives at a barrier, and waits for the others unless
/// it `leaves`.
Step arriveAtBarrier(Ctx &ctx, const Inst &inst, uint32_t mask, unsigned number,
                     uint32_t arriving, bool leaves);
void checkClusterRelease(Cluster &cluster);
/// What the running instruction does may be seen by other clusters, or shows
/// what they did: waits until it comes next in the order of the launch. False
/// if the launch ends.
bool awaitTurn(const Ctx &ctx);
/// Sets up a CTA's warps and registers.
void startCta(Ctx &ctx, Cta &cta);
bool runCluster(Ctx &ctx, Cluster &cluster, uint64_t quota, bool &finished);
/// Says where a cluster is if the launch was ended from outside, and if no
/// other one has said so.
void reportInterruption(Ctx &ctx, Cluster &cluster);
bool isOverBudget(const Launch &launch, uint64_t more);
std::string budgetMessage(const Launch &launch);

} // namespace tile::sim
