//===-- Register.h - The AMD backend's entry points -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef AMD_REGISTER_H
#define AMD_REGISTER_H

#include "tile/Target/TargetRow.h"

namespace mlir {
class DialectRegistry;

namespace triton::backends::amd {

/// Dialects that this backend's passes make, and their translation to LLVM IR.
void registerDialects(DialectRegistry &registry);

/// Its passes and the pipelines tile-amd-{ttir,ttgir,llir}.
void registerPasses();

/// The table of AMD GPUs.
std::vector<TargetRow> getTargets();

} // namespace triton::backends::amd
} // namespace mlir

#endif // AMD_REGISTER_H
