//===-- Register.h - The NVIDIA backend's entry points ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef NVIDIA_REGISTER_H
#define NVIDIA_REGISTER_H

#include "tile/Target/TargetRow.h"

namespace mlir {
class DialectRegistry;

namespace triton::backends::nvidia {

/// Dialects that this backend's passes make, and their translation to LLVM IR.
void registerDialects(DialectRegistry &registry);

/// Its passes and the pipelines tile-nvidia-{ttir,ttgir,llir}.
void registerPasses();

/// The table of GPUs.
std::vector<TargetRow> getTargets();

} // namespace triton::backends::nvidia
} // namespace mlir

#endif // NVIDIA_REGISTER_H
