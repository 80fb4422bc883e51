//===-- Dialect.h - All of the debug dialect --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_DEBUG_IR_DIALECT_H
#define TILE_DIALECT_DEBUG_IR_DIALECT_H

#include "tile/Dialect/Triton/IR/Dialect.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::triton::debug {
/// What the operations write.
struct Marks : SideEffects::Resource::Base<Marks> {
  StringRef getName() override { return "<DebugMarks>"; }
};
} // namespace mlir::triton::debug

#include "tile/Dialect/Debug/IR/Dialect.h.inc"

#define GET_OP_CLASSES
#include "tile/Dialect/Debug/IR/Ops.h.inc"

#endif // TILE_DIALECT_DEBUG_IR_DIALECT_H
