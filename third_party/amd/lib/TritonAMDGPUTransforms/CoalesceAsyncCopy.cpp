//===-- CoalesceAsyncCopy.cpp - Layouts of copies to LDS ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "amd/TargetModel.h"
#include "amd/TritonAMDGPUTransforms/Passes.h"

#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"

#include "llvm/Support/DebugLog.h"
#include "llvm/Support/MathExtras.h"

#define DEBUG_TYPE "tritonamdgpu-coalesce-async-copy"

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
    auto machine = amd::TargetModel::get(getOperation());
    if (failed(machine))
      return signalPassFailure();
    const amd::AMDTarget &facts = (*machine)->getFacts();
    int bytes = facts.directLoadBytes;
    if (!bytes || facts.hasAsyncLDSLoads)
      return;
    SmallVector<AsyncCopyGlobalToLocalOp> copies;
    getOperation().walk(
        [&](AsyncCopyGlobalToLocalOp copy) { copies.push_back(copy); });
    for (AsyncCopyGlobalToLocalOp copy : copies)
      if (std::optional<LinearLayout> layout = getLayout(copy, bytes)) {
        LDBG() << copy << " gets " << layout->toString();
        setLayout(copy, LinearEncodingAttr::get(&getContext(), *layout));
        ++numCoalesced;
      }
  }

private:
  /// Elements in the order of their offsets in the buffer: to a lane, as many
  /// as `bytes` hold, to the lanes, to the waves, and the rest to a lane again.
  static std::optional<LinearLayout> getLayout(AsyncCopyGlobalToLocalOp copy,
                                               unsigned bytes) {
    MemDescType type = copy.getResult().getType();
    unsigned bits = type.getElementType().getIntOrFloatBitWidth();
    if (isa<PaddedSharedEncodingAttr>(type.getEncoding()) || bits < 8)
      return std::nullopt;
    LinearLayout memory = toLinearLayout(type);
    unsigned vector = llvm::Log2_32(8 * bytes / bits),
             lanes = llvm::Log2_32(lookupThreadsPerWarp(copy)),
             warps = llvm::Log2_32(lookupNumWarps(copy));
    unsigned all = memory.getInDimSizeLog2(kOffset);
    if (8 * bytes < bits || all < vector + lanes + warps)
      return std::nullopt;
    LinearLayout::DimBases offsets;
    for (const auto &[name, bases] : memory.getBases())
      if (name == kOffset)
        offsets = bases;
    auto take = [&](unsigned from, unsigned count) {
      return LinearLayout::DimBases(offsets.begin() + from,
                                    offsets.begin() + from + count);
    };
    LinearLayout::DimBases registers = take(0, vector);
    llvm::append_range(
        registers, take(vector + lanes + warps, all - vector - lanes - warps));
    LinearLayout::Bases bases;
    bases.emplace_back(kRegister, registers);
    bases.emplace_back(kLane, take(vector, lanes));
    bases.emplace_back(kWarp, take(vector + lanes, warps));
    bases.emplace_back(kBlock, LinearLayout::DimBases());
    return LinearLayout(bases, memory.getOutDims(),
                        /*requireSurjective=*/true);
  }

  static void setLayout(AsyncCopyGlobalToLocalOp copy, Attribute layout) {
    OpBuilder b(copy);
    for (OpOperand &operand : copy->getOpOperands())
      if (auto type = dyn_cast<RankedTensorType>(operand.get().getType()))
        operand.set(ConvertLayoutOp::create(
            b, copy.getLoc(), cloneWithEncoding(type, layout), operand.get()));
  }
};
} // namespace
