//===-- Workarounds.h - What is done about faults of LLVM -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef AMD_LIB_TARGET_LLVM22_WORKAROUNDS_H
#define AMD_LIB_TARGET_LLVM22_WORKAROUNDS_H

#include "mlir/IR/BuiltinOps.h"
#include "tile/Target/LLVMWorkarounds.h"

namespace llvm {
class CallInst;
class Instruction;
} // namespace llvm

namespace mlir::triton::amd {

/// The table: one row for each fault.
llvm::ArrayRef<LLVMWorkaround> getLLVMWorkarounds();

/// Has an empty assembly statement take the result of `inst`, and hand it to
/// whoever used it: nothing is merged into one, or knows what it gives.
llvm::CallInst &passThroughAssembly(llvm::Instruction &inst);

/// Takes values that are the same in all lanes out of exchanges between lanes.
void foldConstantShuffles(llvm::Module &module);

/// Writes words of 64-bit disjunctions that are known to be -1 as constants.
void writeKnownWords(llvm::Module &module);

/// Keeps values from other lanes out of dots for which gfx12 has no such form.
void keepShufflesOutOfWideProducts(llvm::Module &module);

/// Has 32 bits of factors be right where these are multiplied and added to 64.
void keepFactorsWhole(llvm::Module &module);

/// Has the signs of integers whose bits are floating-point numbers be extended.
void keepSignsOfFloats(llvm::Module &module);

/// Keeps matrix products out of branches that only some lanes take.
void keepProductsInTheirBlocks(llvm::Module &module);

/// Keeps loads of 8 and 16 bits through buffers where they are.
void keepNarrowLoadsInOrder(llvm::Module &module);

/// Has kernels do without registers beyond 256.
void limitToLowRegisters(llvm::Module &module);

/// Has LLVM keep what instructions with DPP take besides in registers that they
/// may take it from.
void keepDPPOperandsInRegisters(llvm::TargetPassConfig &config);

/// Has LLVM merge the masks of lanes that loops carry behind what they are
/// computed from.
void moveComparisonsToBranches(llvm::TargetPassConfig &config);

/// Refuses assembly in which a spilled value lies in front of the stack.
LogicalResult checkSpillOffsets(ModuleOp diagnosticOp,
                                llvm::StringRef assembly);

} // namespace mlir::triton::amd

#endif // AMD_LIB_TARGET_LLVM22_WORKAROUNDS_H
