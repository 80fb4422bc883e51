//===-- CheckTarget.cpp - check-target-amd --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "amd/TargetModel.h"
#include "amd/TritonAMDGPUToLLVM/Passes.h"

namespace mlir::triton::amd {
#define GEN_PASS_DEF_CHECKTARGETAMD
#include "amd/TritonAMDGPUToLLVM/Passes.h.inc"
} // namespace mlir::triton::amd

using namespace mlir;
using namespace mlir::triton;

namespace {
struct CheckTarget : amd::impl::CheckTargetAMDBase<CheckTarget> {
  void runOnOperation() override {
    if (failed(amd::TargetModel::get(getOperation())))
      signalPassFailure();
  }
};
} // namespace
