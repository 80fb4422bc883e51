//===-- SignedOperands.cpp - Signs of parts of registers ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An instruction with SDWA takes 8 or 16 bits of a register as its operand, and
// extends them. LLVM has it do so in place of the instruction that extends them
// (LLVM 22, SIPeepholeSDWA). Arithmetic on floating-point numbers cannot extend
// a sign, and LLVM does not look: the other bits are zero then. So an integer
// whose sign was extended comes out of an empty assembly statement where its
// bits are taken for a floating-point number.
//
//===----------------------------------------------------------------------===//

#include "Workarounds.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;

/// Whether at most the lower half of its bits, extended by their sign, may be
/// what `value` is.
static bool mayBeExtended(const Value &value, const DataLayout &layout) {
  unsigned bits = value.getType()->getScalarSizeInBits();
  return !isa<Constant>(value) &&
         ComputeNumSignBits(&value, layout) > bits / 2 &&
         !isKnownNonNegative(&value, layout);
}

void mlir::triton::amd::keepSignsOfFloats(Module &module) {
  for (Function &function : module)
    for (Instruction &inst : make_early_inc_range(instructions(function))) {
      auto *cast = dyn_cast<BitCastInst>(&inst);
      if (cast && cast->getType()->isFloatingPointTy() &&
          cast->getSrcTy()->isIntegerTy() &&
          mayBeExtended(*cast->getOperand(0), module.getDataLayout()))
        passThroughAssembly(*cast);
    }
}
