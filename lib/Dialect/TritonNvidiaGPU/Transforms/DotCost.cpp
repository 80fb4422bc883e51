//===-- DotCost.cpp - What passes believe that dots take ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The rates are those of the model of a launch (Rates.h).
//
//===----------------------------------------------------------------------===//

#include "tile/Dialect/TritonNvidiaGPU/Transforms/DotCost.h"

#include "tile/Rules/Rates.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir::triton::nvidia_gpu;
namespace rates = tile::rates;

/// A byte goes through shared memory twice: one side writes it, the other one
/// reads it.
static constexpr int64_t kSharedTimes = 2;

int64_t DotTile::countTensorCycles() const {
  return llvm::divideCeil(rows, rates::productRows) *
         llvm::divideCeil(bytes, rates::productBytes) *
         rates::productCycles(columns);
}

int64_t DotTile::countSharedCycles(int64_t columnsHere) const {
  return (rows + columnsHere) * bytes * kSharedTimes / rates::sharedBytes;
}

int64_t mlir::triton::nvidia_gpu::countLoadCycles(int64_t bytes) {
  return bytes / rates::tensorMemoryBytes;
}

int64_t mlir::triton::nvidia_gpu::countStoreCycles(int64_t bytes) {
  return bytes * kSharedTimes / rates::sharedBytes + bytes / rates::cacheBytes;
}
