//===-- KeepFromUnrolling.h - Loops ptxas must not unroll -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef NVIDIA_TARGET_KEEPFROMUNROLLING_H
#define NVIDIA_TARGET_KEEPFROMUNROLLING_H

namespace llvm {
class Module;
}

namespace mlir::triton::nvidia {

/// Marks the loops that ptxas would unroll with arithmetic that may overflow.
/// They become `.pragma "nounroll"` in PTX.
void keepFromUnrolling(llvm::Module &module);

} // namespace mlir::triton::nvidia

#endif // NVIDIA_TARGET_KEEPFROMUNROLLING_H
