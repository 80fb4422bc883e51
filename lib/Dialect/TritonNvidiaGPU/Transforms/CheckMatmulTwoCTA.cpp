//===-- CheckMatmulTwoCTA.cpp - Whether pairs of blocks multiply ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/TensorMemoryLayout.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h"

namespace mlir::triton::nvidia_gpu {
#define GEN_PASS_DEF_TRITONNVIDIACHECKMATMULTWOCTA
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::nvidia_gpu

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

namespace {

StringRef describe(bool twoCTAs) {
  return twoCTAs ? "pairs of blocks" : "single blocks";
}

class CheckMatmulTwoCTAPass
    : public nvidia_gpu::impl::TritonNvidiaCheckMatmulTwoCTABase<
          CheckMatmulTwoCTAPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    MMAv5OpInterface first;
    WalkResult result = module.walk([&](MMAv5OpInterface mma) {
      if (!first)
        first = mma;
      if (mma.usesTwoCTAs() == first.usesTwoCTAs())
        return WalkResult::advance();
      InFlightDiagnostic diag = mma.emitError()
                                << "expected a multiplication for "
                                << describe(first.usesTwoCTAs())
                                << " like the first one, found one for "
                                << describe(mma.usesTwoCTAs());
      diag.attachNote(first.getLoc()) << "this is the first one";
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    // Buffers of pairs say so, too, where nothing multiplies.
    module->setAttr(kTwoCTAsAttrName,
                    BoolAttr::get(&getContext(), usesBlockPairs(module)));
  }
};

} // namespace
