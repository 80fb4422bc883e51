//===-- SinkLayoutConversions.cpp - Conversions next to their users -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "amd/TritonAMDGPUTransforms/Passes.h"

#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"
#include "tile/Dialect/TritonGPU/Transforms/FirstUser.h"

#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tritonamdgpu-sink-layout-conversions"

namespace mlir::triton::amd {
#define GEN_PASS_DEF_TRITONAMDGPUSINKLAYOUTCONVERSIONS
#include "amd/TritonAMDGPUTransforms/Passes.h.inc"
} // namespace mlir::triton::amd

using namespace mlir;
using namespace mlir::triton;

namespace {
/// Whether the result takes no more registers than the source, so that it is
/// better to hold the result.
bool isSmaller(gpu::ConvertLayoutOp convert) {
  return gpu::getTotalElemsPerThread(convert.getType()) <
         gpu::getTotalElemsPerThread(convert.getSrc().getType());
}

struct SinkLayoutConversions
    : amd::impl::TritonAMDGPUSinkLayoutConversionsBase<SinkLayoutConversions> {
  void runOnOperation() override {
    SmallVector<gpu::ConvertLayoutOp> converts;
    getOperation()->walk(
        [&](gpu::ConvertLayoutOp convert) { converts.push_back(convert); });
    // Backwards: users find their place before what they use.
    for (gpu::ConvertLayoutOp convert : llvm::reverse(converts)) {
      Operation *user = gpu::findFirstUser(convert, convert->getBlock());
      // In front of other conversions that wait there already.
      while (user && user->getPrevNode() != convert &&
             isa<gpu::ConvertLayoutOp>(user->getPrevNode()))
        user = user->getPrevNode();
      if (!user || user->getPrevNode() == convert || isSmaller(convert))
        continue;
      LDBG() << "sunk " << convert;
      convert->moveBefore(user);
      ++numSunk;
    }
  }
};
} // namespace
