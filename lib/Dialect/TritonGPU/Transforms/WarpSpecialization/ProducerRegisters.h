//===-- ProducerRegisters.h - What threads that copy need -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_LIB_TRITONGPU_WARPSPECIALIZATION_PRODUCERREGISTERS_H
#define TILE_LIB_TRITONGPU_WARPSPECIALIZATION_PRODUCERREGISTERS_H

#include "Rings.h"

namespace mlir::triton::gpu {

/// How many registers a thread needs that copies what a loop loads, one of
/// `numThreads`.
int countProducerRegisters(const RingLoop &in, int numThreads);

} // namespace mlir::triton::gpu

#endif // TILE_LIB_TRITONGPU_WARPSPECIALIZATION_PRODUCERREGISTERS_H
