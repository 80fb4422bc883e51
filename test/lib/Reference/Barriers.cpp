//===-- Barriers.cpp - mbarriers, and what orders alone -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The blocks of a cluster do the same here, as one: a barrier is that of any of
// them.
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/ClusterBarriers.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;
using namespace mlir::triton::reference;

static std::pair<Buffer *, int64_t> getKey(Thread &thread, Value value) {
  auto view = thread.object<View>(value);
  return {view->buffer.get(), view->offset};
}

Machine::Barrier *Machine::findBarrier(Thread &thread, Operation *op,
                                       Value value) {
  auto found = barriers.find(getKey(thread, value));
  if (found != barriers.end())
    return &found->second;
  thread.fault(op, "a barrier that nobody has initialised");
  return nullptr;
}

void Machine::Barrier::arrive(int64_t arrivals, int64_t newBytes) {
  pending -= arrivals;
  bytes += newBytes;
  if (pending != 0 || bytes != 0)
    return;
  pending = count;
  ++phase;
}

bool Machine::Barrier::isComplete(unsigned parity) {
  // As late as it may: when somebody waits for it.
  while ((phase & 1) == parity && !waiting.empty()) {
    Arrival next = std::move(waiting.front());
    waiting.pop_front();
    for (auto &copy : next.copies)
      copy->finish();
    arrive(next.arrivals, -next.bytes);
  }
  return (phase & 1) != parity;
}

static Step initialize(Thread &thread, Operation *op) {
  auto init = cast<InitBarrierOp>(op);
  int64_t count = init.getCount();
  auto view = thread.object<View>(init.getAlloc());
  Machine::Barrier barrier;
  barrier.buffer = view->buffer;
  barrier.count = barrier.pending = count;
  thread.machine.barriers[getKey(thread, init.getAlloc())] = barrier;
  return Step::Next;
}

static Step invalidate(Thread &thread, Operation *op) {
  Value value = cast<InvalBarrierOp>(op).getAlloc();
  if (!thread.machine.findBarrier(thread, op, value))
    return Step::Stop;
  thread.machine.barriers.erase(getKey(thread, value));
  return Step::Next;
}

/// Calls `use(barrier)` if the predicate allows it.
template <typename F>
static Step useBarrier(Thread &thread, Operation *op, Value value, Value pred,
                       F use) {
  std::optional<bool> isOn = thread.predicate(pred);
  if (!isOn)
    return thread.fault(op, "an undefined predicate");
  if (!*isOn)
    return Step::Next;
  Machine::Barrier *barrier = thread.machine.findBarrier(thread, op, value);
  if (!barrier)
    return Step::Stop;
  return use(*barrier);
}

static Step arriveAt(Thread &thread, Operation *op, Machine::Barrier &barrier,
                     int64_t arrivals, int64_t bytes) {
  if (arrivals > barrier.pending)
    return thread.fault(op, "more arrivals than the barrier counts");
  barrier.arrive(arrivals, bytes);
  return Step::Next;
}

static Step expect(Thread &thread, Operation *op) {
  auto expect = cast<BarrierExpectOp>(op);
  return useBarrier(thread, op, expect.getAlloc(), expect.getPred(),
                    [&](Machine::Barrier &barrier) {
                      return arriveAt(thread, op, barrier, 1, expect.getSize());
                    });
}

static Step arrive(Thread &thread, Operation *op) {
  auto arrival = cast<ArriveBarrierOp>(op);
  int64_t count = arrival.getCount();
  if (op->hasAttr(kAllBlocksAttrName))
    count *= gpu::lookupNumCTAs(op);
  return useBarrier(thread, op, arrival.getAlloc(), arrival.getPred(),
                    [&](Machine::Barrier &barrier) {
                      return arriveAt(thread, op, barrier, count, 0);
                    });
}

static Step arriveAfterCopies(Thread &thread, Operation *op) {
  auto arrival = cast<AsyncCopyMbarrierArriveOp>(op);
  Machine::Barrier *barrier =
      thread.machine.findBarrier(thread, op, arrival.getBarrier());
  if (!barrier)
    return Step::Stop;
  int64_t threads =
      int64_t(gpu::lookupNumWarps(op)) * gpu::lookupThreadsPerWarp(op);
  if (!arrival.getNoIncrement())
    barrier->pending += threads;
  // After all that the threads have started before.
  Machine::Barrier::Arrival late{{}, 0, threads};
  for (auto &group : thread.groups)
    llvm::append_range(late.copies, group);
  // Those that later arrivals wait for, too.
  llvm::erase_if(thread.newCopies, [](auto &copy) { return copy->isDone; });
  llvm::append_range(late.copies, thread.newCopies);
  barrier->waiting.push_back(std::move(late));
  return Step::Next;
}

static Step wait(Thread &thread, Operation *op) {
  auto wait = cast<WaitBarrierOp>(op);
  std::optional<int64_t> parity = thread.integer(wait.getPhase());
  if (!parity)
    return thread.fault(op, "an undefined phase");
  return useBarrier(thread, op, wait.getAlloc(), wait.getPred(),
                    [&](Machine::Barrier &barrier) {
                      return barrier.isComplete(*parity & 1) ? Step::Next
                                                             : Step::Wait;
                    });
}

void mlir::triton::reference::registerBarriers(Handlers &handlers) {
  handlers["ttnvgpu.init_barrier"] = initialize;
  handlers["ttnvgpu.inval_barrier"] = invalidate;
  handlers["ttnvgpu.barrier_expect"] = expect;
  handlers["ttnvgpu.arrive_barrier"] = arrive;
  handlers["ttnvgpu.async_copy_mbarrier_arrive"] = arriveAfterCopies;
  handlers["ttnvgpu.wait_barrier"] = wait;
  for (StringRef name :
       {"ttg.barrier", "gpu.barrier", "ttnvgpu.fence_async_shared",
        "ttnvgpu.fence_async_global",
        "ttnvgpu.fence_mbarrier_init_release_cluster", "ttnvgpu.cluster_arrive",
        "ttnvgpu.cluster_wait", "ttnvgpu.cluster_barrier", "amdg.cond_barrier",
        "amdg.instruction_sched_hint", "rocdl.s.setprio", "rocdl.sched.barrier",
        "rocdl.s.barrier"})
    handlers[name] = doNothing;
}
