//===-- CheckTarget.cpp - check-target-nv ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "nvidia/TritonNVIDIAGPUToLLVM/Passes.h"

#include "nvidia/TargetTable.h"

#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace mlir::triton::nvidia {
#define GEN_PASS_DEF_CHECKTARGETNV
#include "nvidia/TritonNVIDIAGPUToLLVM/Passes.h.inc"
} // namespace mlir::triton::nvidia

namespace {

struct CheckTarget : triton::nvidia::impl::CheckTargetNVBase<CheckTarget> {
  void runOnOperation() override {
    if (failed(triton::getNVIDIATarget(getOperation())))
      signalPassFailure();
  }
};

} // namespace
