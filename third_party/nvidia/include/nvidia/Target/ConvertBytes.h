//===-- ConvertBytes.h - Integers of 8 bits to floats -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef NVIDIA_TARGET_CONVERTBYTES_H
#define NVIDIA_TARGET_CONVERTBYTES_H

namespace llvm {
class Module;
}

namespace mlir::triton::nvidia {

/// Converts integers of 8 bits to floats by instructions that run at full rate.
void convertBytes(llvm::Module &module, bool hasBF16Arithmetic);

} // namespace mlir::triton::nvidia

#endif // NVIDIA_TARGET_CONVERTBYTES_H
