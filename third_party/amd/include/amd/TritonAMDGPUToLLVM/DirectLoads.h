//===-- DirectLoads.h - Copies by loads into LDS ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef AMD_TRITONAMDGPUTOLLVM_DIRECTLOADS_H
#define AMD_TRITONAMDGPUTOLLVM_DIRECTLOADS_H

#include "amd/IR/AttributeNames.h"
#include "amd/TritonAMDGPUToLLVM/TargetInfo.h"
#include "tile/Analysis/AxisInfo.h"

namespace mlir::triton::amd {

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
