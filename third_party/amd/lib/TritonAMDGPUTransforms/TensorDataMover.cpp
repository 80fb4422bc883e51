//===-- TensorDataMover.cpp - Blocks of descriptors to LDS ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OperandEncodings.h"
#include "amd/IR/Dialect.h"
#include "amd/TensorCopies.h"
#include "amd/TransposedLoads.h"
#include "amd/TritonAMDGPUTransforms/CopyEngines.h"

#include "tile/Dialect/TritonGPU/Transforms/AsyncWaits.h"
#include "tile/Dialect/TritonGPU/Transforms/Buffers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

/// Bytes of all banks of LDS, and the most that a lane accesses.
constexpr unsigned kAllBanks = 256, kLaneBytes = 16;

/// Whether transposing loads read the block, as an operand of a dot.
static bool isReadAcrossRows(DescriptorLoadOp load) {
  return llvm::any_of(load->getUsers(), [&](Operation *user) {
    auto convert = dyn_cast<ConvertLayoutOp>(user);
    if (!convert)
      return false;
    RankedTensorType type = convert.getType();
    auto operand = dyn_cast<DotOperandEncodingAttr>(type.getEncoding());
    unsigned rank = type.getRank();
    return operand && amd::getInnerDim(operand, rank) != rank - 1 &&
           amd::mayTransposeLoads(type, amd::TargetModel::of(load));
  });
}

namespace {
class TensorDataMover final : public CopyStrategy {
public:
  bool canCopy(Operation *op, scf::ForOp loop) const override {
    auto load = dyn_cast<DescriptorLoadOp>(op);
    return load && load.getDesc().getType().getBlockType().getEncoding() &&
           loop.isDefinedOutsideOfLoop(load.getDesc());
  }

  /// Where lanes read several rows at once, these lie at different banks.
  Attribute chooseEncoding(Operation *op) const override {
    auto load = cast<DescriptorLoadOp>(op);
    RankedTensorType block = load.getType();
    unsigned bytes = block.getElementTypeBitWidth() / 8;
    // Rows that fill the banks together need no shift among themselves. Those
    // behind them are shifted by what is read of one row at a time.
    unsigned interval = std::clamp<unsigned>(block.getShape().back() * bytes,
                                             kAllBanks, amd::kMostInterval);
    unsigned gap = kLaneBytes;
    if (isReadAcrossRows(load))
      gap = std::max(gap, amd::kTransposedColumns * bytes);
    return amd::getTensorBufferEncoding(block, {interval / bytes, gap / bytes});
  }

  bool isComplete(Operation *load) const override { return true; }

  Arrival getArrival() const override { return Arrival::Token; }
  bool suitsAnyLoop() const override { return true; }
  bool hasSpareBuffer() const override { return true; }

  SmallVector<Operation *> start(OpBuilder &builder, Operation *op, Value slot,
                                 Value barrier,
                                 unsigned contiguity) const override {
    auto load = cast<DescriptorLoadOp>(op);
    Value always = arith::ConstantIntOp::create(builder, load.getLoc(), 1, 1);
    auto copy = amdgpu::AsyncTDMCopyGlobalToLocalOp::create(
        builder, load.getLoc(), AsyncTokenType::get(load.getContext()),
        load.getDesc(), load.getIndices(), slot, always, /*barrier=*/Value());
    return {always.getDefiningOp(), copy};
  }

  Operation *wait(OpBuilder &builder, Location loc,
                  ValueRange tokens) const override {
    return amdgpu::AsyncTDMWaitOp::create(
        builder, loc, AsyncTokenType::get(builder.getContext()), tokens,
        /*num=*/0);
  }

  /// Copies are done in order; each is a group of its own.
  void countPending(scf::ForOp loop) const override {
    auto isCopy = llvm::IsaPred<amdgpu::AsyncTDMCopyGlobalToLocalOp>;
    loop->getBlock()->walk([&](amdgpu::AsyncTDMWaitOp wait) {
      if (!wait.getAsyncToken().empty())
        wait.setNum(getLeastSince(wait.getAsyncToken(), wait, isCopy, isCopy));
    });
  }
};
} // namespace

const CopyStrategy &amd::getTensorDataMover() {
  static const TensorDataMover mover;
  return mover;
}

Value amd::waitForBlocks(OpBuilder &b, Location loc, ValueRange tokens) {
  return getTensorDataMover().wait(b, loc, tokens)->getResult(0);
}

void amd::copyBlockAtOnce(DescriptorLoadOp load) {
  const CopyStrategy &mover = getTensorDataMover();
  OpBuilder b(load);
  Location loc = load.getLoc();
  Value buffer =
      allocateBuffer(b, loc, load.getType(), mover.chooseEncoding(load));
  Operation *copy =
      mover.start(b, load, buffer, /*barrier=*/Value(), /*contiguity=*/1)
          .back();
  Value wait = waitForBlocks(b, loc, copy->getResult(0));
  auto read = [&](Type type) {
    return LocalLoadOp::create(b, loc, type, buffer, wait).getResult();
  };
  // In the layouts that its users want.
  for (Operation *user : llvm::make_early_inc_range(load->getUsers()))
    if (auto convert = dyn_cast<ConvertLayoutOp>(user);
        convert && convert->getBlock() == load->getBlock()) {
      convert.replaceAllUsesWith(read(convert.getType()));
      convert.erase();
    }
  if (!load.use_empty())
    load.replaceAllUsesWith(read(load.getType()));
  load.erase();
}
