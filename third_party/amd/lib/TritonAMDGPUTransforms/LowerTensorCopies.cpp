//===-- LowerTensorCopies.cpp - Blocks by the tensor data mover -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OperandEncodings.h"
#include "TensorLoads.h"

#include "amd/IR/Dialect.h"
#include "amd/TensorCopies.h"
#include "amd/TransposedLoads.h"
#include "amd/TritonAMDGPUTransforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::triton::amd {
#define GEN_PASS_DEF_TRITONAMDGPULOWERTENSORCOPIES
#include "amd/TritonAMDGPUTransforms/Passes.h.inc"
} // namespace mlir::triton::amd

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

/// Bytes of all banks of LDS, and the most that a lane accesses.
constexpr unsigned kAllBanks = 256, kLaneBytes = 16;

static MemDescType getBufferType(RankedTensorType block, unsigned intervalBytes,
                                 unsigned gapBytes, bool isMutable) {
  unsigned bytes = block.getElementTypeBitWidth() / 8;
  return MemDescType::get(block.getShape(), block.getElementType(),
                          amd::getTensorBufferEncoding(
                              block, {intervalBytes / bytes, gapBytes / bytes}),
                          SharedMemorySpaceAttr::get(block.getContext()),
                          isMutable);
}

static unsigned getRowBytes(RankedTensorType block) {
  return block.getShape().back() * block.getElementTypeBitWidth() / 8;
}

/// Whether transposing loads read the block, as an operand of a product.
static bool isReadAcrossRows(DescriptorLoadOp load) {
  auto machine = amd::TargetModel::get(load->getParentOfType<ModuleOp>());
  return succeeded(machine) &&
         llvm::any_of(load->getUsers(), [&](Operation *user) {
           auto convert = dyn_cast<ConvertLayoutOp>(user);
           if (!convert)
             return false;
           RankedTensorType type = convert.getType();
           auto operand = dyn_cast<DotOperandEncodingAttr>(type.getEncoding());
           unsigned rank = type.getRank();
           return operand && amd::getInnerDim(operand, rank) != rank - 1 &&
                  amd::mayTransposeLoads(type, **machine);
         });
}

MemDescType amd::getLoadedBufferType(DescriptorLoadOp load) {
  RankedTensorType block = load.getType();
  // Rows that fill the banks together need no shift among themselves. Those
  // behind them are shifted by what is read of one row at a time.
  unsigned interval = std::clamp(getRowBytes(block), kAllBanks, kMostInterval);
  unsigned gap = kLaneBytes;
  if (isReadAcrossRows(load))
    gap =
        std::max(gap, kTransposedColumns * block.getElementTypeBitWidth() / 8);
  return getBufferType(block, interval, gap, /*isMutable=*/true);
}

/// A buffer to store a block from. The machine knows no gaps there but those
/// behind whole rows.
static MemDescType getStoredBufferType(RankedTensorType block) {
  return getBufferType(block, getRowBytes(block), kLaneBytes,
                       /*isMutable=*/false);
}

Value amd::startTensorCopy(OpBuilder &b, DescriptorLoadOp load,
                           ValueRange indices, Value buffer, Value pred) {
  return amdgpu::AsyncTDMCopyGlobalToLocalOp::create(
             b, load.getLoc(), AsyncTokenType::get(b.getContext()),
             load.getDesc(), indices, buffer, pred, /*barrier=*/Value())
      .getToken();
}

Value amd::waitForTensorCopies(OpBuilder &b, Location loc, ValueRange tokens) {
  return amdgpu::AsyncTDMWaitOp::create(
             b, loc, AsyncTokenType::get(b.getContext()), tokens, /*num=*/0)
      .getRetToken();
}

void amd::readTensorBuffer(DescriptorLoadOp load, Value buffer, Value wait) {
  OpBuilder b(load);
  auto read = [&](Type type) {
    return LocalLoadOp::create(b, load.getLoc(), type, buffer, wait)
        .getResult();
  };
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

namespace {
struct LowerTensorCopies
    : amd::impl::TritonAMDGPULowerTensorCopiesBase<LowerTensorCopies> {
  void runOnOperation() override {
    SmallVector<Operation *> accesses;
    getOperation().walk([&](Operation *op) {
      if (isa<DescriptorLoadOp, DescriptorStoreOp>(op))
        accesses.push_back(op);
    });
    for (Operation *op : accesses)
      if (auto load = dyn_cast<DescriptorLoadOp>(op))
        lower(load);
      else
        lower(cast<DescriptorStoreOp>(op));
  }

private:
  void lower(DescriptorLoadOp load) {
    OpBuilder b(load);
    Location loc = load.getLoc();
    Value buffer = LocalAllocOp::create(b, loc, amd::getLoadedBufferType(load));
    Value always = arith::ConstantIntOp::create(b, loc, 1, 1);
    Value token =
        amd::startTensorCopy(b, load, load.getIndices(), buffer, always);
    Value wait = amd::waitForTensorCopies(b, loc, token);
    amd::readTensorBuffer(load, buffer, wait);
    ++numLoads;
  }

  void lower(DescriptorStoreOp store) {
    OpBuilder b(store);
    Location loc = store.getLoc();
    Value value = store.getSrc();
    // It does not matter who wrote which element.
    while (auto convert = value.getDefiningOp<ConvertLayoutOp>())
      value = convert.getSrc();
    Value buffer = LocalAllocOp::create(
        b, loc, getStoredBufferType(cast<RankedTensorType>(value.getType())),
        value);
    auto copy = amdgpu::AsyncTDMCopyLocalToGlobalOp::create(
        b, loc, AsyncTokenType::get(&getContext()), store.getDesc(),
        store.getIndices(), buffer);
    amd::waitForTensorCopies(b, loc, copy.getToken());
    store.erase();
    ++numStores;
  }
};
} // namespace
