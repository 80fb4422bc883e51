//===-- Elements.h - The elements of tensors as values ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_CONVERSION_TRITONGPUTOLLVM_ELEMENTS_H
#define TILE_CONVERSION_TRITONGPUTOLLVM_ELEMENTS_H

#include "tile/Conversion/TritonGPUToLLVM/LLVMBuilder.h"
#include "tile/Conversion/TritonGPUToLLVM/TypeConverter.h"

namespace mlir::triton {

/// The element type of a tensor; any other type (a memdesc too) as it is.
inline Type getTensorElementOrSelf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.getElementType() : type;
}

/// The elements that a converted value of type `original` holds: one per
/// register for a tensor, the value itself for anything else.
SmallVector<Value> unpackElements(const LLVMBuilder &b, Value converted,
                                  Type original);

/// The reverse. A tensor becomes an `unrealized_conversion_cast` from its
/// elements to a struct: one operation however many elements there are, which
/// `unpackElements` looks through and `expandPackedTensors` replaces at the
/// end.
Value packElements(const LLVMBuilder &b, const TypeConverter &converter,
                   ArrayRef<Value> elements, Type original);

/// Splits block arguments that are structs of elements into one argument per
/// element: LLVM's optimiser sees through scalars only. Replaces what is left
/// of the casts of `packElements` with insertvalue/extractvalue.
void expandPackedTensors(Operation *root);

/// Applies `fn` to each 32-bit word of a value of any element type.
Value mapWords(const LLVMBuilder &b, Value value,
               function_ref<Value(Value word)> fn);

} // namespace mlir::triton

#endif // TILE_CONVERSION_TRITONGPUTOLLVM_ELEMENTS_H
