//===-- ShareBases.h - One base for neighbouring addresses ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef NVIDIA_TARGET_SHAREBASES_H
#define NVIDIA_TARGET_SHAREBASES_H

namespace llvm {
class Module;
}

namespace mlir::triton::nvidia {

/// Gives accesses of a block whose addresses are known distances apart the
/// address of the first of them, and these distances.
void shareBases(llvm::Module &module);

} // namespace mlir::triton::nvidia

#endif // NVIDIA_TARGET_SHAREBASES_H
