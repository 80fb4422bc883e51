//===-- Turns.h - One order of the accesses that CTAs can see -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One CTA can see what another one does in global memory, through atomics and
// ordered accesses. The simulator runs such accesses in one order, so that a
// launch gives the same results on every host. All other instructions run in
// parallel.
//
// Workers run the clusters: of n workers, each runs every n-th cluster. Their
// number depends on the number of clusters alone. They share the host threads
// that there are. So the order is the same on any host.
//
// A worker has a clock, which counts periods of some instructions. Ordered
// accesses are sorted by period first, and by the number of the worker second.
// Before such an access a worker waits until all workers with lower numbers
// have ended this period, and until all others have begun it. A period is
// short, so that others do not wait long. It is longer while a worker makes
// many ordered accesses, so that the worker does not wait for each of them.
//
// Two accesses that neither the program nor this class orders are a race. Which
// of them comes first is up to the host.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

namespace tile::sim {

class Turns {
public:
  /// Small grids are not worth many.
  static unsigned workersFor(uint64_t clusters) {
    return unsigned(std::clamp<uint64_t>(clusters / 2, 1, 8));
  }

  /// `stop` ends all waiting.
  Turns(unsigned workers, unsigned hostThreads, const std::atomic<bool> &stop);

  unsigned count() const { return unsigned(workers.size()); }
  /// Waits for a host thread.
  void begin(unsigned worker);
  /// The worker has nothing left to do.
  void end(unsigned worker);
  /// The worker has run so many instructions. Those of matrices take the host
  /// longer than others.
  void pass(unsigned worker, uint64_t instructions, uint64_t flops = 0) {
    Worker &w = workers[worker];
    w.used += instructions + flops / 64;
    if (w.used >= (w.isTurn ? std::min(w.lastAccess + afterAccess, longPeriod)
                            : shortPeriod))
      nextPeriod(w);
  }
  /// Waits until the worker may do what is ordered. False if the launch stops.
  bool await(unsigned worker) {
    Worker &w = workers[worker];
    if (!w.isTurn && !take(worker))
      return false;
    w.lastAccess = w.used;
    return true;
  }

private:
  /// In instructions: a period without accesses; what may follow the last
  /// access; the most.
  static constexpr uint64_t shortPeriod = 4096, afterAccess = 512,
                            longPeriod = 16384;

  struct alignas(64) Worker {
    std::atomic<uint64_t> period{0};
    // The worker's own.
    uint64_t used = 0; ///< instructions of this period
    uint64_t lastAccess = 0;
    bool isTurn = false; ///< until the period ends
    // Under the lock.
    bool waits = false, waitsForTurn = false;
    std::condition_variable wake;
  };
  bool isTurnOf(unsigned worker) const;
  bool take(unsigned worker);
  void nextPeriod(Worker &w);
  bool wait(std::unique_lock<std::mutex> &lock, unsigned worker, bool forTurn);
  void wakeReady();

  std::vector<Worker> workers;
  const std::atomic<bool> &stop;
  std::mutex guard;
  unsigned freeThreads;
  std::atomic<unsigned> waiting{0};
};

} // namespace tile::sim
