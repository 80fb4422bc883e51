//===-- LinearLayoutConversionsDetail.h - Parts of the conversion ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_DIALECT_TRITONGPU_IR_LINEARLAYOUTCONVERSIONSDETAIL_H
#define TILE_LIB_DIALECT_TRITONGPU_IR_LINEARLAYOUTCONVERSIONSDETAIL_H

#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"

namespace mlir::triton::gpu::layouts {

using EmitError = function_ref<InFlightDiagnostic()>;
using OutBases = LinearLayout::DimBases;

/// Reports `message` if somebody listens; converts to any failure.
LogicalResult fail(EmitError emitError, const Twine &message);

/// Dimensions from the last to the first.
SmallVector<unsigned> rowMajorOrder(unsigned rank);

/// What one block holds of a tensor of this shape; `blocks` is a layout from
/// "block" to as many parts of each dim as there are.
SmallVector<int64_t> shapePerBlock(ArrayRef<int64_t> shape,
                                   const LinearLayout &blocks);

/// Wraps what exceeds `shape` and repeats along `inDim` what falls short of it,
/// along the dims in `order`.
LinearLayout fitToShape(const LinearLayout &tile, ArrayRef<int64_t> shape,
                        StringRef inDim, ArrayRef<unsigned> order);

/// From the layout of one block's tile (without the in dim "block") to that of
/// the tensor.
LinearLayout combineWithBlocks(const LinearLayout &tile,
                               ArrayRef<int64_t> shape,
                               const LinearLayout &blocks, StringRef inDim,
                               ArrayRef<unsigned> order);

/// A grid of `sizes` counted by `inDim`, the dims in `order`; `broadcastDim`
/// gets zero bases instead.
LinearLayout gridLayout(StringRef inDim, ArrayRef<unsigned> sizes,
                        ArrayRef<unsigned> order,
                        std::optional<unsigned> broadcastDim = std::nullopt);

/// A layout given by two-dimensional bases of a matrix instruction, over the
/// last two dims of `rank`; with `swap`, over them the other way round.
LinearLayout matrixTile(unsigned rank, const OutBases &registers,
                        const OutBases &lanes, bool swap = false);

FailureOr<LinearLayout> blockedToLinear(ArrayRef<int64_t> shape,
                                        BlockedEncodingAttr encoding);
FailureOr<LinearLayout> dotOfBlockedToLinear(ArrayRef<int64_t> shape,
                                             DotOperandEncodingAttr encoding,
                                             EmitError emitError);
/// Any encoding with SharedEncodingTrait.
FailureOr<LinearLayout> sharedToLinear(ArrayRef<int64_t> shape,
                                       Attribute encoding, EmitError emitError);

} // namespace mlir::triton::gpu::layouts

#endif // TILE_LIB_DIALECT_TRITONGPU_IR_LINEARLAYOUTCONVERSIONSDETAIL_H
