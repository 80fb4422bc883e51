//===-- CoalescedAccess.h - Layouts of memory accesses ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Two neighbouring threads should access neighbouring addresses, and each of
// them as many as one instruction moves. Which dimension holds neighbours, and
// how many, is for axis info to say.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DIALECT_TRITONGPU_TRANSFORMS_COALESCEDACCESS_H
#define TILE_DIALECT_TRITONGPU_TRANSFORMS_COALESCEDACCESS_H

#include "tile/Analysis/AxisInfo.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"

namespace mlir::triton::gpu {

/// What one memory operation wants.
struct CoalescedAccess {
  Operation *op;
  /// Fastest dimension first.
  SmallVector<unsigned> order;
  /// Neighbours along order[0] that one instruction may access.
  int64_t vector = 1;
  /// Whether the operation writes to memory.
  bool writes = false;
  /// What stands in the way of wider accesses than of one element; empty if
  /// nothing does.
  StringRef obstacle = "";
};

/// The tensor of pointers that `op` goes through, or null.
Value getAccessedPointers(Operation *op);

/// Dimensions by descending contiguity; row-major among equals.
SmallVector<unsigned> orderByContiguity(ArrayRef<int64_t> contiguity);

/// What an operation wants that goes through a tensor of pointers.
CoalescedAccess describeAccess(Operation *op,
                               const ModuleAxisInfoAnalysis &axisInfo);

/// The layout of an access to a tensor of `shape` in which a thread owns
/// `perThread` neighbours, or fewer where threads would be left without any. Of
/// what may be copied asynchronously it owns `getLeastCopied` at least.
BlockedEncodingAttr getCoalescedLayout(const CoalescedAccess &access,
                                       ArrayRef<int64_t> shape,
                                       int64_t perThread, CTALayoutAttr ctas);

/// How many neighbours a thread needs for the smallest asynchronous copy, if
/// `op` is a load of a loop and may become such a copy. Then it leads to a dot,
/// or the loop has dots and asks for stages. One elsewhere.
int64_t getLeastCopied(Operation *op);

} // namespace mlir::triton::gpu

#endif // TILE_DIALECT_TRITONGPU_TRANSFORMS_COALESCEDACCESS_H
