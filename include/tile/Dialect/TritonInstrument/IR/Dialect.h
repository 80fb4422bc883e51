//===-- Dialect.h - All of the tti dialect ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITONINSTRUMENT_IR_DIALECT_H
#define TILE_DIALECT_TRITONINSTRUMENT_IR_DIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::triton::instrument {
/// Kernels take two more parameters for each pointer and each descriptor: where
/// the memory of the argument begins, and how many bytes it has.
inline constexpr llvm::StringLiteral kTakesBoundsAttrName = "tti.takes_bounds";

/// What checks read and write.
struct State : SideEffects::Resource::Base<State> {
  StringRef getName() override { return "<SanitizerState>"; }
};
} // namespace mlir::triton::instrument

#include "tile/Dialect/TritonInstrument/IR/Dialect.h.inc"

#define GET_OP_CLASSES
#include "tile/Dialect/TritonInstrument/IR/Ops.h.inc"

#endif // TILE_DIALECT_TRITONINSTRUMENT_IR_DIALECT_H
