//===-- PackBitwise.h - Bitwise operations on packed elements ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef NVIDIA_TARGET_PACKBITWISE_H
#define NVIDIA_TARGET_PACKBITWISE_H

namespace llvm {
class Module;
}

namespace mlir::triton::nvidia {

/// Packs small elements before their bitwise operations instead of after them.
void packBitwise(llvm::Module &module);

} // namespace mlir::triton::nvidia

#endif // NVIDIA_TARGET_PACKBITWISE_H
