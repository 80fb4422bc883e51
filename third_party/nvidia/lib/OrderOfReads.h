//===-- OrderOfReads.h - Bytes read across the inner dimension --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Matrix instructions take bytes that follow one another along K in the words
// of their operands. Bytes that lie across K are read by whole warps, as
// matrices of 16-bit pairs, transposed: a thread gets neighbours of the outer
// dimension by that, where instructions want them further apart. So the outer
// dimension of operand and sum is in another order, the order of reads, in
// which it stays while a loop adds to the sum.
//
//===----------------------------------------------------------------------===//
#ifndef NVIDIA_LIB_ORDEROFREADS_H
#define NVIDIA_LIB_ORDEROFREADS_H

#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"

namespace mlir::triton::nvidia {

/// The operand before it was brought into the layout of the old product.
Value skipConversions(Value operand);

TransOp transpose(OpBuilder &b, Location loc, Value matrix);

/// The memory that products of warp groups read a matrix from, and bulk copies
/// write; it lies there in `order`.
gpu::MemDescType getProductMemory(RankedTensorType type,
                                  ArrayRef<unsigned> order);

/// Index 2 P i + P h + g of a product's dimension, P being the distance, is
/// index 2 P i + 2 g + h of the matrix: what a thread has by one read belongs
/// to places so far apart.
struct OrderOfReads {
  unsigned dim;
  int64_t distance = 8;
};

/// `operand`, transposed if asked for, in the layout of an operand and in the
/// order of reads.
Value readBytes(OpBuilder &b, Location loc, Value operand, bool isTransposed,
                const OrderOfReads &order, gpu::DotOperandEncodingAttr layout);

/// How the sum of a product differs from that of the operation it replaces.
struct SumForm {
  bool isTransposed = false;
  SmallVector<OrderOfReads, 2> orders; ///< of what is transposed already

  bool isSame() const { return !isTransposed && orders.empty(); }
  Value turn(OpBuilder &b, Location loc, Value sum) const;
  /// The reverse, in the layout of `type`.
  Value turnBack(OpBuilder &b, Location loc, Value sum,
                 RankedTensorType type) const;
};

/// Whether a loop carries the sum of `op` and does nothing else with it: it can
/// carry it in any form.
bool isCarriedSum(DotOp op);

/// Replaces `op` by what `multiply` makes of its sum in the form and layout
/// given. A loop that only adds to the sum carries it so.
void multiplyInForm(OpBuilder &b, DotOp op, const SumForm &form,
                    Attribute layout, function_ref<Value(Value sum)> multiply);

} // namespace mlir::triton::nvidia

#endif // NVIDIA_LIB_ORDEROFREADS_H
