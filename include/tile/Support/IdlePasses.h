//===-- IdlePasses.h - Passes without anything to do ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Some passes are for some machines only, and some names stand for nothing.
// Who writes them on a command line is to be told, so backends say here which
// these are.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_SUPPORT_IDLEPASSES_H
#define TILE_SUPPORT_IDLEPASSES_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"

#include <memory>
#include <optional>

namespace mlir {
class Pass;

namespace triton {

/// Passes that only some machines need.
struct PassesForMachines {
  /// Whether the pass of this name is one.
  bool (*contain)(StringRef pass);
  /// Whether the machine of this `ttg.target` needs them.
  bool (*suit)(StringRef target);
  /// Such as "NVIDIA GPUs".
  StringRef machines;
};

/// To be called when passes are registered.
void addPassesForMachines(const PassesForMachines &passes);

/// The machines that a pass is for, where this one is none of them.
std::optional<StringRef> findOtherMachines(StringRef pass, StringRef target);

/// A pass of this name that does nothing. Both texts must outlive it.
std::unique_ptr<Pass> createIdlePass(StringRef name, StringRef reason);

/// Why a pass does nothing, if it is made by the function above.
std::optional<StringRef> getReasonOfIdlePass(Pass *pass);

} // namespace triton
} // namespace mlir

#endif // TILE_SUPPORT_IDLEPASSES_H
