//===-- TargetTable.h - Facts about the GPUs we compile for -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One table of what each compute capability has. Passes and lowerings ask it by
// the name of the feature (TargetColumns.def), as Python does
// (`tile._C.targets`); nothing else in the compiler computes with capability
// numbers.
//
//===----------------------------------------------------------------------===//
#ifndef NVIDIA_TARGETTABLE_H
#define NVIDIA_TARGETTABLE_H

#include "tile/Target/TargetRow.h"

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace mlir {
class ModuleOp;

namespace triton {

struct NVIDIATarget {
#define TARGET_COLUMN(TYPE, MEMBER, DEFAULT, NAME) TYPE MEMBER = DEFAULT;
#include "nvidia/TargetColumns.def"

  std::string targetString() const;
  /// All columns, for Python.
  TargetRow getRow() const;
};

/// All known targets, by increasing compute capability.
llvm::ArrayRef<NVIDIATarget> getNVIDIATargets();

/// The entry of a compute capability, or null where there is none.
const NVIDIATarget *lookupNVIDIATarget(int computeCapability);

/// The number in "cuda:<number>"; nullopt for anything else.
std::optional<int> parseNVIDIATargetString(llvm::StringRef target);

/// The target of the module's `ttg.target`; emits an error naming the known
/// targets where it is missing or unknown.
FailureOr<const NVIDIATarget *> getNVIDIATarget(ModuleOp module);

} // namespace triton
} // namespace mlir

#endif // NVIDIA_TARGETTABLE_H
