//===-- SharedMemoryOfFunctions.cpp - Where functions find LDS ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels pass their shared memory to the functions that they call, but LLVM's
// interprocedural passes put the variable in place of the argument. For a
// variable of LDS in a function, its code generator makes a table of where each
// kernel has it, in writable data that a loader would have to fill. All kernels
// have this one at the beginning of LDS.
//
//===----------------------------------------------------------------------===//

#include "TargetMachine.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ReplaceConstant.h"

using namespace llvm;

void mlir::triton::amd::addressSharedMemoryOfFunctions(Module &module) {
  constexpr unsigned lds = 3;
  GlobalVariable *memory = nullptr;
  for (GlobalVariable &global : module.globals()) {
    if (global.getAddressSpace() != lds)
      continue;
    // Of several, none would be at a place that is known here.
    if (memory)
      return;
    memory = &global;
  }
  if (!memory)
    return;
  // Each instruction that this makes is looked for in its block: of a large
  // kernel that would take the square of its size, for nothing.
  for (Function &function : module)
    if (function.getCallingConv() != CallingConv::AMDGPU_KERNEL &&
        !function.isDeclaration())
      convertUsersOfConstantsToInstructions({memory}, &function);
  auto *beginning = ConstantPointerNull::get(memory->getType());
  memory->replaceUsesWithIf(beginning, [](Use &use) {
    auto *user = dyn_cast<Instruction>(use.getUser());
    return user &&
           user->getFunction()->getCallingConv() != CallingConv::AMDGPU_KERNEL;
  });
}
