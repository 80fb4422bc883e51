//===-- ToyDialect.h - A copy engine of no vendor ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_TEST_LIB_COPYENGINE_TOYDIALECT_H
#define TILE_TEST_LIB_COPYENGINE_TOYDIALECT_H

#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/Transforms/CopyStrategy.h"
#include "tile/Dialect/TritonGPU/Transforms/RingBarriers.h"

#include "ToyDialect.h.inc"

#define GET_OP_CLASSES
#include "ToyOps.h.inc"

namespace mlir::triton::toy {

/// Copies that threads wait for by tokens, and such that arrive at flags.
const gpu::CopyStrategy &getCopiesWithTokens();
const gpu::CopyStrategy &getCopiesWithFlags();
/// Copies with tokens, whose rings have a buffer more.
const gpu::CopyStrategy &getCopiesAhead();
/// Loads that threads store to shared memory.
const gpu::CopyStrategy &getStores();

const gpu::RingBarriers &getFlags();

} // namespace mlir::triton::toy

#endif // TILE_TEST_LIB_COPYENGINE_TOYDIALECT_H
