//===-- AccelerateMatmul.cpp - tritonamdgpu-accelerate-matmul -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "amd/TargetModel.h"
#include "amd/TritonAMDGPUTransforms/Passes.h"

#include "tile/Dialect/TritonGPU/Transforms/AccelerateMatmul.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::triton::amd {
#define GEN_PASS_DEF_TRITONAMDGPUACCELERATEMATMUL
#include "amd/TritonAMDGPUTransforms/Passes.h.inc"
} // namespace mlir::triton::amd

using namespace mlir;
using namespace mlir::triton;

namespace {
struct AccelerateMatmul
    : amd::impl::TritonAMDGPUAccelerateMatmulBase<AccelerateMatmul> {
  using Base::Base;

  void runOnOperation() override {
    amd::setAMDTarget(getOperation(), {archGenerationName, gfxArch});
    auto machine = amd::TargetModel::get(getOperation());
    if (failed(machine))
      return signalPassFailure();
    amd::TargetModel::MatrixOptions options;
    options.rows = matrixInstructionSize;
    options.kPack = kPack;
    amd::TargetModel model((*machine)->getFacts(), options);
    auto products = gpu::accelerateMatmuls(getOperation(), model);
    if (failed(products))
      return signalPassFailure();
    numAccelerated += products->numAccelerated;
    numLeft += products->numLeft;
  }
};
} // namespace
