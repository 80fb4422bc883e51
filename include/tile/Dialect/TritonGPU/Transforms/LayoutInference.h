//===-- LayoutInference.h - How operations relate layouts -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// LayoutInferenceOpInterface, asked about operations of all dialects.
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

/// The roles of operations (see LayoutRole), loads that are small included
/// among the flexible ones: their layout is that of the pointers.
bool isLayoutFlexible(Operation *op);
bool isLayoutFree(Operation *op);
bool isLayoutAnchor(Operation *op);
/// True if `operand` may have any layout, whatever the results have.
bool acceptsAnyLayout(OpOperand &operand);

/// Of a flexible operation: the layout of `result` if the operands have
/// `operandLayout`; null if there is none. The tensor operands that it speaks
/// of are those for which `acceptsAnyLayout` is false.
Attribute inferResultLayout(OpResult result, Attribute operandLayout);
/// Of a flexible operation: the layout of the operands from which `result` gets
/// `resultLayout` (or an equivalent one); null if there is none.
Attribute inferOperandLayout(OpResult result, Attribute resultLayout);

/// True for a load of fewer elements than there are threads: every one is
/// loaded several times, so the layout matters little.
bool isSmallLoad(Operation *op);

} // namespace mlir::triton::gpu

#endif // TILE_DIALECT_TRITONGPU_TRANSFORMS_LAYOUTINFERENCE_H
