//===-- HighRegisters.cpp - Registers beyond 256 --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// On gfx1250 LLVM's code generator sets the mode for registers beyond 256 too
// early where a barrier follows the instruction before (LLVM 22,
// AMDGPULowerVGPREncoding). Kernels do without these registers.
//
//===----------------------------------------------------------------------===//

#include "Workarounds.h"

#include "llvm/IR/Module.h"

void mlir::triton::amd::limitToLowRegisters(llvm::Module &module) {
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      function.addFnAttr("amdgpu-num-vgpr", "256");
}
