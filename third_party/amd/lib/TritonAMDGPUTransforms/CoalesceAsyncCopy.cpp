//===-- CoalesceAsyncCopy.cpp - Layouts of copies to LDS ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies that the pipeliner makes have these layouts from the start
// (DirectCopies.cpp). This pass gives them to copies of other origin.
//
//===----------------------------------------------------------------------===//

#include "amd/TargetModel.h"
#include "amd/TritonAMDGPUTransforms/CopyEngines.h"
#include "amd/TritonAMDGPUTransforms/Passes.h"

namespace mlir::triton::amd {
#define GEN_PASS_DEF_TRITONAMDGPUCOALESCEASYNCCOPY
#include "amd/TritonAMDGPUTransforms/Passes.h.inc"
} // namespace mlir::triton::amd

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

namespace {
struct CoalesceAsyncCopy
    : amd::impl::TritonAMDGPUCoalesceAsyncCopyBase<CoalesceAsyncCopy> {
  using Base::Base;

  void runOnOperation() override {
    amd::setAMDTarget(getOperation(), {archGenerationName, gfxArch});
    if (failed(amd::TargetModel::get(getOperation())))
      return signalPassFailure();
    SmallVector<AsyncCopyGlobalToLocalOp> copies;
    getOperation().walk(
        [&](AsyncCopyGlobalToLocalOp copy) { copies.push_back(copy); });
    for (AsyncCopyGlobalToLocalOp copy : copies)
      if (!amd::layOutCopy(copy).empty())
        ++numCoalesced;
  }
};
} // namespace
