//===-- OrderOfReads.h - Bytes read across the inner dimension --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Matrix instructions on bytes want words of four bytes that follow one another
// along K. Memory may have the bytes across K. Then a whole warp reads them
// with ldmatrix, as transposed matrices of pairs of bytes. This gives a thread
// two neighbours of the outer dimension (rows of A, columns of B), where the
// matrix instruction wants rows that are further apart. The instruction does
// not care which row it is told to compute. So we let it compute the rows in
// another order: the order of reads. A loop keeps its sum in this order, and
// only the result of the loop is brought back.
//
//===----------------------------------------------------------------------===//
#ifndef NVIDIA_LIB_ORDEROFREADS_H
#define NVIDIA_LIB_ORDEROFREADS_H

#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"

namespace mlir::triton::nvidia {

/// The operand before it was brought into the layout of the old dot.
Value skipConversions(Value operand);

TransOp transpose(OpBuilder &b, Location loc, Value matrix);

/// The type of the buffer from which dots of warp groups read a matrix, and to
/// which bulk copies write. `order` is that of its dimensions in memory.
/// `fp4Padded` is for bytes of two 4-bit elements, beside 8-bit elements.
gpu::MemDescType getProductMemory(RankedTensorType type,
                                  ArrayRef<unsigned> order,
                                  bool fp4Padded = false);

/// Which row of the matrix the instruction computes as which row of the dot.
/// Let P be the distance. Row 2 P i + P h + g of the dot is row 2 P i + 2 g + h
/// of the matrix. So two rows that a thread reads together, h = 0 and h = 1,
/// are P rows apart for the instruction.
struct OrderOfReads {
  unsigned dim;
  int64_t distance = 8;
};

/// `operand`, transposed if asked for, in the layout of an operand and in the
/// order of reads.
Value readBytes(OpBuilder &b, Location loc, Value operand, bool isTransposed,
                const OrderOfReads &order, gpu::DotOperandEncodingAttr layout);

/// How the sum of a dot differs from that of the operation that it replaces.
struct SumForm {
  bool isTransposed = false;
  SmallVector<OrderOfReads, 2> orders; ///< of what is transposed already

  bool isSame() const { return !isTransposed && orders.empty(); }
  Value turn(OpBuilder &b, Location loc, Value sum) const;
  /// The reverse, in the layout of `type`.
  Value turnBack(OpBuilder &b, Location loc, Value sum,
                 RankedTensorType type) const;
};

/// Whether a loop carries the sum of `op` and does nothing else with it. Then
/// the loop can carry it in any form.
bool isCarriedSum(DotOp op);

/// Replaces `op`: `multiply` gets the old sum, in the form and layout given,
/// and returns the new sum. A loop that only adds to the sum carries it in this
/// form.
void multiplyInForm(OpBuilder &b, DotOp op, const SumForm &form,
                    Attribute layout, function_ref<Value(Value sum)> multiply);

} // namespace mlir::triton::nvidia

#endif // NVIDIA_LIB_ORDEROFREADS_H
