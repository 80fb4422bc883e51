//===-- TargetMachine.h - LLVM's AMDGPU -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef AMD_LIB_TARGET_TARGETMACHINE_H
#define AMD_LIB_TARGET_TARGETMACHINE_H

#include "amd/Target/AMDGCN.h"

#include "llvm/ADT/StringRef.h"

namespace llvm {
class Function;
class Instruction;
} // namespace llvm

namespace mlir::triton::amd {

inline constexpr llvm::StringLiteral kTriple = "amdgcn-amd-amdhsa";

/// The machine that the options, or else the module, name.
FailureOr<std::unique_ptr<llvm::TargetMachine>>
createAMDGPUMachine(ModuleOp module, const AMDGCNOptions &options);

/// Links the functions of the device library that `module` uses, as private
/// ones.
LogicalResult linkDeviceLibrary(ModuleOp diagnosticOp, llvm::Module &module);

/// Makes undefined lanes of 8- and 16-bit constants that phis take zero.
void defineLanesOfConstants(llvm::Module &module);

/// How many vector registers a lane needs at once in the order that LLVM's
/// scheduler gives the code of `module`.
FailureOr<unsigned> measureRegisters(ModuleOp diagnosticOp,
                                     const llvm::Module &module,
                                     llvm::TargetMachine &machine);

/// Gives functions that are called the beginning of LDS for the kernels'
/// variable in it.
void addressSharedMemoryOfFunctions(llvm::Module &module);

/// Leaves it to the program to wait for loads straight into LDS.
void waitForDirectLoadsAsWritten(llvm::Module &module);

/// Whether this reads or writes LDS by an address in a register.
bool accessesSharedMemory(const llvm::Instruction &inst);

/// Takes waits for LDS out where the fence beside them does as well.
void dropRedundantWaits(llvm::Module &module);

struct AMDTarget;

/// Notes on the kernel of `to` how many waves the shared memory of `from`
/// leaves room for.
void markWavesByLDS(ModuleOp from, const AMDTarget &target, llvm::Module &to);

/// Whether this is a matrix instruction.
bool isProduct(const llvm::Instruction &instruction);

/// Keeps LLVM's scheduler from moving dots of a loop behind what is written
/// to LDS after them.
void fenceProducts(llvm::Function &function);

/// Runs the code generator; where registers are scarce in a kernel with matrix
/// products, a second time for fewer of them. The second code is taken if it
/// neither spills more nor leaves registers for fewer waves.
FailureOr<std::string> emitForScarceRegisters(ModuleOp diagnosticOp,
                                              llvm::Module &module,
                                              llvm::TargetMachine &machine);

} // namespace mlir::triton::amd

#endif // AMD_LIB_TARGET_TARGETMACHINE_H
