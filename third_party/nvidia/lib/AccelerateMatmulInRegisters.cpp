//===-- AccelerateMatmulInRegisters.cpp - Without tensor memory -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "nvidia/TargetModel.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/Passes.h"

#include "tile/Dialect/TritonGPU/Transforms/AccelerateMatmul.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Remarks.h"

#define DEBUG_TYPE "accelerate-matmul-in-registers-nv"

namespace mlir::triton::nvidia {
#define GEN_PASS_DEF_ACCELERATEMATMULINREGISTERSNV
#include "nvidia/TritonNVIDIAGPUToLLVM/Passes.h.inc"
} // namespace mlir::triton::nvidia

using namespace mlir;
using namespace mlir::triton;

namespace {
struct AccelerateMatmulInRegisters
    : nvidia::impl::AccelerateMatmulInRegistersNVBase<
          AccelerateMatmulInRegisters> {
  using Base::Base;

  void runOnOperation() override {
    FailureOr<const NVIDIATarget *> target = getNVIDIATarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    if ((*target)->hasTensorMemory)
      getOperation().walk([](DotOp dot) {
        remark::missed(dot.getLoc(),
                       remark::RemarkOpts::name("product-as-on-ampere")
                           .category(DEBUG_TYPE))
            << "it takes mma.sync: this target's own matrix unit is not used";
      });
    nvidia::TargetModel model(**target, /*sumsInRegisters=*/true);
    auto products = triton::gpu::accelerateMatmuls(getOperation(), model);
    if (failed(products))
      return signalPassFailure();
    numAccelerated += products->numAccelerated;
    numLeft += products->numLeft;
    numDecomposed += products->numDecomposed;
  }
};
} // namespace
