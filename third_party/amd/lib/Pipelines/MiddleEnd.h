//===-- MiddleEnd.h - What AMD GPUs add to the middle -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef AMD_LIB_PIPELINES_MIDDLEEND_H
#define AMD_LIB_PIPELINES_MIDDLEEND_H

#include "amd/Pipelines/Pipelines.h"
#include "amd/TargetTable.h"

#include "tile/MiddleEnd/MiddleEnd.h"

namespace mlir::triton::amd {

class AMDMiddleEnd : public MiddleEnd {
public:
  /// `target` is null where nobody knows the machine; then what only some
  /// machines have is left out. `isExplicit`: the program says its layouts.
  AMDMiddleEnd(const PassAdder &add, const TTGIROptions &options,
               const AMDTarget *target, bool isExplicit = false)
      : MiddleEnd(add, options.numStages, isExplicit), options(options),
        target(target) {}

protected:
  void addMatrixInstructions() override;
  void addLoopPreparation() override;
  void addCopyLowering() override;
  void addEpilogue() override;
  void addAddresses() override;
  void addLast() override;

private:
  const TTGIROptions &options;
  const AMDTarget *target;
};

} // namespace mlir::triton::amd

#endif // AMD_LIB_PIPELINES_MIDDLEEND_H
