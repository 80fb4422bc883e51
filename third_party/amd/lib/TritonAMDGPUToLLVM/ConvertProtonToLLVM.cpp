//===-- ConvertProtonToLLVM.cpp - Records of the profiler -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "amd/TritonAMDGPUToLLVM/Passes.h"
#include "amd/TritonAMDGPUToLLVM/TargetInfo.h"

#include "tile/Conversion/ProtonToLLVM/LowerRecords.h"

#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"

namespace mlir::triton::amd {
#define GEN_PASS_DEF_CONVERTPROTONAMDGPUTOLLVM
#include "amd/TritonAMDGPUToLLVM/Passes.h.inc"
} // namespace mlir::triton::amd

using namespace mlir;
using namespace mlir::triton;

namespace {
class RecordTarget final : public proton::RecordTarget {
public:
  RecordTarget(const amd::TargetInfo &target, StringRef processor)
      : proton::RecordTarget(target), processor(processor) {}

  // RDNA has no clock of 64 bits that counts cycles.
  Value readCycles(const LLVMBuilder &b) const override {
    return isCDNA() ? read(b, "s_memtime $0\ns_waitcnt lgkmcnt(0)")
                    : readTime(b);
  }
  Value readTime(const LLVMBuilder &b) const override {
    if (isCDNA())
      return read(b, "s_memrealtime $0\ns_waitcnt lgkmcnt(0)");
    bool isGFX12 = processor.starts_with("gfx12");
    return read(b, isGFX12
                       ? "s_sendmsg_rtn_b64 $0, sendmsg(MSG_RTN_GET_REALTIME)\n"
                         "s_wait_kmcnt 0x0"
                       : "s_sendmsg_rtn_b64 $0, sendmsg(MSG_RTN_GET_REALTIME)\n"
                         "s_waitcnt lgkmcnt(0)");
  }
  /// It counts at 100 MHz.
  int64_t getNanoseconds() const override { return 10; }
  void keepInOrder(const LLVMBuilder &b) const override {
    b.create<ROCDL::SchedBarrier>(0);
  }
  unsigned getLocalAddressSpace() const override { return 5; }

private:
  bool isCDNA() const { return processor.starts_with("gfx9"); }

  static Value read(const LLVMBuilder &b, StringRef text) {
    auto op = b.create<LLVM::InlineAsmOp>(
        TypeRange(b.intTy(64)), ValueRange(), text, "=s",
        /*has_side_effects=*/true, /*is_align_stack=*/false,
        LLVM::TailCallKind::None,
        LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT),
        ArrayAttr());
    return op->getResult(0);
  }

  StringRef processor;
};

struct ConvertProtonAMDGPUToLLVM
    : amd::impl::ConvertProtonAMDGPUToLLVMBase<ConvertProtonAMDGPUToLLVM> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto model = amd::TargetModel::get(module);
    if (failed(model))
      return signalPassFailure();
    amd::TargetInfo target(**model);
    proton::RecordOptions options;
    options.granularity = granularity;
    options.samplingStrategy = samplingStrategy;
    llvm::append_range(options.samplingOptions, samplingOptions);
    options.bufferStrategy = bufferStrategy;
    options.bufferType = bufferType;
    options.bufferSize = bufferSize;
    llvm::append_range(options.optimizations, optimizations);
    if (failed(proton::lowerRecords(
            module, RecordTarget(target, (*model)->getFacts().processor),
            options)))
      signalPassFailure();
  }
};
} // namespace
