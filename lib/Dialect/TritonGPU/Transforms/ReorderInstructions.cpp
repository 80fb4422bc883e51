//===-- ReorderInstructions.cpp - Shorter lives of registers --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The backend schedules within basic blocks, but it cannot move code across
// barriers, and those come with every access to shared memory. So the places of
// such accesses are chosen here, while the reasons for barriers are plain.
//
//===----------------------------------------------------------------------===//

#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"
#include "tile/Dialect/TritonGPU/Transforms/Passes.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tritongpu-reorder-instructions"

namespace mlir::triton::gpu {
#define GEN_PASS_DEF_TRITONGPUREORDERINSTRUCTIONS
#include "tile/Dialect/TritonGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::gpu

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

namespace {

/// Bits of registers that a thread needs for a tensor.
int64_t getRegisterBits(RankedTensorType type) {
  Type element = type.getElementType();
  int64_t bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 64;
  return bits * getTotalElemsPerThread(type);
}

/// The first operation of the block that uses a result of `op`, or contains one
/// that does; null if all uses are elsewhere.
Operation *getFirstUserInBlock(Operation *op) {
  Block *block = op->getBlock();
  Operation *first = nullptr;
  for (Operation *user : op->getUsers()) {
    Operation *ancestor = block->findAncestorOpInBlock(*user);
    if (ancestor && (!first || ancestor->isBeforeInBlock(first)))
      first = ancestor;
  }
  return first;
}

/// True if what a read of shared memory finds may change at `op`, or if `op` is
/// something that reads must not cross (waits, barriers, frees).
bool mayChangeSharedMemory(Operation *op) {
  // What a new buffer is filled with does not change any other.
  if (isMemoryEffectFree(op) || isa<LocalAllocOp>(op))
    return false;
  std::optional<SmallVector<MemoryEffects::EffectInstance>> effects =
      getEffectsRecursively(op);
  if (!effects)
    return true;
  return llvm::any_of(*effects,
                      [](const MemoryEffects::EffectInstance &effect) {
                        return !isa<MemoryEffects::Read>(effect.getEffect()) &&
                               !isa<triton::GlobalMemory>(effect.getResource());
                      });
}

/// Moves `op` down to its first user; `mayPass` says what it may pass. It stays
/// in front of other operations of its kind that wait there already: there is
/// nothing to gain from passing them, and their order stays.
bool sink(Operation *op, function_ref<bool(Operation *)> mayPass) {
  Operation *target = getFirstUserInBlock(op);
  if (!target)
    return false;
  while (target->getPrevNode() != op &&
         isa<ConvertLayoutOp, LocalLoadOp, ViewLikeOpInterface>(
             target->getPrevNode()))
    target = target->getPrevNode();
  if (target->getPrevNode() == op)
    return false;
  for (Operation *between = op->getNextNode(); between != target;
       between = between->getNextNode())
    if (!mayPass(between))
      return false;
  op->moveBefore(target);
  return true;
}

/// Moves `op` right behind the definition of `operand`, in the same block.
bool hoist(Operation *op, Value operand) {
  Block *block = op->getBlock();
  if (operand.getParentBlock() != block)
    return false;
  Operation *def = operand.getDefiningOp();
  // Behind what was moved there before, so that a second run changes nothing.
  Operation *target = def ? def->getNextNode() : &block->front();
  while (target != op && target->getNumOperands() > 0 &&
         isa<LocalAllocOp, ConvertLayoutOp, ViewLikeOpInterface>(target) &&
         target->getOperand(0) == operand)
    target = target->getNextNode();
  if (target == op)
    return false;
  // All other operands must be there, too.
  for (Value other : op->getOperands()) {
    Operation *otherDef = other.getDefiningOp();
    if (otherDef && otherDef->getBlock() == block &&
        !otherDef->isBeforeInBlock(target))
      return false;
  }
  op->moveBefore(target);
  return true;
}

struct TritonGPUReorderInstructions
    : gpu::impl::TritonGPUReorderInstructionsBase<
          TritonGPUReorderInstructions> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (isa<ConvertLayoutOp, LocalLoadOp, LocalAllocOp, MemDescTransOp,
              MemDescReshapeOp, MemDescSubsliceOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops)
      if (tryHoist(op)) {
        LDBG() << "hoisted " << *op;
        ++numHoisted;
      }
    // Backwards: users find their place before what they use.
    for (Operation *op : llvm::reverse(ops))
      if (trySink(op)) {
        LDBG() << "sunk " << *op;
        ++numSunk;
      }
  }

private:
  bool tryHoist(Operation *op) {
    if (auto alloc = dyn_cast<LocalAllocOp>(op))
      return alloc.getSrc() && !alloc.getType().getMutableMemory() &&
             hoist(op, alloc.getSrc());
    if (auto convert = dyn_cast<ConvertLayoutOp>(op))
      return getRegisterBits(convert.getType()) <
                 getRegisterBits(convert.getSrc().getType()) &&
             hoist(op, convert.getSrc());
    if (isa<ViewLikeOpInterface>(op))
      return hoist(op, op->getOperand(0));
    return false;
  }

  bool trySink(Operation *op) {
    if (auto convert = dyn_cast<ConvertLayoutOp>(op)) {
      if (getRegisterBits(convert.getType()) <=
          getRegisterBits(convert.getSrc().getType()))
        return false;
      return sink(op, [](Operation *) { return true; });
    }
    auto load = dyn_cast<LocalLoadOp>(op);
    if (!load)
      return false;
    return sink(op, [&](Operation *between) {
      return !mayChangeSharedMemory(between);
    });
  }
};

} // namespace
