//===-- TokenOrigins.h - What tokens may stand for --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_ANALYSIS_TOKENORIGINS_H
#define TILE_ANALYSIS_TOKENORIGINS_H

#include "tile/Analysis/Alias.h"

#include <optional>

namespace mlir::triton {

/// The operations that the tokens of a function may stand for.
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

  /// How much work of its kind `wait` may leave under way, so that everything
  /// that its tokens stand for is done. This is the fewest that have been
  /// started behind that work, on any path. Nullopt where the wait takes no
  /// tokens. Zero where a token cannot be traced.
  std::optional<unsigned> getMaxPendings(Operation *wait) const;

  /// Verifies that waits take tokens of the kind of work that they wait for.
  LogicalResult verifyWaits(Operation *function) const;

private:
  SharedMemoryAliasAnalysis aliases;
  llvm::DenseMap<Value, Origins> originsOf;
  Origins unknown{{}, /*isUnknown=*/true, /*isCounted=*/false};
};

} // namespace mlir::triton

#endif // TILE_ANALYSIS_TOKENORIGINS_H
