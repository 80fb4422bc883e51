//===-- CountAtTheEnd.h - Counters that ptxas knows -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef NVIDIA_TARGET_COUNTATTHEEND_H
#define NVIDIA_TARGET_COUNTATTHEEND_H

namespace llvm {
class Module;
}

namespace mlir::triton::nvidia {

/// Has loops over constants compare what the next iteration counts from, so
/// that ptxas knows how often they run.
void countAtTheEnd(llvm::Module &module);

} // namespace mlir::triton::nvidia

#endif // NVIDIA_TARGET_COUNTATTHEEND_H
