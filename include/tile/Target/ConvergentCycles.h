//===-- ConvergentCycles.h - Loops whose threads stay together --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_TARGET_CONVERGENTCYCLES_H
#define TILE_TARGET_CONVERGENTCYCLES_H

namespace llvm {
class Function;
class Instruction;
class Module;
} // namespace llvm

namespace mlir::triton {

/// A convergent operation (a barrier, an exchange between lanes) in a loop of
/// `module` that has several entries; null if there is none. Threads of a warp
/// that enter such a loop at different blocks come to the operation one after
/// the other.
const llvm::Instruction *findConvergentInIrreducible(llvm::Module &module);

} // namespace mlir::triton

#endif // TILE_TARGET_CONVERGENTCYCLES_H
