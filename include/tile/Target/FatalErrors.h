//===-- FatalErrors.h - Errors at which LLVM ends the process ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM ends the process where it cannot go on, at an intrinsic that the target
// lacks for example. That must not end Python. So LLVM is left by an exception
// there. Neither LLVM nor our libraries clean up where one passes: what they
// held is lost, and what LLVM worked on may still be referred to. Therefore the
// exception ends in `runGuarded`, which stands inside of all that has to be
// cleaned up, and what LLVM worked on is not freed.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TARGET_FATALERRORS_H
#define TILE_TARGET_FATALERRORS_H

#include "mlir/Support/LLVM.h"

#include <memory>
#include <string>

namespace mlir {
class ModuleOp;

namespace triton {

/// What is thrown where LLVM would have ended the process.
struct FatalError {
  std::string reason;
};

/// Has LLVM throw a `FatalError` instead of ending the process, from now on.
void throwFatalErrors();

/// How many were thrown on this thread.
unsigned countFatalErrors();

/// Runs `work`, and fails with a diagnostic where a `FatalError` leaves it.
LogicalResult runGuarded(ModuleOp diagnosticOp,
                         llvm::function_ref<void()> work);

/// Owns what LLVM works on: frees it, unless a fatal error came since.
struct FreeUnlessFatal {
  unsigned before = countFatalErrors();
  template <typename T> void operator()(T *object) const {
    if (countFatalErrors() == before)
      delete object;
  }
};
template <typename T> using LLVMOwner = std::unique_ptr<T, FreeUnlessFatal>;

} // namespace triton
} // namespace mlir

#endif // TILE_TARGET_FATALERRORS_H
