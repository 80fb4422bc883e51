//===-- WaitAttributes.h - What programs have waited for --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_SUPPORT_WAITATTRIBUTES_H
#define TILE_SUPPORT_WAITATTRIBUTES_H

#include "llvm/ADT/StringRef.h"

namespace mlir::triton::gpu {

/// On a `local_load`: the program has waited for the copies into its buffer.
/// The name has that of another dialect in it, as in Triton.
inline constexpr llvm::StringLiteral kSyncedByWaitAttrName =
    "ttg.amdg.syncedViaAsyncWait";

} // namespace mlir::triton::gpu

#endif // TILE_SUPPORT_WAITATTRIBUTES_H
