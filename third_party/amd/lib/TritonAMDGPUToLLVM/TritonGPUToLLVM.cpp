//===-- TritonGPUToLLVM.cpp - Lowering to the LLVM dialect ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "amd/IR/Dialect.h"
#include "amd/TritonAMDGPUToLLVM/Passes.h"
#include "amd/TritonAMDGPUToLLVM/Patterns.h"

#include "tile/Conversion/DebugToLLVM/Patterns.h"
#include "tile/Conversion/TritonGPUToLLVM/LowerModule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"

namespace mlir::triton::amd {
#define GEN_PASS_DEF_CONVERTTRITONAMDGPUTOLLVM
#include "amd/TritonAMDGPUToLLVM/Passes.h.inc"
} // namespace mlir::triton::amd

using namespace mlir;
using namespace mlir::triton;

namespace {
/// Refuses operations of which only the IR is known.
template <typename... OpTs> LogicalResult refuseMissing(ModuleOp module) {
  WalkResult result = module.walk([](Operation *op) {
    return llvm::TypeSwitch<Operation *, WalkResult>(op)
        .Case<OpTs...>([](auto missing) {
          missing.emitOpError("needs ")
              << missing.getMissing() << ", which have no lowering yet";
          return WalkResult::interrupt();
        })
        .Default(WalkResult::advance());
  });
  return failure(result.wasInterrupted());
}

struct ConvertTritonAMDGPUToLLVM
    : amd::impl::ConvertTritonAMDGPUToLLVMBase<ConvertTritonAMDGPUToLLVM> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    amd::setAMDTarget(module, {arch, gfxArch});
    auto model = amd::TargetModel::get(module);
    if (failed(model))
      return signalPassFailure();
    if (failed(refuseMissing<amdgpu::InitBarrierOp, amdgpu::ArriveBarrierOp,
                             amdgpu::WaitBarrierOp,
                             amdgpu::AsyncCopyMbarrierArriveOp>(module)))
      return signalPassFailure();
    amd::markUniformity(module);
    amd::TargetInfo target(**model);
    auto populate = [&](const LoweringContext &own,
                        ConversionTarget &legality) {
      legality.addLegalDialect<ROCDL::ROCDLDialect>();
      // A pass of its own lowers hints, before or afterwards.
      legality.addLegalOp<amdgpu::InstructionSchedHintOp>();
      amd::populateMathPatterns(own);
      amd::populateFloatConversionPatterns(own, target);
      amd::populateFloatToIntegerPatterns(own);
      amd::populateIntegerToFloatPatterns(own);
      amd::populateFp4ToFpPatterns(own);
      amd::populateDotPatterns(own, target);
      amd::populateScaledDotPatterns(own, target);
      amd::populateAsyncCopyPatterns(own, target);
      amd::populateBufferPatterns(own, target);
      amd::populateConvertLayoutPatterns(own, target);
      amd::populateRegisterPatterns(own);
      amd::populateReorderBytesPatterns(own);
      if ((*model)->getFacts().hasTensorCopies)
        amd::populateTensorCopyPatterns(own, target);
      amd::populateSchedulingPatterns(own, target);
      debug::populateDebugPatterns(own, {"s_nop 0", ";", "v", "v"});
    };
    if (failed(lowerModule(module, target, populate)))
      signalPassFailure();
  }
};
} // namespace
