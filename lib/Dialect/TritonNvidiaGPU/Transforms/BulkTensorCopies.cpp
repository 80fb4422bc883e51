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

/// The copy engine copies the block of a descriptor and arrives at an mbarrier.
class BulkTensorCopies : public CopyStrategy {
public:
  bool canCopy(Operation *op, scf::ForOp loop) const override {
    auto load = dyn_cast<DescriptorLoadOp>(op);
    return load &&
           isa_and_nonnull<NVMMASharedEncodingAttr>(
               load.getDesc().getType().getBlockType().getEncoding()) &&
           loop.isDefinedOutsideOfLoop(load.getDesc()) &&
           canFollowOneAnother(load);
  }

  Attribute chooseEncoding(Operation *op) const override {
    auto load = cast<DescriptorLoadOp>(op);
    auto encoding = cast<NVMMASharedEncodingAttr>(
        load.getDesc().getType().getBlockType().getEncoding());
    // The tensor may lack leading dimensions of the block.
    CTALayoutAttr ctaLayout = encoding.getCTALayout();
    for (unsigned rank = load.getType().getRank(); rank < ctaLayout.getRank();)
      ctaLayout = ctaLayout.dropDim(0);
    // What each block of a cluster needs is up to who uses it.
    if (lookupNumCTAs(load) > 1)
      ctaLayout = getCTALayout(load.getType().getEncoding());
    return NVMMASharedEncodingAttr::get(
        load.getContext(), encoding.getSwizzlingByteWidth(),
        encoding.getTransposed(), encoding.getElementBitWidth(),
        encoding.getFp4Padded(), ctaLayout);
  }

  /// What is out of bounds is filled as the descriptor says.
  bool isComplete(Operation *load) const override { return true; }

  Arrival getArrival() const override { return Arrival::Barrier; }

  SmallVector<Operation *> start(OpBuilder &builder, Operation *op, Value slot,
                                 Value barrier,
                                 unsigned contiguity) const override {
    auto load = cast<DescriptorLoadOp>(op);
    Value always = arith::ConstantIntOp::create(builder, load.getLoc(), 1, 1);
    auto copy = nvidia_gpu::AsyncTMACopyGlobalToLocalOp::create(
        builder, load.getLoc(), load.getDesc(), load.getIndices(),
        /*offsets=*/ValueRange(), barrier, slot, always,
        nvidia_gpu::isMulticast(cast<MemDescType>(slot.getType())),
        load.getCache(), load.getEvict(), /*isVolatile=*/false);
    return {always.getDefiningOp(), copy};
  }

private:
  /// Whether the engine can write buffers for the block of `load` that lie one
  /// behind the other: it wants each where it may begin.
  bool canFollowOneAnother(DescriptorLoadOp load) const {
    auto encoding = cast<NVMMASharedEncodingAttr>(chooseEncoding(load));
    RankedTensorType type = load.getType();
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
