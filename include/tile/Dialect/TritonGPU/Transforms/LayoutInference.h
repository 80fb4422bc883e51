//===-- LayoutInference.h - How operations relate layouts -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Three kinds of operations, as far as layouts are concerned:
//
//  - those that work in any layout, where the one of the operands decides about
//    the one of the results (arithmetic, shape changes, reductions, ...);
//  - those that read an operand in whatever layout it comes, without bearing on
//    their results (local_alloc, histogram, print, ...);
//  - all others, whose layouts were chosen on purpose (memory accesses, matrix
//    products) or are part of an interface (calls, returns).
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DIALECT_TRITONGPU_TRANSFORMS_LAYOUTINFERENCE_H
#define TILE_DIALECT_TRITONGPU_TRANSFORMS_LAYOUTINFERENCE_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace mlir::triton::gpu {

/// The type as a tensor with an encoding; null for anything else.
RankedTensorType getLaidOutTensor(Type type);
/// The encoding of such a tensor; null for anything else.
Attribute getLayout(Value value);
/// Gives a tensor value another encoding in place; constants are adapted.
void setLayout(Value value, Attribute layout);

/// True if the operation works in any layout: its tensor operands share one,
/// from which the ones of its results follow. ttg.convert_layout is not among
/// them.
bool isLayoutFlexible(Operation *op);
/// True if `operand` may have any layout, whatever the results have.
bool acceptsAnyLayout(OpOperand &operand);
/// True if an operation that is not flexible makes its tensor results in a
/// layout worth keeping: others should follow it.
bool isLayoutAnchor(Operation *op);

/// Of a flexible operation: the layout of `result` if the operands have
/// `operandLayout`; null if there is none. The tensor operands that it speaks
/// of are those for which `acceptsAnyLayout` is false.
Attribute inferResultLayout(OpResult result, Attribute operandLayout);
/// Of a flexible operation: the layout of the operands from which `result` gets
/// `resultLayout` (or an equivalent one); null if there is none.
Attribute inferOperandLayout(OpResult result, Attribute resultLayout);

/// True if the results cost next to nothing to make in another layout: they
/// depend on no other tensor.
bool isLayoutFree(Operation *op);

/// True for a load of fewer elements than there are threads: every one is
/// loaded several times, so the layout matters little.
bool isSmallLoad(Operation *op);

} // namespace mlir::triton::gpu

#endif // TILE_DIALECT_TRITONGPU_TRANSFORMS_LAYOUTINFERENCE_H
