//===-- BufferBase.h - What buffers start at --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef AMD_TRITONAMDGPUTRANSFORMS_BUFFERBASE_H
#define AMD_TRITONAMDGPUTRANSFORMS_BUFFERBASE_H

#include "mlir/IR/Value.h"

namespace mlir::triton::amd {

class OffsetRanges;

/// Whether all that is accessed through a scalar pointer lies in the 2^31 bytes
/// behind it: the pointer only went up from an argument of a kernel, which is
/// marked `tt.pointer_range = 32`, or is taken to be small. The latter is noted
/// on the function, for the launcher to check, and not done where the module
/// says that nothing is to be assumed of arguments.
bool requireSmallBuffer(Value base, const OffsetRanges &ranges);

/// The same without anything that would have to be noted.
bool isSmallBuffer(Value base, const OffsetRanges &ranges);

} // namespace mlir::triton::amd

#endif // AMD_TRITONAMDGPUTRANSFORMS_BUFFERBASE_H
