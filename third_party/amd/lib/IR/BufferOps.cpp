//===-- BufferOps.cpp - Accesses through descriptors ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "amd/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::amdgpu;

Type amdgpu::getOffsetsType(Type tensor) {
  return getTypeLike(IntegerType::get(tensor.getContext(), 32), tensor);
}

Type amdgpu::getBaseType(Type tensor) {
  return PointerType::get(getElementTypeOrSelf(tensor), /*addressSpace=*/1);
}

using Effects =
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

void BufferLoadOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getPtrMutable(),
                       GlobalMemory::get());
}

void BufferLoadToLocalOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getPtrMutable(),
                       GlobalMemory::get());
  effects.emplace_back(MemoryEffects::Write::get(), &getDestMutable(),
                       gpu::SharedMemory::get());
}

/// As of ttg.async_wait: nothing that reads or writes LDS may pass.
void AsyncWaitOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), gpu::SharedMemory::get());
  effects.emplace_back(MemoryEffects::Write::get(), gpu::SharedMemory::get());
}

void BufferStoreOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Write::get(), &getPtrMutable(),
                       GlobalMemory::get());
}

template <typename OpT> static void addReadWrite(OpT op, Effects &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &op.getPtrMutable(),
                       GlobalMemory::get());
  effects.emplace_back(MemoryEffects::Write::get(), &op.getPtrMutable(),
                       GlobalMemory::get());
}

void BufferAtomicRMWOp::getEffects(Effects &effects) {
  addReadWrite(*this, effects);
}

void BufferAtomicCASOp::getEffects(Effects &effects) {
  addReadWrite(*this, effects);
}

LogicalResult BufferLoadOp::verify() {
  if (getOther() && !getMask())
    return emitOpError("expected a mask beside the value for masked elements");
  return success();
}

Value BufferLoadToLocalOp::getCopyTarget() { return getDest(); }

LogicalResult BufferLoadToLocalOp::verify() {
  gpu::MemDescType dest = getDest().getType();
  RankedTensorType offsets = getOffsets().getType();
  if (!isa<gpu::SharedMemorySpaceAttr>(dest.getMemorySpace()) ||
      !dest.getMutableMemory())
    return emitOpError(
               "expected a mutable destination in shared memory, found ")
           << dest;
  if (offsets.getShape() != dest.getShape() ||
      !offsets.getElementType().isInteger(32))
    return emitOpError("expected i32 offsets of shape [")
           << dest.getShape() << "], like the destination, found " << offsets;
  Type element = cast<PointerType>(getPtr().getType()).getPointeeType();
  if (element != dest.getElementType())
    return emitOpError("expected a pointer to ")
           << dest.getElementType() << ", which the destination holds, found "
           << getPtr().getType();
  if (getOther() &&
      getOther().getType() != offsets.clone(dest.getElementType()))
    return emitOpError("expected other values of type ")
           << offsets.clone(dest.getElementType()) << ", found "
           << getOther().getType();
  if (getOther() && !getMask())
    return emitOpError("expected a mask beside the value for masked elements");
  return success();
}

LogicalResult BufferAtomicRMWOp::verify() {
  Type element = getElementTypeOrSelf(getType());
  RMWOp kind = getAtomicRmwOp();
  if (kind == RMWOp::FADD && !isa<FloatType>(element))
    return emitOpError("expected floating-point elements with fadd, found ")
           << element;
  if (kind != RMWOp::FADD && kind != RMWOp::XCHG && !element.isInteger())
    return emitOpError("expected integers with ")
           << stringifyRMWOp(kind) << ", found " << element;
  return success();
}

LogicalResult BufferAtomicCASOp::verify() {
  Type element = getElementTypeOrSelf(getType());
  unsigned bits = getElementBitWidth(element);
  if (bits != 32 && bits != 64)
    return emitOpError("expected elements of 32 or 64 bits, found ") << element;
  return success();
}
