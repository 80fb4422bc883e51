//===-- LaneMasks.cpp - Where loops put their masks together --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM's code generator merges the mask of lanes that a loop carries at the
// block's end or, where the branch there reads SCC, before the comparison that
// sets it. If the mask is computed behind that comparison, it is merged before
// it is there, and the next iteration gets the mask of the one before (LLVM 22,
// SILowerI1Copies). A pass before that one moves such comparisons down to their
// branches.
//
// LLVM's headers for this target are not to be had outside of it, so its
// registers are found by their names.
//
//===----------------------------------------------------------------------===//

#include "Workarounds.h"

#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineRegisterInfo.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/CodeGen/TargetRegisterInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/PassRegistry.h"

using namespace llvm;

namespace {
class MoveComparisonsToBranches : public MachineFunctionPass {
public:
  static char ID;
  MoveComparisonsToBranches() : MachineFunctionPass(ID) {}
  StringRef getPassName() const override {
    return "Move comparisons to the branches that read them";
  }
  void getAnalysisUsage(AnalysisUsage &usage) const override {
    usage.setPreservesCFG();
    MachineFunctionPass::getAnalysisUsage(usage);
  }
  bool runOnMachineFunction(MachineFunction &function) override;
};
} // namespace

char MoveComparisonsToBranches::ID = 0;
static RegisterPass<MoveComparisonsToBranches>
    registration("tile-amdgpu-move-comparisons-to-branches",
                 "Move comparisons to the branches that read them");

/// Whether the instruction does nothing but set `flag`, from registers that are
/// written once.
static bool onlySets(const MachineInstr &inst, MCRegister flag) {
  if (inst.mayLoadOrStore() || inst.hasUnmodeledSideEffects())
    return false;
  return all_of(inst.operands(), [&](const MachineOperand &operand) {
    return !operand.isReg() || operand.getReg() == flag ||
           (operand.isUse() && operand.getReg().isVirtual());
  });
}

bool MoveComparisonsToBranches::runOnMachineFunction(
    MachineFunction &function) {
  const TargetRegisterInfo &registers =
      *function.getSubtarget().getRegisterInfo();
  MCRegister flag;
  for (unsigned i = 1; i < registers.getNumRegs() && !flag; ++i)
    if (StringRef(registers.getName(i)) == "SCC")
      flag = i;
  bool changed = false;
  for (MachineBasicBlock &block : function) {
    MachineBasicBlock::iterator end = block.getFirstTerminator();
    if (none_of(make_range(end, block.end()), [&](const MachineInstr &inst) {
          return inst.readsRegister(flag, &registers);
        }))
      continue;
    // The last instruction that has to do with the flag.
    MachineBasicBlock::iterator at = end;
    while (at != block.begin() && !(--at)->readsRegister(flag, &registers) &&
           !at->modifiesRegister(flag, &registers))
      ;
    if (at == end || std::next(at) == end ||
        at->readsRegister(flag, &registers) || !onlySets(*at, flag))
      continue;
    for (const MachineOperand &operand : at->operands())
      if (operand.isReg() && operand.getReg().isVirtual())
        function.getRegInfo().clearKillFlags(operand.getReg());
    block.splice(end, &block, at);
    changed = true;
  }
  return changed;
}

void mlir::triton::amd::moveComparisonsToBranches(TargetPassConfig &config) {
  // The pass before the one that merges masks.
  if (const llvm::PassInfo *copies =
          PassRegistry::getPassRegistry()->getPassInfo(
              StringRef("si-fix-sgpr-copies")))
    config.insertPass(copies->getTypeInfo(), &MoveComparisonsToBranches::ID);
}
