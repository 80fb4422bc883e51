//===-- DirectLoads.h - Copies by loads into LDS ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef AMD_TRITONAMDGPUTOLLVM_DIRECTLOADS_H
#define AMD_TRITONAMDGPUTOLLVM_DIRECTLOADS_H

#include "amd/TritonAMDGPUToLLVM/TargetInfo.h"
#include "tile/Analysis/AxisInfo.h"

namespace mlir::triton::amd {

/// On copies whose instructions waits count: the neighbours that each of them
/// loads. What was known of addresses then still holds when they are lowered,
/// though it may no longer be seen.
inline constexpr llvm::StringLiteral kDirectVectorAttrName =
    "tile.direct_vector";

/// Instructions that load straight into LDS, which every wave executes.
struct DirectLoads {
  /// Neighbours that a lane loads at once.
  unsigned vector;
  unsigned count;
};

/// Those that `copy` is lowered to; nullopt if it is no copy, or may go through
/// registers.
std::optional<DirectLoads>
planDirectLoads(Operation *copy, const ModuleAxisInfoAnalysis &axisInfo,
                const TargetInfo &target);

} // namespace mlir::triton::amd

#endif // AMD_TRITONAMDGPUTOLLVM_DIRECTLOADS_H
