//===-- RingPositions.h - Which buffer of a ring is used when ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_LIB_TRITONNVIDIAGPU_RINGPOSITIONS_H
#define TILE_LIB_TRITONNVIDIAGPU_RINGPOSITIONS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::triton::nvidia_gpu {

/// The number of buffers of the ring that `view` shows one of; 0 if there is no
/// such ring.
int64_t getRingSize(Value view);

/// `read` and `written` show a buffer of one ring each, and both go on by one
/// buffer in each iteration of `loop`. After how many iterations is the buffer
/// that an iteration reads written? Nothing where that is not known.
std::optional<int64_t> getIterationsUntilOverwritten(Value read, Value written,
                                                     scf::ForOp loop);

} // namespace mlir::triton::nvidia_gpu

#endif // TILE_LIB_TRITONNVIDIAGPU_RINGPOSITIONS_H
