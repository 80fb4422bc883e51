//===-- LLVMFlagScope.h - Options of LLVM for a while -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_TARGET_LLVMFLAGSCOPE_H
#define TILE_TARGET_LLVMFLAGSCOPE_H

#include "llvm/ADT/StringRef.h"

namespace mlir::triton {

/// Gives a flag of LLVM's command line a value for as long as this object
/// lives. Such flags belong to the process, and some have no other way in:
/// whoever needs the other value waits meanwhile, and the last one puts back
/// what was there.
class LLVMFlagScope {
public:
  LLVMFlagScope(llvm::StringRef name, bool value);
  ~LLVMFlagScope();
  LLVMFlagScope(const LLVMFlagScope &) = delete;
  LLVMFlagScope &operator=(const LLVMFlagScope &) = delete;

  /// Whether this LLVM has the flag.
  explicit operator bool() const { return flag != nullptr; }

private:
  struct Flag;
  Flag *flag;
};

} // namespace mlir::triton

#endif // TILE_TARGET_LLVMFLAGSCOPE_H
