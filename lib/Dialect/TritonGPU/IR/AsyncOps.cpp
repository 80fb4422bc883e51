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

LogicalResult AsyncCopyGlobalToLocalOp::verify() {
  MemDescType dst = getResult().getType();
  auto src =
      cast<RankedTensorType>(detail::getPointeeTensorType(getSrc().getType()));
  if (!isa<SharedMemorySpaceAttr>(dst.getMemorySpace()))
    return emitOpError() << "expected a destination in shared memory, found "
                         << dst.getMemorySpace();
  if (!dst.getMutableMemory())
    return emitOpError("the destination is not mutable");
  if (src.getShape() != dst.getShape())
    return emitOpError() << "the pointers have shape [" << src.getShape()
                         << "], but the destination [" << dst.getShape() << "]";
  if (src.getElementType() != dst.getElementType())
    return emitOpError() << "the pointers are to " << src.getElementType()
                         << ", but the destination holds "
                         << dst.getElementType();
  if (!llvm::isPowerOf2_32(getContiguity()))
    return emitOpError() << "'contiguity' is " << int32_t(getContiguity())
                         << ", expected a power of two";
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
    return emitOpError() << "'num' is " << int32_t(getNum())
                         << ", expected the number of groups that may be "
                            "unfinished";
  return success();
}
