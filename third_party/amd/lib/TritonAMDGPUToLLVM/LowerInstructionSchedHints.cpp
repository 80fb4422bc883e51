//===-- LowerInstructionSchedHints.cpp - Hints to LLVM's scheduler --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "amd/IR/Dialect.h"
#include "amd/TritonAMDGPUToLLVM/Passes.h"

#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"

namespace mlir::triton::amd {
#define GEN_PASS_DEF_LOWERINSTRUCTIONSCHEDHINTS
#include "amd/TritonAMDGPUToLLVM/Passes.h.inc"
} // namespace mlir::triton::amd

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::amdgpu;

namespace {
/// Of llvm.amdgcn.iglp.opt: matrix instructions between exponentials.
constexpr uint32_t kInterleaveExponentials = 2;

struct LowerInstructionSchedHints
    : amd::impl::LowerInstructionSchedHintsBase<LowerInstructionSchedHints> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<InstructionSchedHintOp> hints;
    getOperation().walk(
        [&](InstructionSchedHintOp op) { hints.push_back(op); });
    for (InstructionSchedHintOp op : hints) {
      lower(op);
      op.erase();
    }
  }

private:
  static void lower(InstructionSchedHintOp op) {
    if (op.getVariant() == SchedHint::none)
      return;
    Location loc = op.getLoc();
    OpBuilder b(op);
    ROCDL::SchedBarrier::create(b, loc, /*mask=*/0);
    b.setInsertionPoint(op->getBlock()->getTerminator());
    if (op.getVariant() == SchedHint::attention)
      ROCDL::IglpOpt::create(b, loc, kInterleaveExponentials);
    ROCDL::SchedBarrier::create(b, loc, /*mask=*/0);
  }
};
} // namespace
