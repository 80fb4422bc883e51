//===-- DescriptorOps.cpp - Tensor descriptors ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mlir/IR/Builders.h"
#include "tile/Dialect/Triton/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton;

using Effects =
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

static void addReadEffect(Effects &effects, OpOperand &desc) {
  effects.emplace_back(MemoryEffects::Read::get(), &desc, GlobalMemory::get());
}

static void addWriteEffect(Effects &effects, OpOperand &desc) {
  effects.emplace_back(MemoryEffects::Write::get(), &desc, GlobalMemory::get());
}

/// A block and a tensor that is moved to or from it: equal elements and, up to
/// leading dimensions of size one, equal shape. One index per dimension.
static LogicalResult verifyBlockAccess(Operation *op, TensorDescType desc,
                                       size_t numIndices,
                                       RankedTensorType tensor) {
  RankedTensorType block = desc.getBlockType();
  if (int64_t(numIndices) != block.getRank())
    return op->emitOpError("expected ")
           << block.getRank() << " indices, one per dimension of " << desc
           << ", found " << numIndices;
  auto withoutLeadingOnes = [](RankedTensorType type) {
    return type.getShape().drop_while([](int64_t size) { return size == 1; });
  };
  if (withoutLeadingOnes(block) != withoutLeadingOnes(tensor) ||
      tensor.getRank() > block.getRank() ||
      desc.getElementType() != tensor.getElementType())
    return op->emitOpError("expected a tensor that fits ")
           << desc.getUnencodedBlockType() << ", found " << tensor;
  return success();
}

/// Rows of a tensor: the block of the descriptor is one row, `tensor` has one
/// row per offset.
static LogicalResult verifyRowAccess(Operation *op, TensorDescType desc,
                                     RankedTensorType offsets,
                                     RankedTensorType tensor) {
  RankedTensorType block = desc.getBlockType();
  if (block.getRank() != 2 || block.getDimSize(0) != 1)
    return op->emitOpError("expected a descriptor of blocks of one row, found ")
           << desc;
  if (offsets.getRank() != 1)
    return op->emitOpError("expected a 1-D tensor of row offsets, found ")
           << offsets;
  int64_t shape[] = {offsets.getDimSize(0), block.getDimSize(1)};
  if (tensor.getShape() != ArrayRef<int64_t>(shape) ||
      tensor.getElementType() != desc.getElementType())
    return op->emitOpError("expected a tensor of ")
           << shape[0] << "x" << shape[1] << " elements of type "
           << desc.getElementType() << ", found " << tensor;
  return success();
}

//===----------------------------------------------------------------------===//
// MakeTensorDescOp
//===----------------------------------------------------------------------===//

void MakeTensorDescOp::build(OpBuilder &builder, OperationState &state,
                             Value base, ValueRange shape, ValueRange strides,
                             ArrayRef<int32_t> blockShape, bool isSigned,
                             PaddingOption padding) {
  Type element = cast<PointerType>(base.getType()).getPointeeType();
  if (auto integer = dyn_cast<IntegerType>(element))
    element = IntegerType::get(builder.getContext(), integer.getWidth(),
                               isSigned ? IntegerType::Signed
                                        : IntegerType::Unsigned);
  auto block = RankedTensorType::get(
      SmallVector<int64_t>(blockShape.begin(), blockShape.end()), element);
  build(builder, state, TensorDescType::get(block), base, shape, strides,
        padding);
}

LogicalResult MakeTensorDescOp::verify() {
  RankedTensorType block = getType().getBlockType();
  if (int64_t(getShape().size()) != block.getRank())
    return emitOpError("expected ")
           << block.getRank() << " sizes and strides, one per dimension of "
           << block << ", found " << getShape().size();
  if (getBase().getType().getPointeeType() != getType().getElementType())
    return emitOpError("expected a base of type ")
           << PointerType::get(getType().getElementType()) << ", found "
           << getBase().getType();
  if (getPadding() == PaddingOption::PAD_NAN &&
      !isa<FloatType>(block.getElementType()))
    return emitOpError("expected floating-point elements with NaN padding, "
                       "found ")
           << block.getElementType();
  return success();
}

//===----------------------------------------------------------------------===//
// Access to blocks
//===----------------------------------------------------------------------===//

void DescriptorLoadOp::build(OpBuilder &builder, OperationState &state,
                             Value desc, ValueRange indices,
                             CacheModifier cache, EvictionPolicy evict) {
  Type type = cast<TensorDescType>(desc.getType()).getUnencodedBlockType();
  build(builder, state, type, desc, indices, cache, evict);
}

void DescriptorLoadOp::getEffects(Effects &effects) {
  addReadEffect(effects, getDescMutable());
}

LogicalResult DescriptorLoadOp::verify() {
  return verifyBlockAccess(*this, getDesc().getType(), getIndices().size(),
                           getType());
}

void DescriptorStoreOp::getEffects(Effects &effects) {
  addWriteEffect(effects, getDescMutable());
}

LogicalResult DescriptorStoreOp::verify() {
  return verifyBlockAccess(*this, getDesc().getType(), getIndices().size(),
                           getSrc().getType());
}

void DescriptorReduceOp::getEffects(Effects &effects) {
  addReadEffect(effects, getDescMutable());
  addWriteEffect(effects, getDescMutable());
}

LogicalResult DescriptorReduceOp::verify() {
  if (failed(verifyBlockAccess(*this, getDesc().getType(), getIndices().size(),
                               getSrc().getType())))
    return failure();
  Type element = getSrc().getType().getElementType();
  switch (getKind()) {
  case DescriptorReduceKind::ADD:
  case DescriptorReduceKind::MIN:
  case DescriptorReduceKind::MAX:
    return success();
  default:
    if (element.isInteger())
      return success();
    return emitOpError("expected integer elements for '")
           << stringifyDescriptorReduceKind(getKind()) << "', found "
           << element;
  }
}

//===----------------------------------------------------------------------===//
// Access to rows
//===----------------------------------------------------------------------===//

void DescriptorGatherOp::getEffects(Effects &effects) {
  addReadEffect(effects, getDescMutable());
}

LogicalResult DescriptorGatherOp::verify() {
  return verifyRowAccess(*this, getDesc().getType(), getXOffsets().getType(),
                         getType());
}

void DescriptorScatterOp::getEffects(Effects &effects) {
  addWriteEffect(effects, getDescMutable());
}

LogicalResult DescriptorScatterOp::verify() {
  return verifyRowAccess(*this, getDesc().getType(), getXOffsets().getType(),
                         getSrc().getType());
}
