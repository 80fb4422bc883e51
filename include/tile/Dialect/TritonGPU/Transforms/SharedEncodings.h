//===-- SharedEncodings.h - Choosing layouts of shared memory ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef TILE_DIALECT_TRITONGPU_TRANSFORMS_SHAREDENCODINGS_H
#define TILE_DIALECT_TRITONGPU_TRANSFORMS_SHAREDENCODINGS_H

#include "tile/Dialect/TritonGPU/IR/Dialect.h"

namespace mlir::triton::gpu {

/// The layout of shared memory through which a tensor laid out like `source`
/// becomes the operand `operand` of a dot. Rows are in the order of the source,
/// swizzled so that the reads of a warp fall into different banks.
SwizzledSharedEncodingAttr
getDotOperandSharedEncoding(RankedTensorType source,
                            DotOperandEncodingAttr operand);

/// The layout of shared memory for a tensor laid out like `source` that is read
/// in the layout `read`. In it each lane reads 16 bytes or more of a row of its
/// own. Null where lanes read otherwise, or where no reads would meet.
SwizzledSharedEncodingAttr getRowPerLaneSharedEncoding(RankedTensorType source,
                                                       Attribute read);

} // namespace mlir::triton::gpu

#endif // TILE_DIALECT_TRITONGPU_TRANSFORMS_SHAREDENCODINGS_H
