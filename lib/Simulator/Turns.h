//===-- Turns.h - One order of what CTAs on several host threads do -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// CTAs of which one can see what another does in global memory, through atomics
// or ordered accesses, do these things in one order, whatever the host's
// threads do: that of their workers' clocks, which count instructions. What
// lies between runs side by side.
//
// How many workers there are depends on the clusters alone; each has every n-th
// of them. They take the host threads that there are by turns: so the order is
// the same on any host. A worker's clock counts periods. In a period, its
// accesses come before those of the workers behind it in the same period, and
// after those of the workers before it: it waits for these to end the period,
// and for the others to begin it. A period has few instructions, so that others
// do not wait long, but more where a worker has much to do in order, so that it
// does not have to wait each time.
//
// Accesses without order that the program does not order are races; which of
// the two comes first is the host's choice.
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
