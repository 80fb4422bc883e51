//===-- TargetOptions.h - The target that a pass runs for -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef NVIDIA_TRITONNVIDIAGPUTOLLVM_TARGETOPTIONS_H
#define NVIDIA_TRITONNVIDIAGPUTOLLVM_TARGETOPTIONS_H

#include "tile/Target/TargetTable.h"

namespace mlir::triton::nvidia {

/// The facts of a compute capability, or of the module's target for 0; emits an
/// error where there is no such target.
FailureOr<const NVIDIATarget *> getTarget(ModuleOp module,
                                          int computeCapability);

} // namespace mlir::triton::nvidia

#endif // NVIDIA_TRITONNVIDIAGPUTOLLVM_TARGETOPTIONS_H
