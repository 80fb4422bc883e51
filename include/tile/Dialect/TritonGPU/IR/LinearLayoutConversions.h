//===-- LinearLayoutConversions.h - Encodings as linear layouts -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Every encoding is a name for a linear layout:
//
//  - of a tensor:            register, lane, warp, block -> dim0, dim1, ...
//  - of a memory descriptor: offset (in elements), block -> dim0, dim1, ...
//
// The out dims have the sizes of the shape. Where the shape is larger than what
// the encoding covers, the pattern repeats over further registers (or offsets).
// Where it is smaller, indices wrap, and what wraps is held more than once: the
// layout has zero bases. Layouts of memory descriptors are those of the whole
// buffer (the allocation shape), without the leading dimension of an array of
// buffers. Offsets into subviews are the business of the lowering.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DIALECT_TRITONGPU_IR_LINEARLAYOUTCONVERSIONS_H
#define TILE_DIALECT_TRITONGPU_IR_LINEARLAYOUTCONVERSIONS_H

#include "mlir/IR/BuiltinTypes.h"
#include "tile/Layout/LinearLayout.h"

namespace mlir::triton::gpu {

class MemDescType;

/// The layout of an encoding over a shape of powers of two. If there is none,
/// calls `emitError` (if given) for a diagnostic that says why, and fails.
FailureOr<LinearLayout>
tryToLinearLayout(ArrayRef<int64_t> shape, Attribute encoding,
                  function_ref<InFlightDiagnostic()> emitError = nullptr);

/// The same where it is known to exist, as for any type that was verified.
LinearLayout toLinearLayout(ArrayRef<int64_t> shape, Attribute encoding);
LinearLayout toLinearLayout(RankedTensorType type);
LinearLayout toLinearLayout(MemDescType type);

/// The layout of an nvmma_shared buffer as if it had no swizzle: what the
/// addresses that TMA and matrix descriptors take refer to.
LinearLayout nvmmaSharedToUnswizzledLayout(ArrayRef<int64_t> shape,
                                           Attribute encoding);

} // namespace mlir::triton::gpu

namespace mlir::triton {
using gpu::toLinearLayout;
} // namespace mlir::triton

#endif // TILE_DIALECT_TRITONGPU_IR_LINEARLAYOUTCONVERSIONS_H
