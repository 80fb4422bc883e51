//===-- DotCost.cpp - What passes believe that dots take ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The rates are those of the model of a launch (CostModel.cpp of the
// simulator). The tensor core multiplies 128 rows, whatever the element type,
// by a column and 32 bytes of K in half a cycle. Fewer rows take as long.
//
//===----------------------------------------------------------------------===//

#include "tile/Dialect/TritonNvidiaGPU/Transforms/DotCost.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir::triton::nvidia_gpu;

/// What an instruction multiplies along K, of each row.
static constexpr int64_t kStepBytes = 32;
/// Rows that the tensor core multiplies at once.
static constexpr int64_t kRowsAtOnce = 128;
/// What the parts move in a cycle.
static constexpr int64_t kSharedBytes = 128, kTensorBytes = 512,
                         kGlobalBytes = 64;
/// A byte goes through shared memory twice: one side writes it, the other one
/// reads it.
static constexpr int64_t kSharedTimes = 2;

int64_t DotTile::countTensorCycles() const {
  return llvm::divideCeil(rows, kRowsAtOnce) * columns * bytes /
         (2 * kStepBytes);
}

int64_t DotTile::countSharedCycles(int64_t columnsHere) const {
  return (rows + columnsHere) * bytes * kSharedTimes / kSharedBytes;
}

int64_t mlir::triton::nvidia_gpu::countLoadCycles(int64_t bytes) {
  return bytes / kTensorBytes;
}

int64_t mlir::triton::nvidia_gpu::countStoreCycles(int64_t bytes) {
  return bytes * kSharedTimes / kSharedBytes + bytes / kGlobalBytes;
}
