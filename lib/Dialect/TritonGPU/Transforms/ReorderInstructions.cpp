//===-- ReorderInstructions.cpp - Shorter lives of registers --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The backend schedules within basic blocks, but it cannot move code across
// barriers, and those come with every access to shared memory. So the places of
// such accesses are chosen here, while the reasons for barriers are plain.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tile/Analysis/RegisterPressure.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"
#include "tile/Dialect/TritonGPU/IR/RegisterBudget.h"
#include "tile/Dialect/TritonGPU/IR/TargetModel.h"
#include "tile/Dialect/TritonGPU/Transforms/FirstUser.h"
#include "tile/Dialect/TritonGPU/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"
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
  Operation *target = findFirstUser(op->getResult(0), op->getBlock());
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
  // A buffer may get the place of those that end before it.
  if (isa<LocalAllocOp>(op))
    for (Operation *between = target; between != op;
         between = between->getNextNode())
      if (isa<LocalDeallocOp>(between))
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

/// True for a buffer that holds what it was made with to the end.
bool isConstant(TypedValue<MemDescType> memory) {
  auto alloc = memory.getDefiningOp<LocalAllocOp>();
  return alloc && alloc.getSrc() && !alloc.getType().getMutableMemory();
}

/// Registers of 32 bits that a thread needs for `value`, if it is a tensor of
/// numbers to compute with. Indices and pointers, of which the elements of a
/// tensor share most, count as nothing.
int64_t getRegisters(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.getEncoding() || !isa<FloatType>(type.getElementType()))
    return 0;
  return countRegisters(type);
}

/// A rough count of the registers that are alive at once in a loop: what it
/// carries, what it takes from outside, the largest value that it makes.
/// Operands read from shared memory do not count: they come in pieces.
int64_t estimateRegisters(scf::ForOp loop) {
  int64_t carried = 0, largest = 0;
  for (Value arg : loop.getRegionIterArgs())
    carried += getRegisters(arg);
  llvm::SmallDenseSet<Value> outside;
  loop.getBody()->walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (Operation *def = operand.getDefiningOp();
          def && !loop->isAncestor(def) &&
          !def->hasTrait<mlir::OpTrait::ConstantLike>() && !isa<SplatOp>(def) &&
          outside.insert(operand).second)
        carried += getRegisters(operand);
    if (!isa<LocalLoadOp>(op))
      for (Value result : op->getResults())
        largest = std::max(largest, getRegisters(result));
  });
  return carried + largest;
}

/// Whether a loop holds more data in registers than there is room for beside
/// what they would be kept for.
bool isFull(scf::ForOp loop, RegisterPurpose purpose) {
  unsigned numThreads = lookupNumWarps(loop) * lookupThreadsPerWarp(loop);
  int64_t registers = estimateRegisters(loop);
  LDBG() << registers << " registers of data in the loop at " << loop.getLoc();
  return registers > getTargetModel(loop).getBudget(purpose, numThreads);
}

/// Whether warps would have copies of an operand that are much of what the loop
/// has. Shared memory has it once. A multiprocessor holds fewer blocks where
/// their warps have it in registers: of decoding with heads of 64, seven for
/// eight, and the last of 1,024 blocks ran alone.
bool isMuchInEachWarp(RankedTensorType operand, scf::ForOp loop) {
  constexpr int64_t kLeastShare = 3;
  return kLeastShare * countRegisters(operand) >= estimateRegisters(loop) &&
         toLinearLayout(operand).getFreeVariableMask(kWarp) != 0;
}

/// Moves a read behind the loops in front of its first user that read the same
/// by themselves. They would have its registers for nothing.
void sinkBehindLoops(LocalLoadOp load, ArrayRef<Operation *> loops) {
  Operation *user = findFirstUser(load, load->getBlock());
  for (Operation *loop : loops)
    if (user && loop->getBlock() == load->getBlock() && loop != user &&
        loop->isBeforeInBlock(user) && load->isBeforeInBlock(loop))
      load->moveAfter(loop);
}

/// Reads an operand of matrix products, which never changes, anew in each
/// iteration of the loops that use it, where they have too few registers to
/// keep it. Returns true if it changed anything.
bool sinkIntoCrowdedLoops(LocalLoadOp load) {
  if (!isConstant(load.getSrc()) ||
      !isa<DotOperandEncodingAttr>(load.getType().getEncoding()))
    return false;
  llvm::SmallSetVector<Operation *, 2> loops;
  for (Operation *user : load->getUsers()) {
    auto loop = dyn_cast<scf::ForOp>(user->getParentOp());
    if (loop && !loop->isProperAncestor(load))
      loops.insert(loop);
  }
  bool changed = false;
  for (Operation *op : loops) {
    auto loop = cast<scf::ForOp>(op);
    // Attention D64 with 64x64 keeps its queries in front of a loop that lies
    // in a branch: 458 TFLOPS, 451 where the loop reads them.
    bool mayBeCrowded = loop->getBlock() == load->getBlock();
    if (!isMuchInEachWarp(load.getType(), loop) &&
        !(mayBeCrowded && isFull(loop, RegisterPurpose::InvariantOperands)))
      continue;
    OpBuilder builder(loop.getBody(), loop.getBody()->begin());
    auto inLoop = cast<LocalLoadOp>(builder.clone(*load));
    load.getResult().replaceUsesWithIf(inLoop.getResult(), [&](OpOperand &use) {
      return loop->isProperAncestor(use.getOwner()) &&
             use.getOwner() != inLoop.getOperation();
    });
    // Next to the dot rather than at the top of the loop.
    inLoop->moveBefore(findFirstUser(inLoop, loop.getBody()));
    changed = true;
  }
  if (changed && load->use_empty())
    load.erase();
  else if (changed)
    sinkBehindLoops(load, loops.getArrayRef());
  return changed;
}

/// Moves the copy of a loaded tensor to shared memory behind the asynchronous
/// copies that are started before its first use: they need not wait for the
/// tensor to arrive.
bool sinkBehindCopies(LocalAllocOp alloc) {
  if (!isConstant(alloc.getResult()) || !alloc.getSrc().getDefiningOp<LoadOp>())
    return false;
  Operation *target = findFirstUser(alloc, alloc->getBlock());
  if (!target)
    return false;
  for (Operation *op = target->getPrevNode(); op != alloc;
       op = op->getPrevNode())
    if (isa<AsyncCopyGlobalToLocalOp>(op)) {
      alloc->moveBefore(target);
      return true;
    }
  return false;
}

/// Moves `op`, which takes a loaded tensor through shared memory, behind other
/// loads that start before its first user. They arrive together, so that a warp
/// waits once. What waits takes few registers: more would cost blocks. So would
/// memory for other buffers, which begin behind it now.
bool sinkBehindLoads(Operation *op) {
  constexpr int64_t kMostRegisters = 32;
  auto load = op->getOperand(0).getDefiningOp<LoadOp>();
  if (!load || load->getBlock() != op->getBlock())
    return false;
  Operation *target = findFirstUser(op->getResult(0), op->getBlock());
  if (!target)
    return false;
  int64_t waiting = 0;
  Operation *last = nullptr;
  for (Operation *at = load; at != target; at = at->getNextNode()) {
    // Memory for both would be there at once.
    if (isa<LocalAllocOp>(at) && at != op)
      break;
    if (auto type = dyn_cast_if_present<RankedTensorType>(
            isa<LoadOp>(at) ? at->getResult(0).getType() : Type())) {
      waiting += countRegisters(type);
      last = at;
    }
  }
  if (!last || !op->isBeforeInBlock(last) || waiting > kMostRegisters)
    return false;
  op->moveAfter(last);
  return true;
}

/// Moves a read behind the wait for a dot, if an operation there combines both
/// results. Operations that only broadcast what was read move along. Before the
/// dot, the read would take registers while the dot runs. In a loop that is
/// full, the result of the dot needs these registers.
bool sinkBehindProduct(LocalLoadOp load) {
  auto loop = dyn_cast<scf::ForOp>(load->getParentOp());
  if (!loop || !isFull(loop, RegisterPurpose::EarlyReads))
    return false;
  SmallVector<Operation *> moved{load};
  Operation *user = findFirstUser(load, loop.getBody());
  while (user && isa<ExpandDimsOp, BroadcastOp>(user) &&
         moved.back()->hasOneUse()) {
    moved.push_back(user);
    user = findFirstUser(user->getResult(0), loop.getBody());
  }
  if (!user)
    return false;
  bool waits = false;
  for (Operation *op = load->getNextNode(); op != user; op = op->getNextNode())
    if (isa<MatrixProductWaitOpInterface>(op))
      waits = true;
    else if (mayChangeSharedMemory(op))
      return false;
  if (waits)
    for (Operation *op : moved)
      op->moveBefore(user);
  return waits;
}

/// True for a tensor's conversion to elements of more bits.
bool isWidening(Operation *op) {
  if (!isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp, FpToFpOp>(op))
    return false;
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  return type && type.getEncoding() &&
         countRegisterBits(type) > countRegisterBits(cast<RankedTensorType>(
                                       op->getOperand(0).getType()));
}

/// Moves a conversion to more bits behind the waits for dots in front of
/// its first use: until then the narrow elements are there. The backend does
/// not move it across the waits. In a loop that has registers for both it goes
/// on during the dots.
bool sinkWidening(Operation *op) {
  auto loop = dyn_cast<scf::ForOp>(op->getParentOp());
  if (!loop || !isFull(loop, RegisterPurpose::InvariantOperands))
    return false;
  Operation *user = findFirstUser(op->getResult(0), op->getBlock());
  if (!user)
    return false;
  for (Operation *between = op->getNextNode(); between != user;
       between = between->getNextNode())
    if (isa<MatrixProductWaitOpInterface>(between)) {
      op->moveBefore(user);
      return true;
    }
  return false;
}

struct TritonGPUReorderInstructions
    : gpu::impl::TritonGPUReorderInstructionsBase<
          TritonGPUReorderInstructions> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<LocalLoadOp> loads;
    getOperation()->walk([&](LocalLoadOp load) { loads.push_back(load); });
    for (LocalLoadOp load : loads)
      if (sinkIntoCrowdedLoops(load))
        ++numSunk;

    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (isa<ConvertLayoutOp, LocalLoadOp, LocalAllocOp, MemDescTransOp,
              MemDescReshapeOp, MemDescSubsliceOp>(op) ||
          isWidening(op))
        ops.push_back(op);
    });
    for (Operation *op : ops)
      if (tryHoist(op)) {
        LDBG() << "hoisted " << *op;
        ++numHoisted;
      }
    // Backwards: users find their place before what they use.
    for (Operation *op : llvm::reverse(ops)) {
      auto alloc = dyn_cast<LocalAllocOp>(op);
      auto load = dyn_cast<LocalLoadOp>(op);
      bool isFromLoads =
          isa<ConvertLayoutOp>(op) || (alloc && isConstant(alloc.getResult()));
      if ((alloc ? sinkBehindCopies(alloc)
           : isWidening(op)
               ? sinkWidening(op)
               : trySink(op) || (load && sinkBehindProduct(load))) ||
          (isFromLoads && sinkBehindLoads(op))) {
        LDBG() << "sunk " << *op;
        ++numSunk;
      }
    }
  }

private:
  bool tryHoist(Operation *op) {
    if (auto alloc = dyn_cast<LocalAllocOp>(op))
      return alloc.getSrc() && !alloc.getType().getMutableMemory() &&
             hoist(op, alloc.getSrc());
    // What else uses the source needs its registers anyway, and would wait for
    // the barriers.
    if (auto convert = dyn_cast<ConvertLayoutOp>(op))
      return convert.getSrc().hasOneUse() &&
             countRegisterBits(convert.getType()) <
                 countRegisterBits(convert.getSrc().getType()) &&
             hoist(op, convert.getSrc());
    if (isa<ViewLikeOpInterface>(op))
      return hoist(op, op->getOperand(0));
    return false;
  }

  bool trySink(Operation *op) {
    if (auto convert = dyn_cast<ConvertLayoutOp>(op)) {
      if (countRegisterBits(convert.getType()) <=
          countRegisterBits(convert.getSrc().getType()))
        return false;
      // What it needs of shared memory would be taken beside the buffer that a
      // store fills.
      return sink(
          op, [](Operation *between) { return !isa<LocalStoreOp>(between); });
    }
    auto load = dyn_cast<LocalLoadOp>(op);
    if (!load)
      return false;
    bool constant = isConstant(load.getSrc());
    return sink(op, [&](Operation *between) {
      return !mayChangeSharedMemory(between) ||
             (constant &&
              isa<AsyncCopyGlobalToLocalOp, AsyncCommitGroupOp>(between));
    });
  }
};

} // namespace
