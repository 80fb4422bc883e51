//===-- NamedPasses.h - Passes by their names -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef NVIDIA_LIB_PIPELINES_NAMEDPASSES_H
#define NVIDIA_LIB_PIPELINES_NAMEDPASSES_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

namespace mlir::triton::nvidia {

/// Appends the passes of a textual pipeline, as `tile-opt` would.
inline void addPasses(OpPassManager &pm, StringRef pipeline) {
  if (failed(parsePassPipeline(pipeline, pm)))
    llvm::report_fatal_error("a pipeline of our own does not parse");
}

/// The same for a single pass without options that a partial build may lack.
inline void addIfBuilt(OpPassManager &pm, StringRef name) {
  if (PassInfo::lookup(name))
    addPasses(pm, name);
}

} // namespace mlir::triton::nvidia

#endif // NVIDIA_LIB_PIPELINES_NAMEDPASSES_H
