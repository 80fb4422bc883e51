//===-- Dialect.h - Everything of the tt dialect --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITON_IR_DIALECT_H
#define TILE_DIALECT_TRITON_IR_DIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "tile/Dialect/Triton/IR/Dialect.h.inc"
#include "tile/Dialect/Triton/IR/Interfaces.h"
#include "tile/Dialect/Triton/IR/OpsEnums.h.inc"
#include "tile/Dialect/Triton/IR/Traits.h"
#include "tile/Dialect/Triton/IR/Types.h"

namespace mlir::triton {

/// The memory that the pointers of a kernel point to.
struct GlobalMemory : public SideEffects::Resource::Base<GlobalMemory> {
  StringRef getName() final { return "<GlobalMemory>"; }
};

} // namespace mlir::triton

#define GET_OP_CLASSES
#include "tile/Dialect/Triton/IR/Ops.h.inc"

namespace mlir::triton {

/// True if `value` is a constant, a splat of one included, all of whose
/// elements are one (zero).
bool isConstantOne(Value value);
bool isConstantZero(Value value);

/// The attribute of a constant or of a splat of a constant: a SplatElementsAttr
/// for tensors. Null if `value` is no such thing.
TypedAttr getSplatConstant(Value value);

} // namespace mlir::triton

#endif // TILE_DIALECT_TRITON_IR_DIALECT_H
