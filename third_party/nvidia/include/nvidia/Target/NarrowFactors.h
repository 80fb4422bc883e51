//===-- NarrowFactors.h - One instruction for products ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef NVIDIA_TARGET_NARROWFACTORS_H
#define NVIDIA_TARGET_NARROWFACTORS_H

namespace llvm {
class Module;
}

namespace mlir::triton::nvidia {

/// Multiplies factors of 64 bits that fit into 32 by one instruction.
void narrowFactors(llvm::Module &module);

} // namespace mlir::triton::nvidia

#endif // NVIDIA_TARGET_NARROWFACTORS_H
