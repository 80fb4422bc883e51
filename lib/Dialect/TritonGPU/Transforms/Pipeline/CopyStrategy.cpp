//===-- CopyStrategy.cpp - How a load becomes asynchronous ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CopyStrategy.h"
#include "LoopMemory.h"
#include "TurnedOperands.h"

#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/Transforms/SharedEncodings.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

LocalAllocOp mlir::triton::gpu::getProductBuffer(Operation *user) {
  auto alloc = dyn_cast<LocalAllocOp>(user);
  if (!alloc || alloc.getType().getMutableMemory() ||
      !isa<NVMMASharedEncodingAttr, SwizzledSharedEncodingAttr>(
          alloc.getType().getEncoding()))
    return {};
  return alloc;
}

bool mlir::triton::gpu::isReadByProducts(LocalAllocOp buffer) {
  return isa<NVMMASharedEncodingAttr>(buffer.getType().getEncoding());
}

namespace {

/// Every thread copies elements of its own (`ttg.async_copy_global_to_local`)
/// and waits for them.
class ThreadCopies : public CopyStrategy {
public:
  Attribute chooseEncoding(Operation *op) const override {
    auto load = cast<LoadOp>(op);
    if (isComplete(load))
      for (Operation *user : load->getUsers())
        if (LocalAllocOp alloc = getProductBuffer(user)) {
          Attribute turned = getTurnedBufferEncoding(alloc);
          return turned ? turned : alloc.getType().getEncoding();
        }
    auto type = cast<RankedTensorType>(load.getType());
    for (Operation *user : load->getUsers()) {
      auto convert = dyn_cast<ConvertLayoutOp>(user);
      if (!convert)
        continue;
      auto operand = dyn_cast<DotOperandEncodingAttr>(
          cast<RankedTensorType>(convert.getType()).getEncoding());
      if (operand)
        return getDotOperandSharedEncoding(type, operand);
    }
    return SwizzledSharedEncodingAttr::get(type.getContext(), 1, 1, 1,
                                           getOrder(type),
                                           getCTALayout(type.getEncoding()));
  }

  /// What is masked off is filled with zeros.
  bool isComplete(Operation *load) const override {
    Value other = cast<LoadOp>(load).getOther();
    return !other || matchPattern(other, m_Zero()) ||
           matchPattern(other, m_AnyZeroFloat());
  }

  bool usesBarriers() const override { return false; }

  SmallVector<Operation *> start(OpBuilder &builder, Operation *op, Value slot,
                                 Value barrier,
                                 unsigned contiguity) const override {
    auto load = cast<LoadOp>(op);
    auto copy = AsyncCopyGlobalToLocalOp::create(
        builder, load.getLoc(), AsyncTokenType::get(load.getContext()),
        load.getPtr(), slot, load.getMask(), /*other=*/Value(), load.getCache(),
        load.getEvict(), load.getIsVolatile(),
        static_cast<int32_t>(contiguity));
    auto commit =
        AsyncCommitGroupOp::create(builder, load.getLoc(), copy.getToken());
    return {copy, commit};
  }
};

/// The copy engine copies the block of a descriptor and arrives at an mbarrier.
class BulkTensorCopies : public CopyStrategy {
public:
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

  bool usesBarriers() const override { return true; }

  SmallVector<Operation *> start(OpBuilder &builder, Operation *op, Value slot,
                                 Value barrier,
                                 unsigned contiguity) const override {
    auto load = cast<DescriptorLoadOp>(op);
    Value always = arith::ConstantIntOp::create(builder, load.getLoc(), 1, 1);
    auto copy = nvidia_gpu::AsyncTMACopyGlobalToLocalOp::create(
        builder, load.getLoc(), load.getDesc(), load.getIndices(), barrier,
        slot, always, load.getCache(), load.getEvict(), /*isVolatile=*/false);
    return {always.getDefiningOp(), copy};
  }
};

/// Whether the engine can write buffers for the block of `load` that lie one
/// behind the other: it wants each where it may begin.
bool canFollowOneAnother(DescriptorLoadOp load, const CopyStrategy &strategy) {
  auto encoding = cast<NVMMASharedEncodingAttr>(strategy.chooseEncoding(load));
  RankedTensorType type = load.getType();
  SmallVector<int64_t> shape =
      getShapePerCTA(encoding.getCTALayout().getCTASplitNum(), type.getShape());
  int64_t bits = ShapedType::getNumElements(shape) *
                 type.getElementType().getIntOrFloatBitWidth();
  return bits % (int64_t(encoding.getAlignment()) * 8) == 0;
}

} // namespace

const CopyStrategy *CopyStrategy::find(Operation *op, scf::ForOp loop) {
  static const ThreadCopies threadCopies;
  static const BulkTensorCopies bulkTensorCopies;
  // Indices are few and needed in registers: they cross stages there.
  if (op->getNumResults() != 1 ||
      !isa<RankedTensorType>(op->getResult(0).getType()) ||
      isAddressLoad(loop, op))
    return nullptr;
  if (isa<LoadOp>(op))
    return &threadCopies;
  auto load = dyn_cast<DescriptorLoadOp>(op);
  if (!load ||
      !isa_and_nonnull<NVMMASharedEncodingAttr>(
          load.getDesc().getType().getBlockType().getEncoding()) ||
      !loop.isDefinedOutsideOfLoop(load.getDesc()) ||
      !canFollowOneAnother(load, bulkTensorCopies))
    return nullptr;
  return &bulkTensorCopies;
}

bool mlir::triton::gpu::isCopiedTo(LocalAllocOp buffer, scf::ForOp loop) {
  Operation *load = buffer.getSrc() ? buffer.getSrc().getDefiningOp() : nullptr;
  if (!getProductBuffer(buffer) || !load || load->getBlock() != loop.getBody())
    return false;
  const CopyStrategy *strategy = CopyStrategy::find(load, loop);
  return strategy && strategy->isComplete(load) &&
         strategy->chooseEncoding(load) == buffer.getType().getEncoding();
}
