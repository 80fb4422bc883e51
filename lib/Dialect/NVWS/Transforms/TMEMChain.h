//===-- TMEMChain.h - Accesses of tensor memory in order --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_LIB_DIALECT_NVWS_TRANSFORMS_TMEMCHAIN_H
#define TILE_LIB_DIALECT_NVWS_TRANSFORMS_TMEMCHAIN_H

#include "tile/Dialect/NVWS/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"

#include <vector>

namespace mlir::triton::nvws {

/// One access of a buffer, or a loop or branch that its token goes through.
struct TMEMStep {
  Operation *op;

  /// An access: its uses of the buffer, and who runs it. Null stands for all
  /// warps, outside of what is divided. An allocation with contents is an
  /// access without uses.
  SmallVector<OpOperand *> uses;
  Attribute owner;

  /// A loop or branch: where the token goes in (that of a loop) and where it
  /// comes out, and the steps of the body or of both branches.
  unsigned operand = 0, result = 0;
  std::vector<std::vector<TMEMStep>> bodies;

  bool isAccess() const { return bodies.empty(); }
  /// How the access is known to be done.
  AsyncOp getKind() const;
  /// Whether nothing remains of what was in the buffer.
  bool overwrites() const;
};
using TMEMSteps = std::vector<TMEMStep>;

/// The blocks whose steps are in `step.bodies`, and the number of the operand
/// at which the end of a block hands the token on.
SmallVector<Block *, 2> getBlocks(const TMEMStep &step);
unsigned getYielded(const TMEMStep &step);

/// Calls `visit` for all accesses, in the order of the program. `inLoop` says
/// whether a loop of the steps is around it.
void walkAccesses(
    const TMEMSteps &steps,
    llvm::function_ref<void(const TMEMStep &access, bool inLoop)> visit,
    bool inLoop = false);

/// All accesses of a buffer, one after the other. They are in the order of its
/// tokens if it has some. Says why if the order is not known.
StringRef findSteps(nvidia_gpu::TMEMAllocOp alloc, TMEMSteps &steps);

} // namespace mlir::triton::nvws

#endif // TILE_LIB_DIALECT_NVWS_TRANSFORMS_TMEMCHAIN_H
