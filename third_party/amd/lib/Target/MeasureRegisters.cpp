//===-- MeasureRegisters.cpp - What the scheduler's order needs -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM's scheduler decides how many registers a kernel needs at once. It may
// bring hundreds of loads to their uses, or be unable to. To learn the number,
// the code generator runs up to the scheduler. A pass behind it counts
// registers. This pass then leaves nothing of the function but its end, so that
// the rest of the code generator has nothing to do.
//
//===----------------------------------------------------------------------===//

#include "TargetMachine.h"

#include "tile/Target/FatalErrors.h"

#include "llvm/CodeGen/LiveIntervals.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineRegisterInfo.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/CodeGen/TargetRegisterInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SaveAndRestore.h"
#include "llvm/Target/RegisterTargetPassConfigCallback.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;
using namespace mlir::triton;
using mlir::FailureOr;
using mlir::ModuleOp;

/// Where this thread's code generator is to leave the count, while it is run
/// for that alone.
static thread_local unsigned *wanted = nullptr;

namespace {
class MeasureRegisters : public MachineFunctionPass {
public:
  static char ID;
  MeasureRegisters() : MachineFunctionPass(ID) {}
  StringRef getPassName() const override {
    return "Count the registers in use, and drop the code";
  }
  void getAnalysisUsage(AnalysisUsage &usage) const override {
    usage.addRequired<LiveIntervalsWrapperPass>();
    MachineFunctionPass::getAnalysisUsage(usage);
  }
  bool runOnMachineFunction(MachineFunction &function) override;

private:
  unsigned countRegisters(const MachineFunction &function);
};
} // namespace

char MeasureRegisters::ID = 0;
static RegisterPass<MeasureRegisters>
    registration("tile-amdgpu-measure-registers",
                 "Count the registers in use, and drop the code");

/// How many vector registers hold values in one place at most.
unsigned MeasureRegisters::countRegisters(const MachineFunction &function) {
  LiveIntervals &intervals = getAnalysis<LiveIntervalsWrapperPass>().getLIS();
  const MachineRegisterInfo &info = function.getRegInfo();
  const TargetRegisterInfo &registers =
      *function.getSubtarget().getRegisterInfo();
  SmallVector<std::pair<SlotIndex, int>> changes;
  for (unsigned i = 0; i < info.getNumVirtRegs(); ++i) {
    Register reg = Register::index2VirtReg(i);
    if (info.reg_nodbg_empty(reg) || !intervals.hasInterval(reg))
      continue;
    const TargetRegisterClass *regClass = info.getRegClass(reg);
    if (!StringRef(registers.getRegClassName(regClass)).starts_with("VReg_") &&
        !StringRef(registers.getRegClassName(regClass)).starts_with("VGPR_"))
      continue;
    int words = divideCeil(registers.getRegSizeInBits(*regClass), 32);
    for (const LiveRange::Segment &segment : intervals.getInterval(reg)) {
      changes.emplace_back(segment.start, words);
      changes.emplace_back(segment.end, -words);
    }
  }
  llvm::sort(changes);
  int now = 0, most = 0;
  for (auto [place, change] : changes)
    most = std::max(most, now += change);
  return most;
}

/// Leaves the end of the program.
static void dropCode(MachineFunction &function) {
  MachineBasicBlock &entry = function.front();
  MachineInstr *end = nullptr;
  for (MachineBasicBlock &block : function)
    for (MachineInstr &inst : block.terminators())
      if (inst.isReturn())
        end = &inst;
  if (!end)
    return;
  end->removeFromParent();
  for (MachineBasicBlock &block : function) {
    while (!block.succ_empty())
      block.removeSuccessor(block.succ_begin());
    block.clear();
  }
  while (&function.back() != &entry)
    function.back().eraseFromParent();
  entry.push_back(end);
}

bool MeasureRegisters::runOnMachineFunction(MachineFunction &function) {
  *wanted = std::max(*wanted, countRegisters(function));
  dropCode(function);
  return true;
}

FailureOr<unsigned>
mlir::triton::amd::measureRegisters(ModuleOp diagnosticOp,
                                    const llvm::Module &module,
                                    llvm::TargetMachine &machine) {
  static RegisterTargetPassConfigCallback callback(
      [](TargetMachine &, PassManagerBase &, TargetPassConfig *config) {
        if (wanted)
          config->insertPass(&MachineSchedulerID, &MeasureRegisters::ID);
      });
  // The code generator changes the module.
  LLVMOwner<llvm::Module> copy(llvm::CloneModule(module).release());
  unsigned count = 0;
  llvm::SaveAndRestore measuring(wanted, &count);
  if (mlir::failed(triton::emitAssembly(diagnosticOp, *copy, machine)))
    return mlir::failure();
  return count;
}
