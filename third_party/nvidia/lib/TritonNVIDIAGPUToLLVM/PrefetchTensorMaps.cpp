//===-- PrefetchTensorMaps.cpp - Tensor maps before the first copy --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "nvidia/TritonNVIDIAGPUToLLVM/PTXAsm.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/Passes.h"

#include "tile/Dialect/TritonNvidiaGPU/IR/TensorMap.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace mlir::triton::nvidia {
#define GEN_PASS_DEF_PREFETCHTENSORMAPSNV
#include "nvidia/TritonNVIDIAGPUToLLVM/Passes.h.inc"
} // namespace mlir::triton::nvidia

using namespace mlir;
using namespace mlir::triton;

namespace {

struct PrefetchTensorMaps
    : nvidia::impl::PrefetchTensorMapsNVBase<PrefetchTensorMaps> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<LLVM::LLVMFuncOp>())
      numPrefetched += prefetch(function);
  }

  static unsigned prefetch(LLVM::LLVMFuncOp function) {
    SmallVector<Value> maps;
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (!function.isExternal() &&
          function.getArgAttr(i, nvidia_gpu::kTensorMapAttrName))
        maps.push_back(function.getArgument(i));
    if (maps.empty())
      return 0;
    auto builder = OpBuilder::atBlockBegin(&function.getBody().front());
    LLVMBuilder b(function.getLoc(), builder);
    // Each warp does so. If one thread did, ptxas would keep the addresses of
    // maps in registers of threads, and move them to uniform ones at each copy.
    nvidia::PTXAsm text(b);
    for (Value map : maps)
      text << "prefetch.tensormap [" << text.input(map, "l") << "]; ";
    text.emit({}, nvidia::PTXAsm::SideEffects);
    return maps.size();
  }
};

} // namespace
