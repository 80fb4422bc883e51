//===-- ConvertProtonToLLVM.cpp - Records of the profiler -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "nvidia/TritonNVIDIAGPUToLLVM/Passes.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/TargetInfo.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/TargetOptions.h"

#include "tile/Conversion/ProtonToLLVM/LowerRecords.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace mlir::triton::nvidia {
#define GEN_PASS_DEF_CONVERTPROTONNVIDIAGPUTOLLVM
#include "nvidia/TritonNVIDIAGPUToLLVM/Passes.h.inc"
} // namespace mlir::triton::nvidia

using namespace mlir;
using namespace mlir::triton;

namespace {
class RecordTarget final : public proton::RecordTarget {
public:
  using proton::RecordTarget::RecordTarget;

  Value readCycles(const LLVMBuilder &b) const override {
    return read(b, "mov.u64 $0, %clock64;");
  }
  Value readTime(const LLVMBuilder &b) const override {
    return read(b, "mov.u64 $0, %globaltimer;");
  }
  int64_t getNanoseconds() const override { return 1; }
  Value readProcessor(const LLVMBuilder &b) const override {
    return emit(b, b.intTy(32), "mov.u32 $0, %smid;", "=r")->getResult(0);
  }
  void keepInOrder(const LLVMBuilder &b) const override {
    emit(b, TypeRange(), "", "~{memory}");
  }
  unsigned getLocalAddressSpace() const override { return 0; }

private:
  static Value read(const LLVMBuilder &b, StringRef text) {
    return emit(b, b.intTy(64), text, "=l")->getResult(0);
  }
  static LLVM::InlineAsmOp emit(const LLVMBuilder &b, TypeRange results,
                                StringRef text, StringRef constraints) {
    return b.create<LLVM::InlineAsmOp>(
        results, ValueRange(), text, constraints, /*has_side_effects=*/true,
        /*is_align_stack=*/false, LLVM::TailCallKind::None,
        LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT),
        ArrayAttr());
  }
};

struct ConvertProtonNVIDIAGPUToLLVM
    : nvidia::impl::ConvertProtonNVIDIAGPUToLLVMBase<
          ConvertProtonNVIDIAGPUToLLVM> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto model = nvidia::resolveTarget(module, 0);
    if (failed(model))
      return signalPassFailure();
    nvidia::TargetInfo target(**model);
    proton::RecordOptions options;
    options.granularity = granularity;
    options.samplingStrategy = samplingStrategy;
    llvm::append_range(options.samplingOptions, samplingOptions);
    options.bufferStrategy = bufferStrategy;
    options.bufferType = bufferType;
    options.bufferSize = bufferSize;
    llvm::append_range(options.optimizations, optimizations);
    if (failed(proton::lowerRecords(module, RecordTarget(target), options)))
      signalPassFailure();
  }
};
} // namespace
