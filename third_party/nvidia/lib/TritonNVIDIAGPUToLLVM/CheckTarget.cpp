//===-- CheckTarget.cpp - check-target-nv ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "nvidia/TritonNVIDIAGPUToLLVM/Passes.h"

#include "nvidia/TargetTable.h"
#include "tile/Dialect/Triton/IR/Dialect.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Remarks.h"

#define DEBUG_TYPE "check-target-nv"

using namespace mlir;

namespace mlir::triton::nvidia {
#define GEN_PASS_DEF_CHECKTARGETNV
#include "nvidia/TritonNVIDIAGPUToLLVM/Passes.h.inc"
} // namespace mlir::triton::nvidia

namespace {

struct CheckTarget : triton::nvidia::impl::CheckTargetNVBase<CheckTarget> {
  void runOnOperation() override {
    FailureOr<const triton::NVIDIATarget *> target =
        triton::getNVIDIATarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    // What came after Hopper has another matrix unit than that.
    if ((*target)->hasTMA && !(*target)->hasWGMMA &&
        !(*target)->hasTensorMemory)
      getOperation().walk([](triton::DotOp dot) {
        remark::missed(dot.getLoc(),
                       remark::RemarkOpts::name("product-as-on-ampere")
                           .category(DEBUG_TYPE))
            << "it takes mma.sync: this target's own matrix unit is not used";
      });
  }
};

} // namespace
