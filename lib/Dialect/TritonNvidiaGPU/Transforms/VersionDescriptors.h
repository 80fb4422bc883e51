//===-- VersionDescriptors.h - Loops with aligned descriptors ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_LIB_TRITONNVIDIAGPU_TRANSFORMS_VERSIONDESCRIPTORS_H
#define TILE_LIB_TRITONNVIDIAGPU_TRANSFORMS_VERSIONDESCRIPTORS_H

#include "tile/Dialect/Triton/IR/Dialect.h"

namespace mlir::triton::nvidia_gpu {

/// Whether copies are wanted of what `users` load and store by a descriptor,
/// and only its base, strides and rows are not known to be as TMA takes them.
using IsWantedFn = llvm::function_ref<bool(MakeTensorDescOp make,
                                           ArrayRef<Operation *> users)>;

/// Gives loops with dots a second version, for descriptors whose base the
/// program has loaded. Which of them runs is decided when the kernel runs: the
/// second one has descriptors that are known to be as TMA takes them.
void versionDescriptors(ModuleOp module, IsWantedFn isWanted);

} // namespace mlir::triton::nvidia_gpu

#endif // TILE_LIB_TRITONNVIDIAGPU_TRANSFORMS_VERSIONDESCRIPTORS_H
