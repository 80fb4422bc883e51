//===-- AsyncCopies.cpp - Groups of copies and their waits ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Machine.h"

#include "tile/Dialect/TritonGPU/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::reference;

void AsyncCopy::finish() {
  if (isDone)
    return;
  isDone = true;
  // What has changed since the copy began may have been read before or after.
  Tensor again = readAgain();
  Buffer &buffer = *destination->buffer;
  if (buffer.isFreed)
    return;
  destination->forEachByteOffset([&](int64_t n, int64_t at) {
    unsigned size = destination->elementBytes;
    bool isDefined = !values.isUndefined(n) && !again.isUndefined(n) &&
                     values.bits[n] == again.bits[n];
    // Somebody wrote there although the copy was under way.
    if (buffer.bytes.shadow[at] != InFlight) {
      bool wasDefined = true;
      isDefined &= buffer.bytes.read(at, size, wasDefined) == values.bits[n];
      isDefined &= wasDefined;
    }
    buffer.bytes.write(at, size, values.bits[n], isDefined);
  });
}

static Step commitGroup(Thread &thread, Operation *op) {
  thread.groups.push_back(std::move(thread.newCopies));
  thread.newCopies.clear();
  return Step::Next;
}

static Step waitForGroups(Thread &thread, Operation *op) {
  unsigned num = cast<gpu::AsyncWaitOp>(op).getNum();
  while (thread.groups.size() > num) {
    for (auto &copy : thread.groups.front())
      copy->finish();
    thread.groups.pop_front();
  }
  return Step::Next;
}

void mlir::triton::reference::registerAsyncCopies(Handlers &handlers) {
  handlers["ttg.async_commit_group"] = commitGroup;
  handlers["ttg.async_wait"] = waitForGroups;
}
