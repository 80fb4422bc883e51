//===-- TargetTable.h - Facts about AMD GPUs --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One table of what each processor has. Passes and lowerings ask it by the name
// of the feature; nothing else in the backend looks into the name of a target.
//
//===----------------------------------------------------------------------===//
#ifndef AMD_TARGETTABLE_H
#define AMD_TARGETTABLE_H

#include "mlir/Support/LLVM.h"
#include "tile/Target/TargetRow.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace mlir {
class ModuleOp;

namespace triton::amd {

struct AMDTarget {
#define TARGET_COLUMN(TYPE, MEMBER, DEFAULT, NAME) TYPE MEMBER = DEFAULT;
#include "amd/TargetColumns.def"

  std::string targetString() const;
  /// All columns, for Python.
  TargetRow getRow() const;
};

/// All known targets.
llvm::ArrayRef<AMDTarget> getAMDTargets();

/// The entry of a processor, or null where there is none.
const AMDTarget *lookupAMDTarget(llvm::StringRef processor);

/// The target of the module's `ttg.target`, as in "hip:gfx942"; emits an error
/// naming the known targets where it is missing or unknown.
FailureOr<const AMDTarget *> getAMDTarget(ModuleOp module);

/// Makes the first of `processors` that is not empty the module's target.
void setAMDTarget(ModuleOp module, llvm::ArrayRef<llvm::StringRef> processors);

} // namespace triton::amd
} // namespace mlir

#endif // AMD_TARGETTABLE_H
