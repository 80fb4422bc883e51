//===-- LLVMFlagScope.h - Options of LLVM for a while -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_TARGET_LLVMFLAGSCOPE_H
#define TILE_TARGET_LLVMFLAGSCOPE_H

#include "llvm/ADT/StringRef.h"

namespace mlir::triton {

/// Gives an option of LLVM's command line a value for as long as this object
/// lives: a flag, or an unsigned number. Such options belong to the process,
/// and some have no other way in: whoever needs the other value waits
/// meanwhile, and the last one puts back what was there. Some options count
/// only if the command line has them: `isStated` is for these.
class LLVMFlagScope {
public:
  LLVMFlagScope(llvm::StringRef name, bool value, bool isStated = false);
  LLVMFlagScope(llvm::StringRef name, unsigned value);
  ~LLVMFlagScope();
  LLVMFlagScope(const LLVMFlagScope &) = delete;
  LLVMFlagScope &operator=(const LLVMFlagScope &) = delete;

  /// Whether this LLVM has the flag.
  explicit operator bool() const { return flag != nullptr; }

private:
  struct Flag;
  template <typename T>
  void enter(llvm::StringRef name, T value, bool isStated = false);

  Flag *flag = nullptr;
};

} // namespace mlir::triton

#endif // TILE_TARGET_LLVMFLAGSCOPE_H
