//===-- TargetOptions.h - The target that a pass runs for -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef NVIDIA_TRITONNVIDIAGPUTOLLVM_TARGETOPTIONS_H
#define NVIDIA_TRITONNVIDIAGPUTOLLVM_TARGETOPTIONS_H

#include "nvidia/TargetModel.h"

namespace mlir::triton::nvidia {

/// The model of the module's target; emits an error where there is no such
/// target. A compute capability that is not 0 becomes the module's target
/// first.
FailureOr<const TargetModel *> resolveTarget(ModuleOp module,
                                             int computeCapability);

} // namespace mlir::triton::nvidia

#endif // NVIDIA_TRITONNVIDIAGPUTOLLVM_TARGETOPTIONS_H
