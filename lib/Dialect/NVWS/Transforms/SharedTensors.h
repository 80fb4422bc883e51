//===-- SharedTensors.h - Tensors that partitions share ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_LIB_DIALECT_NVWS_TRANSFORMS_SHAREDTENSORS_H
#define TILE_LIB_DIALECT_NVWS_TRANSFORMS_SHAREDTENSORS_H

#include "tile/Dialect/TritonGPU/IR/Dialect.h"

namespace mlir::triton::nvws {

/// The type of a buffer in shared memory for the elements of a tensor.
inline gpu::MemDescType getSharedType(RankedTensorType type, bool isMutable) {
  MLIRContext *context = type.getContext();
  SmallVector<unsigned> order =
      llvm::map_to_vector(llvm::reverse(llvm::seq<unsigned>(type.getRank())),
                          [](unsigned dim) { return dim; });
  auto encoding = gpu::SwizzledSharedEncodingAttr::get(
      context, /*vec=*/1, /*perPhase=*/1, /*maxPhase=*/1, order,
      gpu::getCTALayout(type.getEncoding()));
  return gpu::MemDescType::get(type.getShape(), type.getElementType(), encoding,
                               gpu::SharedMemorySpaceAttr::get(context),
                               isMutable);
}

/// A tensor of one element, by which a scalar goes through shared memory. Null
/// if it cannot.
inline RankedTensorType getTensorOfOne(Type scalar, Operation *op) {
  if (!scalar.isIntOrFloat())
    return {};
  auto encoding = gpu::getDefaultBlockedEncoding(
      op->getContext(), {1}, gpu::lookupNumWarps(op),
      gpu::lookupThreadsPerWarp(op), gpu::lookupNumCTAs(op));
  return RankedTensorType::get({1}, scalar, encoding);
}

} // namespace mlir::triton::nvws

#endif // TILE_LIB_DIALECT_NVWS_TRANSFORMS_SHAREDTENSORS_H
