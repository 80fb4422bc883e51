//===-- Occupancy.h - Blocks that are resident together ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef NVIDIA_OCCUPANCY_H
#define NVIDIA_OCCUPANCY_H

#include <cstdint>

namespace mlir::triton {
struct NVIDIATarget;

namespace nvidia {

/// What a block takes of its multiprocessor.
struct BlockNeeds {
  int64_t registers = 0; ///< of each thread
  int64_t warps = 0;
  int64_t sharedBytes = 0;
  int64_t tensorMemoryColumns = 0;
};

/// How many blocks a multiprocessor has each resource for.
struct BlockLimits {
  int64_t registers, threads, sharedMemory, blocks, tensorMemory;

  /// How many blocks are resident.
  int64_t getResidentBlocks() const;
};

/// The limits for blocks that all need the same (CUDA C++ Programming Guide,
/// "Technical Specifications per Compute Capability").
BlockLimits getBlockLimits(const NVIDIATarget &target, const BlockNeeds &needs);

} // namespace nvidia
} // namespace mlir::triton

#endif // NVIDIA_OCCUPANCY_H
