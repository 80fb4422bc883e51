//===-- SpillOffsets.cpp - Spills behind the reach of an offset -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A spill of six registers is two instructions. LLVM asks whether the offset of
// the second one has room in it, but for another offset: where it has not, the
// instruction accesses memory in front of the stack. Nothing mends that behind
// it, so the kernel is refused.
//
//===----------------------------------------------------------------------===//

#include "Workarounds.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

/// Whether a line accesses the stack in front of where it begins: no register
/// holds a part of the address that could make up for it.
static bool isInFrontOfStack(llvm::StringRef line) {
  line = line.ltrim();
  if (!line.consume_front("scratch_"))
    return false;
  return line.contains("off, off offset:-") ||
         (line.starts_with("store") && line.contains("off, v") &&
          line.contains(", off offset:-"));
}

LogicalResult triton::amd::checkSpillOffsets(ModuleOp diagnosticOp,
                                             llvm::StringRef assembly) {
  for (llvm::StringRef line : llvm::split(assembly, '\n'))
    if (isInFrontOfStack(line))
      return diagnosticOp.emitError(
          "LLVM has no room for the offset of a spilled value ('spill-offsets' "
          "among its faults): the kernel spills more than 4 KB for each "
          "thread; smaller blocks or more warps need fewer registers");
  return success();
}
