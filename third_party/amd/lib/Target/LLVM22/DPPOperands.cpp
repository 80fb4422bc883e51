//===-- DPPOperands.cpp - What instructions with DPP take besides ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// On gfx11 the second source of a VOP3 instruction with DPP has to be a vector
// register. Later GPUs take other operands there. LLVM's code generator merges
// v_mov_b32_dpp into the instruction that takes its result, and may leave a
// constant or a scalar register there. Its own assembler refuses that (LLVM 22,
// GCNDPPCombine). This pass runs behind those that do so. It moves the operand
// to a vector register.
//
// LLVM's headers for this target are not to be had outside of it, so its
// instructions and register classes are found by their names.
//
//===----------------------------------------------------------------------===//

#include "Workarounds.h"

#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineInstrBuilder.h"
#include "llvm/CodeGen/MachineRegisterInfo.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/PassRegistry.h"

using namespace llvm;

namespace {
class KeepDPPOperandsInRegisters : public MachineFunctionPass {
public:
  static char ID;
  KeepDPPOperandsInRegisters() : MachineFunctionPass(ID) {}
  StringRef getPassName() const override {
    return "Keep operands of DPP in vector registers";
  }
  void getAnalysisUsage(AnalysisUsage &usage) const override {
    usage.setPreservesCFG();
    MachineFunctionPass::getAnalysisUsage(usage);
  }
  bool runOnMachineFunction(MachineFunction &function) override;
};
} // namespace

char KeepDPPOperandsInRegisters::ID = 0;
static RegisterPass<KeepDPPOperandsInRegisters>
    registration("tile-amdgpu-keep-dpp-operands-in-registers",
                 "Keep operands of DPP in vector registers");

/// The second operand that may be a register and is no result, nor tied to one;
/// null if there is none.
static MachineOperand *getSecondSource(MachineInstr &inst) {
  const MCInstrDesc &desc = inst.getDesc();
  bool isSecond = false;
  for (unsigned i = desc.getNumDefs(); i < desc.getNumOperands(); ++i) {
    if (desc.operands()[i].RegClass < 0 ||
        desc.getOperandConstraint(i, MCOI::TIED_TO) >= 0)
      continue;
    if (std::exchange(isSecond, true))
      return &inst.getOperand(i);
  }
  return nullptr;
}

bool KeepDPPOperandsInRegisters::runOnMachineFunction(
    MachineFunction &function) {
  const TargetInstrInfo &instructions = *function.getSubtarget().getInstrInfo();
  const TargetRegisterInfo &registers =
      *function.getSubtarget().getRegisterInfo();
  MachineRegisterInfo &info = function.getRegInfo();
  auto isVector = [&](const TargetRegisterClass *regClass) {
    return StringRef(registers.getRegClassName(regClass)).starts_with("VGPR_");
  };
  const TargetRegisterClass *vector = *find_if(
      registers.regclasses(), [&](const TargetRegisterClass *regClass) {
        return StringRef(registers.getRegClassName(regClass)) == "VGPR_32";
      });
  unsigned move = 0;
  while (instructions.getName(move) != "V_MOV_B32_e32")
    ++move;

  bool changed = false;
  for (MachineBasicBlock &block : function)
    for (MachineInstr &inst : block) {
      StringRef name = instructions.getName(inst.getOpcode());
      if (!name.ends_with("_e64_dpp") && !name.ends_with("_e64_dpp8"))
        continue;
      MachineOperand *source = getSecondSource(inst);
      if (!source ||
          (source->isReg() && isVector(info.getRegClass(source->getReg()))))
        continue;
      Register moved = info.createVirtualRegister(vector);
      BuildMI(block, inst, inst.getDebugLoc(), instructions.get(move), moved)
          .add(*source);
      source->ChangeToRegister(moved, /*isDef=*/false);
      changed = true;
    }
  return changed;
}

void mlir::triton::amd::keepDPPOperandsInRegisters(TargetPassConfig &config) {
  // At -O1 nothing folds operands behind the merging of DPP.
  for (StringRef name : {"si-fold-operands", "gcn-dpp-combine"})
    if (const llvm::PassInfo *pass =
            PassRegistry::getPassRegistry()->getPassInfo(name))
      config.insertPass(pass->getTypeInfo(), &KeepDPPOperandsInRegisters::ID);
}
