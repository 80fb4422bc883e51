//===-- LowerTensorCopies.cpp - Blocks by the tensor data mover -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TensorLoads.h"

#include "amd/IR/Dialect.h"
#include "amd/TensorCopies.h"
#include "amd/TritonAMDGPUTransforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::triton::amd {
#define GEN_PASS_DEF_TRITONAMDGPULOWERTENSORCOPIES
#include "amd/TritonAMDGPUTransforms/Passes.h.inc"
} // namespace mlir::triton::amd

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

MemDescType amd::getTensorBufferType(RankedTensorType type, bool isMutable) {
  return MemDescType::get(
      type.getShape(), type.getElementType(),
      amd::getTensorBufferEncoding(type, /*hasGaps=*/isMutable),
      SharedMemorySpaceAttr::get(type.getContext()), isMutable);
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
    Value buffer = LocalAllocOp::create(
        b, loc, amd::getTensorBufferType(load.getType(), /*isMutable=*/true));
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
        b, loc,
        amd::getTensorBufferType(cast<RankedTensorType>(value.getType()),
                                 /*isMutable=*/false),
        value);
    amdgpu::AsyncTDMCopyLocalToGlobalOp::create(b, loc, store.getDesc(),
                                                store.getIndices(), buffer);
    amd::waitForTensorCopies(b, loc, ValueRange());
    store.erase();
    ++numStores;
  }
};
} // namespace
