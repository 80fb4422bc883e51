//===-- LoopBounds.h - Whether a loop has an iteration ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITON_IR_LOOPBOUNDS_H
#define TILE_DIALECT_TRITON_IR_LOOPBOUNDS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::triton {

/// Whether `loop` has an iteration whose counter is `counter`, for one that it
/// starts at or comes to; compared as the loop compares it.
inline Value hasIteration(OpBuilder &builder, Location loc, scf::ForOp loop,
                          Value counter) {
  return arith::CmpIOp::create(builder, loc,
                               loop.getUnsignedCmp()
                                   ? arith::CmpIPredicate::ult
                                   : arith::CmpIPredicate::slt,
                               counter, loop.getUpperBound());
}

/// Whether `loop` has an iteration at all.
inline Value hasIterations(OpBuilder &builder, Location loc, scf::ForOp loop) {
  return hasIteration(builder, loc, loop, loop.getLowerBound());
}

} // namespace mlir::triton

#endif // TILE_DIALECT_TRITON_IR_LOOPBOUNDS_H
