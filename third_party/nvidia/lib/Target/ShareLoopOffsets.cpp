//===-- ShareLoopOffsets.cpp - One offset for many addresses --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop over tiles advances the address of each of a thread's copies by the
// same distance. If each copy has a pointer of its own, each iteration takes an
// addition for each. ptxas (13.5) keeps the halves of a pointer apart, and
// needs two more moves to the pair of registers that the copy reads. With a
// base for each copy and one offset for all, there are as many additions and no
// moves: the result of the addition is a pair.
//
// Loop strength reduction, which runs in the code generator, would make
// pointers of them again. It leaves sums alone whose base the loop seems to
// make, which is what launder.invariant.group is for here; nothing of it
// remains behind the code generator.
//
//===----------------------------------------------------------------------===//

#include "nvidia/Target/ShareLoopOffsets.h"

#include "LoopAnalyses.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/NVPTXAddrSpace.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;

namespace {
/// An operand that is an address, and where it is in the first iteration.
struct Address {
  Use *use;
  const SCEV *start;
};

/// A place from which some addresses are known distances away.
struct Base {
  const SCEV *start;
  SmallVector<std::pair<Use *, int64_t>> uses;
};

/// Whether an instruction copies from global to shared memory.
bool isAsyncCopy(const CallBase &call) {
  if (const auto *assembly = dyn_cast<InlineAsm>(call.getCalledOperand()))
    return StringRef(assembly->getAsmString()).contains("cp.async.c");
  switch (call.getIntrinsicID()) {
  case Intrinsic::nvvm_cp_async_ca_shared_global_4:
  case Intrinsic::nvvm_cp_async_ca_shared_global_4_s:
  case Intrinsic::nvvm_cp_async_ca_shared_global_8:
  case Intrinsic::nvvm_cp_async_ca_shared_global_8_s:
  case Intrinsic::nvvm_cp_async_ca_shared_global_16:
  case Intrinsic::nvvm_cp_async_ca_shared_global_16_s:
  case Intrinsic::nvvm_cp_async_cg_shared_global_16:
  case Intrinsic::nvvm_cp_async_cg_shared_global_16_s:
    return true;
  default:
    return false;
  }
}

class OffsetSharing {
public:
  OffsetSharing(Loop &loop, const LoopInfo &loops, ScalarEvolution &evolution,
                SCEVExpander &expander)
      : loop(loop), loops(loops), evolution(evolution), expander(expander) {}

  void run() {
    if (!loop.getLoopPreheader() || !loop.getLoopLatch())
      return;
    MapVector<const SCEV *, SmallVector<Address>> groups;
    for (BasicBlock *block : loop.blocks()) {
      // Warps that copy for others wait in loops inside of theirs.
      if (loops.getLoopFor(block) != &loop)
        continue;
      for (Instruction &inst : *block)
        if (auto *call = dyn_cast<CallBase>(&inst); call && isAsyncCopy(*call))
          for (Use &operand : call->args())
            if (const auto *address = getAddress(operand))
              groups[address->getStepRecurrence(evolution)].push_back(
                  {&operand, address->getStart()});
    }
    for (auto &[step, addresses] : groups)
      share(step, addresses);
  }

private:
  /// How an operand that is a pointer of the loop advances.
  const SCEVAddRecExpr *getAddress(Value *operand) {
    auto *type = dyn_cast<PointerType>(operand->getType());
    if (!type || type->getAddressSpace() != NVPTXAS::ADDRESS_SPACE_GLOBAL)
      return nullptr;
    Value *pointer = operand;
    for (auto *sum = dyn_cast<GetElementPtrInst>(pointer);
         sum && loop.contains(sum);
         sum = dyn_cast<GetElementPtrInst>(pointer)) {
      if (!all_of(sum->indices(),
                  [&](Value *index) { return loop.isLoopInvariant(index); }))
        return nullptr;
      pointer = sum->getPointerOperand();
    }
    auto *phi = dyn_cast<PHINode>(pointer);
    if (!phi || phi->getParent() != loop.getHeader())
      return nullptr;
    const auto *address = dyn_cast<SCEVAddRecExpr>(evolution.getSCEV(operand));
    return address && address->getLoop() == &loop && address->isAffine() &&
                   expander.isSafeToExpand(
                       address->getStepRecurrence(evolution))
               ? address
               : nullptr;
  }

  /// What such an operand is in the first iteration, computed before the loop.
  Value *emitStart(Value *pointer) {
    if (auto *phi = dyn_cast<PHINode>(pointer))
      return phi->getIncomingValueForBlock(loop.getLoopPreheader());
    auto *sum = cast<GetElementPtrInst>(pointer);
    Instruction *copy = sum->clone();
    copy->dropPoisonGeneratingFlags();
    copy->setOperand(0, emitStart(sum->getPointerOperand()));
    copy->insertBefore(loop.getLoopPreheader()->getTerminator()->getIterator());
    return copy;
  }

  void share(const SCEV *step, ArrayRef<Address> addresses) {
    SmallVector<Base> bases;
    for (const Address &address : addresses) {
      std::optional<APInt> distance;
      auto *base = find_if(bases, [&](const Base &known) {
        distance =
            evolution.computeConstantDifference(address.start, known.start);
        return distance.has_value();
      });
      if (base != bases.end())
        base->uses.push_back({address.use, distance->getSExtValue()});
      else
        bases.push_back({address.start, {{address.use, 0}}});
    }
    // A pointer of its own is as good for a single one.
    if (bases.size() < 2)
      return;

    BasicBlock *header = loop.getHeader();
    Instruction *before = loop.getLoopPreheader()->getTerminator();
    Instruction *end = loop.getLoopLatch()->getTerminator();
    Type *type = step->getType();
    PHINode *offset =
        IRBuilder<>(header, header->begin()).CreatePHI(type, 2, "offset");
    Value *next = IRBuilder<>(end).CreateAdd(
        offset, expander.expandCodeFor(step, type, before));
    offset->addIncoming(ConstantInt::get(type, 0), before->getParent());
    offset->addIncoming(next, end->getParent());
    for (const Base &base : bases) {
      Value *start = emitStart(base.uses.front().first->get());
      Value *address = nullptr;
      BasicBlock *block = nullptr;
      for (auto [use, distance] : base.uses) {
        auto *user = cast<Instruction>(use->getUser());
        IRBuilder<> builder(user);
        if (user->getParent() != block) {
          block = user->getParent();
          address = builder.CreatePtrAdd(
              builder.CreateLaunderInvariantGroup(start), offset);
        }
        Value *old = use->get();
        use->set(distance
                     ? builder.CreatePtrAdd(address, builder.getInt64(distance))
                     : address);
        RecursivelyDeleteTriviallyDeadInstructions(old);
      }
    }
  }

  Loop &loop;
  const LoopInfo &loops;
  ScalarEvolution &evolution;
  SCEVExpander &expander;
};
} // namespace

void mlir::triton::nvidia::shareLoopOffsets(Module &module) {
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    LoopAnalyses analyses(function);
    if (analyses.loops.empty())
      continue;
    SCEVExpander expander(analyses.evolution, "base");
    for (Loop *loop : analyses.loops.getLoopsInPreorder())
      OffsetSharing(*loop, analyses.loops, analyses.evolution, expander).run();
    for (BasicBlock &block : function)
      DeleteDeadPHIs(&block);
  }
}
