//===-- ProductMemory.cpp - Operands of dots in shared memory -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ProductMemory.h"

#include "OrderOfReads.h"

#include "tile/Analysis/LoopSchedule.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;
using namespace mlir::triton::nvidia;

/// Where another dot has put `value` into shared memory, if `op` can see
/// that.
static Value findInSharedMemory(Value value, MemDescType type, Operation *op) {
  for (Operation *user : value.getUsers()) {
    auto alloc = dyn_cast<LocalAllocOp>(user);
    if (!alloc || alloc.getType() != type)
      continue;
    Operation *inBlock = alloc->getBlock()->findAncestorOpInBlock(*op);
    if (inBlock && alloc->isBeforeInBlock(inBlock))
      return alloc;
  }
  return {};
}

bool nvidia::isDividedAlike(Value a, Value b) {
  auto getDivision = [](Value value) {
    return getCTALayout(cast<RankedTensorType>(value.getType()).getEncoding());
  };
  return getDivision(a) == getDivision(b);
}

/// The operand before conversions within a block.
static Value skipConversionsInBlock(Value operand) {
  while (auto convert = operand.getDefiningOp<ConvertLayoutOp>()) {
    if (!nvidia::isDividedAlike(convert.getSrc(), operand))
      break;
    operand = convert.getSrc();
  }
  return operand;
}

/// Whether only branches lie between `value` and `op`, in a loop that is not
/// pipelined. Nothing copies the value ahead there. In the branch, the buffer
/// is needed for a shorter time.
static bool isInBranchOfPlainLoop(Value value, Operation *op) {
  Operation *parent = op->getParentOp();
  while (isa<scf::IfOp>(parent) && parent->getBlock() != value.getParentBlock())
    parent = parent->getParentOp();
  auto loop = dyn_cast<scf::ForOp>(value.getParentBlock()->getParentOp());
  return loop && isa<scf::IfOp>(parent) && LoopPlan(loop).getNumStages() == 1;
}

Value nvidia::putIntoSharedMemory(OpBuilder &b, Operation *op, Value operand,
                                  unsigned innerDim, bool hasChoice,
                                  bool fp4Padded) {
  Value value = skipConversionsInBlock(operand);
  Location loc = op->getLoc();
  if (auto trans = value.getDefiningOp<TransOp>()) {
    Value source =
        putIntoSharedMemory(b, op, trans.getSrc(), trans.getOrder()[innerDim],
                            hasChoice, fp4Padded);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfterValue(source);
    return MemDescTransOp::create(b, loc, source, trans.getOrder());
  }
  auto type = cast<RankedTensorType>(value.getType());
  // Memory takes the bits under any name, so that a copy may bring them there.
  if (auto cast = value.getDefiningOp<BitcastOp>()) {
    Value source = putIntoSharedMemory(b, op, cast.getSrc(), innerDim,
                                       hasChoice, fp4Padded);
    auto memory = mlir::cast<MemDescType>(source.getType());
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfterValue(source);
    return MemDescReinterpretOp::create(
        b, loc,
        MemDescType::get(memory.getShape(), type.getElementType(),
                         memory.getEncoding(), memory.getMemorySpace(),
                         memory.getMutableMemory()),
        source);
  }
  unsigned first = hasChoice ? getOrder(type).front() : innerDim;
  MemDescType memory = getProductMemory(type, {first, 1 - first}, fp4Padded);
  return putIntoSharedMemory(b, op, value, memory);
}

Value nvidia::putIntoSharedMemory(OpBuilder &b, Operation *op, Value value,
                                  MemDescType memory) {
  if (Value present = findInSharedMemory(value, memory, op))
    return present;
  OpBuilder::InsertionGuard guard(b);
  if (value.getParentBlock() != op->getBlock() &&
      !isInBranchOfPlainLoop(value, op))
    b.setInsertionPointAfterValue(value);
  return LocalAllocOp::create(b, op->getLoc(), memory, value);
}
