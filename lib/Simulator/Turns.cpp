//===-- Turns.cpp - One order of the accesses that CTAs can see -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Turns.h"

#include <chrono>

using namespace tile::sim;

Turns::Turns(unsigned count, unsigned hostThreads,
             const std::atomic<bool> &stop)
    : workers(count), stop(stop), freeThreads(hostThreads) {}

/// Whether the worker may make an ordered access now. While this is true, it is
/// false for all other workers, until this one ends its period.
bool Turns::isTurnOf(unsigned worker) const {
  uint64_t now = workers[worker].period;
  for (unsigned i = 0; i < workers.size(); ++i)
    if (workers[i].period < now + (i < worker))
      return false;
  return true;
}

/// Gives free host threads to workers that can go on, those that are furthest
/// behind first.
void Turns::wakeReady() {
  while (freeThreads) {
    Worker *first = nullptr;
    for (unsigned i = 0; i < workers.size(); ++i) {
      Worker &w = workers[i];
      if (w.waits && (!first || w.period < first->period) &&
          (!w.waitsForTurn || isTurnOf(i)))
        first = &w;
    }
    if (!first)
      return;
    first->waits = false;
    --freeThreads;
    --waiting;
    first->wake.notify_one();
  }
}

bool Turns::wait(std::unique_lock<std::mutex> &lock, unsigned worker,
                 bool forTurn) {
  Worker &w = workers[worker];
  w.waits = true;
  w.waitsForTurn = forTurn;
  // Whoever ends a period from now on sees this.
  ++waiting;
  wakeReady();
  while (w.waits && !stop)
    w.wake.wait_for(lock, std::chrono::milliseconds(50));
  return !stop;
}

void Turns::begin(unsigned worker) {
  std::unique_lock lock(guard);
  wait(lock, worker, /*forTurn=*/false);
}

void Turns::end(unsigned worker) {
  std::lock_guard lock(guard);
  workers[worker].period = ~uint64_t(0) >> 1;
  ++freeThreads;
  wakeReady();
}

bool Turns::take(unsigned worker) {
  Worker &w = workers[worker];
  if (!isTurnOf(worker)) {
    std::unique_lock lock(guard);
    ++freeThreads;
    if (!wait(lock, worker, /*forTurn=*/true))
      return false;
  }
  w.isTurn = true;
  return true;
}

void Turns::nextPeriod(Worker &w) {
  w.isTurn = false;
  w.period += std::max<uint64_t>(1, w.used / shortPeriod);
  w.used = w.used < shortPeriod ? 0 : w.used % shortPeriod;
  if (!waiting)
    return;
  std::lock_guard lock(guard);
  wakeReady();
}
