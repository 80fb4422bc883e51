//===-- AsyncOps.cpp - Asynchronous copies and barriers -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

Type gpu::detail::getMaskType(Type pointers) {
  return cast<RankedTensorType>(pointers).clone(
      IntegerType::get(pointers.getContext(), 1));
}

Type gpu::detail::getPointeeTensorType(Type pointers) {
  auto tensor = cast<RankedTensorType>(pointers);
  return tensor.clone(
      cast<PointerType>(tensor.getElementType()).getPointeeType());
}

Value AsyncCopyGlobalToLocalOp::getCopyTarget() { return getResult(); }

LogicalResult AsyncCopyGlobalToLocalOp::verify() {
  MemDescType dst = getResult().getType();
  auto src =
      cast<RankedTensorType>(detail::getPointeeTensorType(getSrc().getType()));
  if (!isa<SharedMemorySpaceAttr>(dst.getMemorySpace()))
    return emitOpError() << "expected a destination in shared memory, found "
                         << dst.getMemorySpace();
  if (!dst.getMutableMemory())
    return emitOpError() << "expected a mutable destination, found " << dst;
  if (src.getShape() != dst.getShape())
    return emitOpError() << "expected pointers of shape [" << dst.getShape()
                         << "], like the destination, found [" << src.getShape()
                         << "]";
  if (src.getElementType() != dst.getElementType())
    return emitOpError() << "expected pointers to " << dst.getElementType()
                         << ", which the destination holds, found pointers to "
                         << src.getElementType();
  if (!llvm::isPowerOf2_32(getContiguity()))
    return emitOpError() << "expected 'contiguity' to be a power of two, found "
                         << int32_t(getContiguity());
  return success();
}

void AsyncWaitOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  // What the copies write becomes readable: nothing may move across.
  effects.emplace_back(MemoryEffects::Read::get(), SharedMemory::get());
  effects.emplace_back(MemoryEffects::Write::get(), SharedMemory::get());
}

LogicalResult AsyncWaitOp::verify() {
  if (int32_t(getNum()) < 0)
    return emitOpError() << "expected 'num' to be the number of groups that "
                            "may be unfinished, found "
                         << int32_t(getNum());
  return success();
}
