//===-- Occupancy.cpp - Blocks that are resident together -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "nvidia/Occupancy.h"

#include "nvidia/TargetTable.h"

#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir::triton;

/// The register file lies in as many parts, each with warps of its own.
static constexpr int64_t kParts = 4;
static constexpr int64_t kLanes = 32;
/// What the system takes of shared memory for each block. One block may have
/// all the rest.
static constexpr int64_t kReservedBytes = 1024;

int64_t nvidia::BlockLimits::getResidentBlocks() const {
  return std::min({registers, threads, sharedMemory, blocks, tensorMemory});
}

nvidia::BlockLimits nvidia::getBlockLimits(const NVIDIATarget &target,
                                           const BlockNeeds &needs) {
  int64_t ofWarp = kLanes * llvm::alignTo(std::max<int64_t>(1, needs.registers),
                                          target.registerAllocationUnit);
  return {.registers =
              target.registersPerSM / kParts / ofWarp * kParts / needs.warps,
          .threads = target.maxThreadsPerSM / (kLanes * needs.warps),
          .sharedMemory = (target.maxSharedMemory + kReservedBytes) /
                          (needs.sharedBytes + kReservedBytes),
          .blocks = target.maxBlocksPerSM,
          .tensorMemory = nvidia_gpu::kTensorMemoryColumns /
                          std::max<int64_t>(1, needs.tensorMemoryColumns)};
}
