//===-- RegisterBudget.h - What registers may be used for -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Passes that keep values in registers ask `TargetModel::getBudget` whether
// there is room. What a thread takes beside the values that a pass counts, they
// ask `getRegisterNeed`. RegisterBudget.cpp has one table of all shares and one
// of all needs, each entry with the measurement that it comes from.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DIALECT_TRITONGPU_IR_REGISTERBUDGET_H
#define TILE_DIALECT_TRITONGPU_IR_REGISTERBUDGET_H

#include <cstdint>

namespace mlir::triton::gpu {

enum class RegisterPurpose : unsigned {
  /// Results of dots, and factors that are kept until the next iteration
  /// beside those of that.
  KeptFactors,
  /// Results of dots where as many blocks share a multiprocessor as the
  /// threads are counted for.
  SharedMultiprocessor,
  /// Results of dots, and what dots that run an iteration late need of
  /// the iteration before.
  LateProducts,
  /// The same, with the factors of two iterations.
  TwoFactors,
  /// All that dots take and make, beside loads that are on their way for a
  /// whole iteration.
  LoadsAhead,
  /// Data of a loop beside operands that never change and stay in registers.
  InvariantOperands,
  /// Data of a loop in which reads move away from their users.
  EarlyReads,
  /// A thread for which the assembler takes so many registers, if more blocks
  /// reside where it has fewer: it must have more than this.
  MoreBlocks,
};

enum class RegisterNeed : unsigned {
  /// A thread that only starts bulk copies, or whose copies are all at known
  /// distances from its first.
  Copies,
  /// The loop of a thread whose copies have addresses of their own.
  CopyLoop,
  /// One such address.
  CopyAddress,
  /// Addresses and counters of a loop, beside all its tensors.
  LoopScalars,
  /// What threads take beside results of dots and operands that stay in
  /// registers.
  BesideOperands,
  /// What the default group takes beside results of its dots, where
  /// partitions copy for it.
  BesideResults,
  /// A left operand which all iterations read from registers.
  InvariantLeftOperand,
};

int64_t getRegisterNeed(RegisterNeed need);

/// How many of `registers`, which a thread of `numWarps` warps has, values may
/// take for `purpose`.
int64_t getRegisterShare(RegisterPurpose purpose, int64_t registers,
                         unsigned numWarps);

/// Groups of warps hand registers to each other in such units, and keep at
/// least so many (setmaxnreg).
inline constexpr int kRegisterUnit = 8, kLeastRegisters = 24;

} // namespace mlir::triton::gpu

#endif // TILE_DIALECT_TRITONGPU_IR_REGISTERBUDGET_H
