//===-- Dialect.h - All of the proton dialect -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_PROTON_IR_DIALECT_H
#define TILE_DIALECT_PROTON_IR_DIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::triton::proton {
inline constexpr llvm::StringLiteral kRecordsAttrName = "proton.records";

/// What records write.
struct Records : SideEffects::Resource::Base<Records> {
  StringRef getName() override { return "<ProtonRecords>"; }
};
} // namespace mlir::triton::proton

#include "tile/Dialect/Proton/IR/Dialect.h.inc"

#define GET_OP_CLASSES
#include "tile/Dialect/Proton/IR/Ops.h.inc"

#endif // TILE_DIALECT_PROTON_IR_DIALECT_H
