//===-- ChainedDots.h - What loops of dots gain by copy engines -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// In a loop of chained dots, as in attention, a dot multiplies what threads
// compute from another one. The tensor core waits for the threads meanwhile.
// Threads that copy nothing have more time to compute. Somebody else can take
// turns: another program on the same multiprocessor, or another group of warps.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_DIALECT_TRITON_TRANSFORMS_CHAINEDDOTS_H
#define TILE_LIB_DIALECT_TRITON_TRANSFORMS_CHAINEDDOTS_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tile/Dialect/Triton/IR/Dialect.h"

namespace mlir::triton {

class ChainedDots {
public:
  /// Each program has `numWarps` warps.
  ChainedDots(scf::ForOp loop, int64_t numWarps);

  /// Whether a dot of the loop multiplies what comes from another one.
  explicit operator bool() const { return isChain; }

  /// Why nothing was measured of such loops; empty if it was.
  std::string findObstacle() const;
  /// Why warps of their own would not pay for its copies; empty if they do.
  /// A multiprocessor has so many `registers`.
  std::string findObstacleOfWarps(int64_t registers) const;

private:
  int64_t countResultRegisters() const;

  SmallVector<DotOp> dots;
  int64_t numWarps;
  bool isChain;
};

} // namespace mlir::triton

#endif // TILE_LIB_DIALECT_TRITON_TRANSFORMS_CHAINEDDOTS_H
