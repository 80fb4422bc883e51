//===-- RegisterBudget.h - What registers may be used for -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Passes that keep values in registers ask `TargetModel::getBudget` whether
// there is room. RegisterBudget.cpp has one table of all shares, each with the
// measurement that it comes from.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DIALECT_TRITONGPU_IR_REGISTERBUDGET_H
#define TILE_DIALECT_TRITONGPU_IR_REGISTERBUDGET_H

namespace mlir::triton::gpu {

enum class RegisterPurpose : unsigned {
  /// Results of products, and factors that are kept until the next iteration
  /// beside those of that.
  KeptFactors,
  /// Results of products where as many blocks share a multiprocessor as the
  /// threads are counted for.
  SharedMultiprocessor,
  /// Results of products, and what products that run an iteration late need of
  /// the iteration before.
  LateProducts,
  /// The same, with the factors of two iterations.
  TwoFactors,
  /// All that products take and make, beside loads that are on their way for a
  /// whole iteration.
  LoadsAhead,
  /// Data of a loop beside operands that never change and stay in registers.
  InvariantOperands,
  /// Data of a loop in which reads move away from their users.
  EarlyReads,
};

} // namespace mlir::triton::gpu

#endif // TILE_DIALECT_TRITONGPU_IR_REGISTERBUDGET_H
