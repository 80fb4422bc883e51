//===-- ShareLoopOffsets.h - One offset for many addresses ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef NVIDIA_TARGET_SHARELOOPOFFSETS_H
#define NVIDIA_TARGET_SHARELOOPOFFSETS_H

namespace llvm {
class Module;
}

namespace mlir::triton::nvidia {

/// Gives addresses of copies that a loop advances by one distance a base each
/// and an offset for all of them.
void shareLoopOffsets(llvm::Module &module);

} // namespace mlir::triton::nvidia

#endif // NVIDIA_TARGET_SHARELOOPOFFSETS_H
