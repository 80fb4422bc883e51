//===-- MiddleEnd.h - What NVIDIA GPUs add to the middle --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef NVIDIA_LIB_PIPELINES_MIDDLEEND_H
#define NVIDIA_LIB_PIPELINES_MIDDLEEND_H

#include "tile/MiddleEnd/MiddleEnd.h"

namespace mlir::triton::nvidia {

struct MiddleEndOptions {
  int numStages = 1;
  /// Read the first slices of operands one iteration ahead.
  bool prefetch = false;
  /// Descriptors may become bulk tensor copies.
  bool useTMA = false;
  /// The target has tensor memory, and sums of dots may be there.
  bool useTensorMemory = false;
  /// It has, and they may not.
  bool sumsInRegisters = false;
  /// Loops over tiles may get warps for copies and dots, where nobody asks.
  bool specializeWarps = false;
  /// Sums of loops get warps that correct them.
  bool partitionCorrections = false;
  /// Programs go on with others that have not begun.
  bool clc = false;
  /// Warps can hand buffers to each other, and registers, too.
  bool canSpecializeWarps = false;
  /// The program says its layouts itself.
  bool isExplicit = false;
};

class NVIDIAMiddleEnd : public MiddleEnd {
public:
  NVIDIAMiddleEnd(const PassAdder &add, const MiddleEndOptions &options)
      : MiddleEnd(add, options.numStages, options.isExplicit),
        options(options) {}

protected:
  void addMatrixInstructions() override;
  void addSumsOfLoops() override;
  void addWarpSpecialization() override;
  void addLoopFollowUp() override;
  void addCopyLowering() override;
  void addEpilogue() override;
  void addLast() override;

private:
  const MiddleEndOptions options;
};

} // namespace mlir::triton::nvidia

#endif // NVIDIA_LIB_PIPELINES_MIDDLEEND_H
