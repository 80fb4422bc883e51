//===-- InsertInstructionSchedHints.cpp - Hints for loops -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "amd/IR/Dialect.h"
#include "amd/TritonAMDGPUTransforms/Passes.h"

#include "tile/Dialect/Triton/IR/Dialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::triton::amd {
#define GEN_PASS_DEF_TRITONAMDGPUINSERTINSTRUCTIONSCHEDHINTS
#include "amd/TritonAMDGPUTransforms/Passes.h.inc"
} // namespace mlir::triton::amd

using namespace mlir;
using namespace mlir::triton;

namespace {
struct InsertInstructionSchedHints
    : amd::impl::TritonAMDGPUInsertInstructionSchedHintsBase<
          InsertInstructionSchedHints> {
  using Base::Base;

  void runOnOperation() override {
    std::optional<amdgpu::SchedHint> hint = amdgpu::symbolizeSchedHint(variant);
    if (!hint) {
      emitError(getOperation().getLoc(),
                "expected the variant none, attention or "
                "memory-bound-attention, found ")
          << variant;
      return signalPassFailure();
    }
    // What bounds the other variant is memory, not the order of instructions.
    if (*hint != amdgpu::SchedHint::attention)
      return;
    getOperation().walk([&](scf::ForOp loop) {
      if (llvm::range_size(loop.getBody()->getOps<DotOp>()) < 2)
        return;
      auto b = OpBuilder::atBlockBegin(loop.getBody());
      amdgpu::InstructionSchedHintOp::create(b, loop.getLoc(), *hint);
      ++numHints;
    });
  }
};
} // namespace
