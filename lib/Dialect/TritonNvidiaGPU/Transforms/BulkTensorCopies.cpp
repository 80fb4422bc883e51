//===-- BulkTensorCopies.cpp - The TMA as a copy engine -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Dialect/TritonGPU/Transforms/CopyStrategy.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/TensorMap.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/CopyEngines.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

namespace {

/// Null where `op` loads nothing through a descriptor.
Value getDescriptor(Operation *op) {
  if (auto load = dyn_cast<DescriptorLoadOp>(op))
    return load.getDesc();
  if (auto gather = dyn_cast<DescriptorGatherOp>(op))
    return gather.getDesc();
  return {};
}

RankedTensorType getLoadedType(Operation *op) {
  return cast<RankedTensorType>(op->getResult(0).getType());
}

/// The layout that the descriptor says; null if it says none.
NVMMASharedEncodingAttr getEncodingOfDescriptor(Operation *op) {
  auto type = cast<TensorDescType>(getDescriptor(op).getType());
  return dyn_cast_or_null<NVMMASharedEncodingAttr>(
      type.getBlockType().getEncoding());
}

/// The copy engine copies the block of a descriptor, or rows, and arrives at an
/// mbarrier.
class BulkTensorCopies : public CopyStrategy {
public:
  bool canCopy(Operation *op, scf::ForOp loop) const override {
    Value desc = getDescriptor(op);
    // Blocks of a cluster would need other rows each.
    bool isLocal = isa<DescriptorLoadOp>(op) || lookupNumCTAs(loop) == 1;
    return desc && isLocal && getEncodingOfDescriptor(op) &&
           loop.isDefinedOutsideOfLoop(desc) && canFollowOneAnother(op);
  }

  Attribute chooseEncoding(Operation *op) const override {
    NVMMASharedEncodingAttr encoding = getEncodingOfDescriptor(op);
    RankedTensorType type = getLoadedType(op);
    // The tensor may lack leading dimensions of the block.
    CTALayoutAttr ctaLayout = encoding.getCTALayout();
    for (unsigned rank = type.getRank(); rank < ctaLayout.getRank();)
      ctaLayout = ctaLayout.dropDim(0);
    // What each block of a cluster needs is up to who uses it.
    if (lookupNumCTAs(op) > 1)
      ctaLayout = getCTALayout(type.getEncoding());
    return NVMMASharedEncodingAttr::get(
        op->getContext(), encoding.getSwizzlingByteWidth(),
        encoding.getTransposed(), encoding.getElementBitWidth(),
        encoding.getFp4Padded(), ctaLayout);
  }

  /// What is out of bounds is filled as the descriptor says.
  bool isComplete(Operation *load) const override { return true; }

  Arrival getArrival() const override { return Arrival::Barrier; }

  SmallVector<Operation *> start(OpBuilder &builder, Operation *op, Value slot,
                                 Value barrier,
                                 unsigned contiguity) const override {
    Location loc = op->getLoc();
    Value always = arith::ConstantIntOp::create(builder, loc, 1, 1);
    SmallVector<Operation *> ops{always.getDefiningOp()};
    if (auto gather = dyn_cast<DescriptorGatherOp>(op)) {
      Value given = gather.getXOffsets();
      Value rows = nvidia_gpu::distributeRows(builder, loc, given);
      if (rows != given)
        ops.push_back(rows.getDefiningOp());
      ops.push_back(nvidia_gpu::AsyncTMAGatherOp::create(
          builder, loc, gather.getDesc(), rows, gather.getYOffset(), barrier,
          slot, always));
      return ops;
    }
    auto load = cast<DescriptorLoadOp>(op);
    ops.push_back(nvidia_gpu::AsyncTMACopyGlobalToLocalOp::create(
        builder, loc, load.getDesc(), load.getIndices(),
        /*offsets=*/ValueRange(), barrier, slot, always,
        nvidia_gpu::isMulticast(cast<MemDescType>(slot.getType())),
        load.getCache(), load.getEvict(), /*isVolatile=*/false));
    return ops;
  }

private:
  /// Whether the engine can write buffers for the block of `load` that lie one
  /// behind the other: it wants each where it may begin.
  bool canFollowOneAnother(Operation *load) const {
    auto encoding = cast<NVMMASharedEncodingAttr>(chooseEncoding(load));
    RankedTensorType type = getLoadedType(load);
    SmallVector<int64_t> shape = getShapePerCTA(
        encoding.getCTALayout().getCTASplitNum(), type.getShape());
    int64_t bits = ShapedType::getNumElements(shape) *
                   type.getElementType().getIntOrFloatBitWidth();
    return bits % (int64_t(encoding.getAlignment()) * 8) == 0;
  }
};

} // namespace

const CopyStrategy &mlir::triton::nvidia_gpu::getBulkTensorCopies() {
  static const BulkTensorCopies copies;
  return copies;
}
