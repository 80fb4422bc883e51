//===-- SharedEncodings.h - Choosing layouts of shared memory ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef TILE_DIALECT_TRITONGPU_TRANSFORMS_SHAREDENCODINGS_H
#define TILE_DIALECT_TRITONGPU_TRANSFORMS_SHAREDENCODINGS_H

#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Layout/BankGeometry.h"

namespace mlir::triton::gpu {

/// The layout of shared memory through which a tensor laid out like `source`
/// becomes the operand `operand` of a dot. Rows are in the order of the source,
/// swizzled so that the reads of a warp fall into different banks.
SwizzledSharedEncodingAttr
getDotOperandSharedEncoding(RankedTensorType source,
                            DotOperandEncodingAttr operand);

/// The layout of shared memory for a tensor laid out like `source` that is read
/// in the layouts `reads`. Rows are in the order of the source. They are
/// swizzled where this leaves fewer accesses to the banks.
SwizzledSharedEncodingAttr getRowsSharedEncoding(RankedTensorType source,
                                                 ArrayRef<Attribute> reads,
                                                 BankGeometry banks);

} // namespace mlir::triton::gpu

#endif // TILE_DIALECT_TRITONGPU_TRANSFORMS_SHAREDENCODINGS_H
