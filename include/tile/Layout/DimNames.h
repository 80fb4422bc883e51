//===-- DimNames.h - Names of layout dimensions -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A LinearLayout stores dimension names as StringRefs and never owns them, so
// every name must live as long as the program. The usual ones are constants;
// names that arrive at run time (from Python, say) go through internDimName.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LAYOUT_DIMNAMES_H
#define TILE_LAYOUT_DIMNAMES_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace mlir::triton {

/// Hardware dimensions: the element of a thread, the thread of a warp, the warp
/// of a block (CTA), the block of a cluster.
inline constexpr llvm::StringLiteral kRegister = "register";
inline constexpr llvm::StringLiteral kLane = "lane";
inline constexpr llvm::StringLiteral kWarp = "warp";
inline constexpr llvm::StringLiteral kBlock = "block";
/// Element offset inside one block's shared memory.
inline constexpr llvm::StringLiteral kOffset = "offset";

/// The name of logical tensor dimension `i`: "dim0", "dim1", ...
llvm::StringRef kDim(unsigned i);

/// {"dim0", ..., "dim<rank-1>"}.
llvm::SmallVector<llvm::StringRef> standardOutDimNames(unsigned rank);

/// Returns an equal name with static storage. Thread-safe.
llvm::StringRef internDimName(llvm::StringRef name);

} // namespace mlir::triton

#endif // TILE_LAYOUT_DIMNAMES_H
