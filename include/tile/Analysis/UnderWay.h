//===-- UnderWay.h - What runs on behind operations -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Copies and dots run on behind the operation that starts them, until
// somebody waits. A wait says what it waits for in one of two ways. It takes
// the tokens of what must be done: then these decide. Or it counts how many of
// the last ones it leaves under way: then the count decides, on the path where
// the fewest have been started since.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_ANALYSIS_UNDERWAY_H
#define TILE_ANALYSIS_UNDERWAY_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include <optional>

namespace mlir::triton {

enum class AsyncWork {
  /// A copy to shared memory, in a group that a thread closes and waits for.
  /// (Waits at mbarriers are another matter.)
  Copy,
  /// A copy from shared memory to global memory.
  Store,
  /// A matrix product that is waited for in order.
  Product
};

/// What `op` starts and leaves under way.
std::optional<AsyncWork> getAsyncWork(Operation *op);

/// The buffers in shared memory that such work reads or writes meanwhile.
SmallVector<Value> getBuffersOfAsyncWork(Operation *op);

struct UnderWayVisitor {
  /// `op` is executed while the work may be under way. So is the wait at its
  /// end.
  function_ref<void(Operation *op)> visit;
  /// `wait` takes a token of the work, behind which `numBehind` others of the
  /// kind have been started on the way here.
  function_ref<void(Operation *wait, unsigned numBehind)> visitTokenWait;
};

/// Follows what `start` has started along all paths of its function, through
/// blocks and through regions.
void followUnderWay(Operation *start, const UnderWayVisitor &visitor);

/// The operations that tokens may stand for.
class TokenOrigins {
public:
  explicit TokenOrigins(Operation *function);

  struct Origins {
    llvm::SmallSetVector<Operation *, 2> starts;
    /// Whether the token may stand for something else, too.
    bool isUnknown = false;
    /// Whether it may be that of a wait that takes none, but counts.
    bool isCounted = false;
  };
  const Origins &get(Value token) const;

private:
  llvm::DenseMap<Value, Origins> originsOf;
  Origins unknown{{}, /*isUnknown=*/true, /*isCounted=*/false};
};

/// How much work of its kind `wait` may leave under way, so that everything
/// that its tokens stand for is done. This is the fewest that have been started
/// behind that work, on any path. Nullopt where the wait takes no tokens. Zero
/// where a token cannot be traced.
std::optional<unsigned> getMaxPendings(Operation *wait,
                                       const TokenOrigins &origins);

/// Verifies that waits take tokens of the kind of work that they wait for.
LogicalResult verifyTokensOfWaits(Operation *function,
                                  const TokenOrigins &origins);

} // namespace mlir::triton

#endif // TILE_ANALYSIS_UNDERWAY_H
