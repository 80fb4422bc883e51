//===-- LLVMWorkarounds.h - What is done about faults of LLVM ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// LLVM's code generator has faults that kernels may run into. Each backend has
// one table of them, Target/LLVM22/Workarounds.cpp, and a file for each of them
// beside it. The functions here apply a table. docs/rationale/llvm-22.md says
// what each fault is, what shows it, and what removes the workaround.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TARGET_LLVMWORKAROUNDS_H
#define TILE_TARGET_LLVMWORKAROUNDS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace llvm {
class Module;
class TargetMachine;
class TargetPassConfig;
} // namespace llvm

namespace mlir::triton {

/// What is done about one fault.
struct LLVMWorkaround {
  /// The name of its row in docs/rationale/llvm-22.md.
  llvm::StringLiteral name;
  /// The part of LLVM that has the fault.
  llvm::StringLiteral component;
  /// The processors that meet it, by the beginnings of their names; empty for
  /// all.
  llvm::ArrayRef<llvm::StringLiteral> processors = {};

  // How it is kept away: one of these.

  /// Features of the processor that are switched off, as "-a,-b".
  llvm::StringLiteral features = "";
  /// Rewrites the module before code is generated.
  void (*rewrite)(llvm::Module &) = nullptr;
  /// Puts a pass of ours behind passes of the code generator.
  void (*insertPass)(llvm::TargetPassConfig &) = nullptr;

  bool concerns(llvm::StringRef processor) const;
};

/// The features that a table switches off for a processor, to be appended to
/// what the target machine is asked for.
std::string getFeaturesOfWorkarounds(llvm::ArrayRef<LLVMWorkaround> table,
                                     llvm::StringRef processor);

/// Rewrites a module for the machine, row by row.
void applyWorkarounds(llvm::ArrayRef<LLVMWorkaround> table,
                      llvm::Module &module, const llvm::TargetMachine &machine);

/// Has all code generators for this architecture of LLVM's ("amdgcn") run the
/// passes of a table from now on. The table must live as long as the process.
void insertPassesOfWorkarounds(llvm::StringRef architecture,
                               llvm::ArrayRef<LLVMWorkaround> table);

} // namespace mlir::triton

#endif // TILE_TARGET_LLVMWORKAROUNDS_H
