//===-- AsyncWork.h - What operations start and wait for --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Copies and dots run on behind the operation that starts them, until somebody
// waits.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_ANALYSIS_ASYNCWORK_H
#define TILE_ANALYSIS_ASYNCWORK_H

#include "mlir/IR/Operation.h"
#include <optional>

namespace mlir::triton {

enum class AsyncWork {
  /// A copy to shared memory, in a group that a thread closes and waits for.
  Copy,
  /// A copy to shared memory that arrives at a barrier when it is done.
  BarrierCopy,
  /// A copy from shared memory to global memory.
  Store,
  /// A matrix product that is waited for in order.
  Product,
  /// A matrix product or a copy that tensor cores do by themselves. They arrive
  /// at a barrier behind it if it names one, or if a later operation of the
  /// thread asks for that.
  TensorCore
};

/// What `op` starts and leaves under way.
std::optional<AsyncWork> getAsyncWork(Operation *op);

/// The buffers in shared memory that such work reads or writes meanwhile.
SmallVector<Value> getBuffersOfAsyncWork(Operation *op);

/// Whether the thread arrives at a barrier behind `op` when what tensor cores
/// do for it is done, that of `op` included.
bool arrivesAfterTensorCores(Operation *op);

bool isAsyncToken(Value value);

/// Whether `op` waits for work by count or by tokens. Waits at barriers are
/// another matter.
bool isAsyncWait(Operation *op);

/// Whether `wait` is about such work. Waits that give a token are about copies
/// to shared memory, if they are ours. Others may be about both directions.
bool isAbout(Operation *wait, AsyncWork work);

/// Whether `wait` may say that such work is done. Waits of others may count
/// what we do not (instructions, say). Of these, only such tell that leave
/// nothing.
bool mayWaitFor(Operation *wait, AsyncWork work);

/// How much of such work `wait`, which is about it, leaves under way, whatever
/// its tokens are. Nothing if these alone say what it waits for.
std::optional<unsigned> getCount(Operation *wait, AsyncWork work);

} // namespace mlir::triton

#endif // TILE_ANALYSIS_ASYNCWORK_H
