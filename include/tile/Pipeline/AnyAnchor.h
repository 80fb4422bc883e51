//===-- AnyAnchor.h - Pipelines printed for any operation -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_PIPELINE_ANYANCHOR_H
#define TILE_PIPELINE_ANYANCHOR_H

#include "mlir/Support/LLVM.h"

namespace mlir {
class PassManager;

namespace triton {

/// A pass manager for any operation that runs on a module is printed as
/// `builtin.module(any(...))`, in reproducers, too. Taken literally, that is
/// for what is in the module, where passes on modules do not run, and nobody
/// says so. Has them run on the module.
LogicalResult runOnModule(PassManager &pm);

} // namespace triton
} // namespace mlir

#endif // TILE_PIPELINE_ANYANCHOR_H
