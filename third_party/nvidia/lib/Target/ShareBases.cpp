//===-- ShareBases.cpp - One base for neighbouring addresses --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A thread accesses a tile at several addresses, which often are known
// distances apart. A memory instruction can add such a distance for free. The
// tile's offset in the tensor may be added last. Then LLVM adds the distances
// before, even ahead of the loop. So each access has a pair of registers and an
// addition of its own. This pass gives them one address again.
//
//===----------------------------------------------------------------------===//

#include "nvidia/Target/ShareBases.h"

#include "LoopAnalyses.h"

#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/NVPTXAddrSpace.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace {
bool isGlobalAddress(const Use &operand) {
  auto *type = dyn_cast<PointerType>(operand->getType());
  return type && type->getAddressSpace() == NVPTXAS::ADDRESS_SPACE_GLOBAL;
}

/// The operands of an instruction that are addresses, or are likely to be.
SmallVector<Use *> getAddresses(Instruction &inst) {
  SmallVector<Use *> addresses;
  if (auto *load = dyn_cast<LoadInst>(&inst))
    addresses.push_back(&load->getOperandUse(load->getPointerOperandIndex()));
  else if (auto *store = dyn_cast<StoreInst>(&inst))
    addresses.push_back(&store->getOperandUse(store->getPointerOperandIndex()));
  else if (auto *call = dyn_cast<CallBase>(&inst))
    for (Use &operand : call->args())
      addresses.push_back(&operand);
  erase_if(addresses, [](Use *use) { return !isGlobalAddress(*use); });
  return addresses;
}

/// The constant that an address adds to others.
APInt getConstantPart(const SCEV *address, unsigned bits) {
  if (const auto *loop = dyn_cast<SCEVAddRecExpr>(address))
    return getConstantPart(loop->getStart(), bits);
  if (const auto *sum = dyn_cast<SCEVAddExpr>(address))
    if (const auto *constant = dyn_cast<SCEVConstant>(sum->getOperand(0)))
      return constant->getAPInt();
  return APInt(bits, 0);
}

/// An address that others may start from, and the constant in it.
struct Base {
  Value *address;
  APInt constant;
};

class BaseSharing {
public:
  explicit BaseSharing(ScalarEvolution &evolution) : evolution(evolution) {}

  void run(BasicBlock &block) {
    DenseMap<const SCEV *, Base> bases;
    for (Instruction &inst : block)
      for (Use *use : getAddresses(inst))
        share(*use, bases);
    for (WeakTrackingVH &value : replaced)
      if (value)
        RecursivelyDeleteTriviallyDeadInstructions(value);
    replaced.clear();
  }

private:
  void share(Use &use, DenseMap<const SCEV *, Base> &bases) {
    Value *address = use.get();
    if (!evolution.isSCEVable(address->getType()))
      return;
    const SCEV *known = evolution.getSCEV(address);
    unsigned bits = evolution.getTypeSizeInBits(address->getType());
    APInt constant = getConstantPart(known, bits);
    const SCEV *rest =
        evolution.getAddExpr(known, evolution.getConstant(-constant));
    auto [base, isNew] = bases.try_emplace(rest, Base{address, constant});
    if (isNew || base->second.address == address)
      return;
    int64_t distance = (constant - base->second.constant).getSExtValue();
    auto *user = cast<Instruction>(use.getUser());
    if (!isInt<32>(distance) || !isWorthIt(address, *user))
      return;
    IRBuilder<> builder(user);
    use.set(distance ? builder.CreatePtrAdd(base->second.address,
                                            builder.getInt64(distance))
                     : base->second.address);
    replaced.push_back(address);
  }

  /// Instructions add a constant distance to an address for free. Inline
  /// assembly does not: the address needs an addition of its own. That is worth
  /// it only if it replaces another addition, which nothing else uses.
  static bool isWorthIt(Value *address, const Instruction &user) {
    const auto *call = dyn_cast<CallBase>(&user);
    if (!call || !call->isInlineAsm())
      return true;
    auto *def = dyn_cast<GetElementPtrInst>(address);
    return def && def->getParent() == user.getParent() && def->hasOneUse();
  }

  ScalarEvolution &evolution;
  SmallVector<WeakTrackingVH> replaced;
};
} // namespace

void mlir::triton::nvidia::shareBases(Module &module) {
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    LoopAnalyses analyses(function);
    BaseSharing sharing(analyses.evolution);
    for (BasicBlock &block : function)
      sharing.run(block);
  }
}
