//===-- BufferBase.h - What buffers start at --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef AMD_TRITONAMDGPUTRANSFORMS_BUFFERBASE_H
#define AMD_TRITONAMDGPUTRANSFORMS_BUFFERBASE_H

#include "mlir/IR/Value.h"

namespace mlir::triton::amd {

class OffsetRanges;

/// Whether everything that is accessed through a scalar pointer lies in the
/// 2^31 bytes behind it. This holds if the pointer is an argument of a kernel
/// plus something that is not negative, and if the argument is marked
/// `tt.pointer_range = 32` or assumed to be small. An assumption becomes an
/// attribute of the function, and the launcher checks it. Nothing is assumed
/// where the module says so.
bool requireSmallBuffer(Value base, const OffsetRanges &ranges);

/// The same without anything that would have to be noted.
bool isSmallBuffer(Value base, const OffsetRanges &ranges);

} // namespace mlir::triton::amd

#endif // AMD_TRITONAMDGPUTRANSFORMS_BUFFERBASE_H
