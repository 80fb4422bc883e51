//===-- UndefinedLanes.cpp - Lanes of constants that share a register -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM widens vectors of 8- and 16-bit values. What it adds to a constant stays
// undefined. Such a vector may be one of a phi's values. Then a register that
// nothing has written goes where other paths bring a register with a value.
// Later the undefined bits are shifted out. The simulator checks for registers
// that nothing has written, and knows whole registers only. So this pass makes
// such lanes zero.
//
//===----------------------------------------------------------------------===//

#include "TargetMachine.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;

/// The vector with zeros where it is undefined; null if it has values of whole
/// registers, or none at all.
static Constant *defineLanes(Constant *value) {
  auto *type = dyn_cast<FixedVectorType>(value->getType());
  if (!type || type->getScalarSizeInBits() >= 32 || isa<UndefValue>(value) ||
      !value->containsUndefOrPoisonElement())
    return nullptr;
  return Constant::replaceUndefsWith(
      value, Constant::getNullValue(type->getElementType()));
}

void mlir::triton::amd::defineLanesOfConstants(Module &module) {
  for (Function &function : module)
    for (BasicBlock &block : function)
      for (PHINode &phi : block.phis())
        for (Use &incoming : phi.incoming_values())
          if (auto *constant = dyn_cast<Constant>(incoming.get()))
            if (Constant *defined = defineLanes(constant))
              incoming.set(defined);
}
