//===-- ShortenLiveRanges.h - Compute where it is used ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef NVIDIA_TARGET_SHORTENLIVERANGES_H
#define NVIDIA_TARGET_SHORTENLIVERANGES_H

namespace llvm {
class Module;
}

namespace mlir::triton::nvidia {

/// Reorders the arithmetic of blocks so that fewer values are alive at once.
void shortenLiveRanges(llvm::Module &module);

} // namespace mlir::triton::nvidia

#endif // NVIDIA_TARGET_SHORTENLIVERANGES_H
