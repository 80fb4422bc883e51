//===-- AllocateSharedMemory.cpp - Places in shared memory ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "nvidia/Occupancy.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/Passes.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/Patterns.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/TargetOptions.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/TensorMemory.h"

#include "tile/Analysis/AllocateSharedMemory.h"
#include "tile/Analysis/RegisterPressure.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/TargetModel.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/TensorMemoryLayout.h"

#include "llvm/Support/MathExtras.h"

namespace mlir::triton::nvidia {
#define GEN_PASS_DEF_ALLOCATESHAREDMEMORYNV
#include "nvidia/TritonNVIDIAGPUToLLVM/Passes.h.inc"
} // namespace mlir::triton::nvidia

using namespace mlir;
using namespace mlir::triton;
using nvidia::BlockNeeds;
using nvidia::getBlockLimits;

FailureOr<const nvidia::TargetModel *>
nvidia::resolveTarget(ModuleOp module, int computeCapability) {
  if (computeCapability != 0) {
    const NVIDIATarget *target = lookupNVIDIATarget(computeCapability);
    if (!target)
      return emitError(module.getLoc(), "unknown compute capability ")
             << computeCapability;
    module->setAttr(
        triton::gpu::kTargetAttrName,
        StringAttr::get(module.getContext(), target->targetString()));
  }
  FailureOr<const NVIDIATarget *> target = getNVIDIATarget(module);
  if (failed(target))
    return failure();
  if (int ctas = triton::gpu::lookupNumCTAs(module);
      ctas > 1 && !(*target)->hasClusters)
    return emitError(module.getLoc(), "a program of ")
           << ctas << " blocks needs a target with clusters, which "
           << (*target)->targetString() << " lacks";
  return TargetModel::get((*target)->computeCapability);
}

namespace {
struct AllocateSharedMemoryNV
    : nvidia::impl::AllocateSharedMemoryNVBase<AllocateSharedMemoryNV> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(nvidia::resolveTarget(module, computeCapability)))
      return signalPassFailure();
    std::optional<BlockNeeds> needs;
    const NVIDIATarget &target = **getNVIDIATarget(module);
    FailureOr<int64_t> size =
        allocateSharedMemory(module, [&](int64_t sharedBytes) {
          if (!needs)
            needs = estimateNeeds(module);
          needs->sharedBytes = sharedBytes;
          return getBlockLimits(target, *needs).getResidentBlocks();
        });
    if (failed(size))
      return signalPassFailure();
    if (failed(nvidia::reserveTensorMemoryAddress(module, *size)))
      return signalPassFailure();
    sharedBytes += *size;
  }

private:
  /// What is known of a block before its shared memory is. ptxas counts the
  /// registers later. Too few of them make more turns than are needed, and too
  /// many cost a block.
  static BlockNeeds estimateNeeds(ModuleOp module) {
    BlockNeeds needs;
    auto lookup = [&](StringRef name, int64_t otherwise) -> int64_t {
      auto attribute = module->getAttrOfType<IntegerAttr>(name);
      return attribute ? attribute.getInt() : otherwise;
    };
    needs.warps = lookup(triton::gpu::kTotalNumWarpsAttrName,
                         triton::gpu::lookupNumWarps(module));
    needs.tensorMemoryColumns =
        lookup(triton::gpu::kTensorMemorySizeAttrName, 0);
    module.walk([&](FunctionOpInterface function) {
      if (!function.isExternal())
        needs.registers =
            std::max(needs.registers, countLeastRegisters(function));
    });
    needs.registers =
        std::min(needs.registers,
                 lookup(triton::gpu::kMaxNRegAttrName, needs.registers));
    return needs;
  }
};
} // namespace

LogicalResult nvidia::reserveTensorMemoryAddress(ModuleOp module,
                                                 int64_t &size) {
  auto columns = module->getAttrOfType<IntegerAttr>(
      triton::gpu::kTensorMemorySizeAttrName);
  if (!columns || columns.getInt() == 0)
    return success();
  constexpr int64_t kAddressBytes = 4;
  int64_t offset = llvm::alignTo(size, kAddressBytes);
  size = offset + kAddressBytes;
  int64_t limit = triton::gpu::getTargetModel(module).getMaxSharedMemory();
  if (size > limit)
    return emitError(module.getLoc(),
                     "out of shared memory: with the address of tensor "
                     "memory, the kernel needs ")
           << size << " bytes, and a block has at most " << limit;
  Builder builder(module.getContext());
  module->setAttr(nvidia_gpu::kTensorMemoryAddressAttrName,
                  builder.getI32IntegerAttr(offset));
  module->setAttr(triton::gpu::kSharedAttrName,
                  builder.getI32IntegerAttr(size));
  return success();
}
