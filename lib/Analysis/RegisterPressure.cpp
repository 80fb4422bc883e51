//===-- RegisterPressure.cpp - Registers that tensors take ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Analysis/RegisterPressure.h"

#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/RegisterBudget.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;

int64_t triton::countRegisterBits(RankedTensorType type) {
  Type element = type.getElementType();
  int64_t bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 64;
  return bits * gpu::getTotalElemsPerThread(type);
}

int64_t triton::countRegisters(RankedTensorType type) {
  return llvm::divideCeil(countRegisterBits(type), 32);
}

bool triton::isConstantOrSplat(Value value) {
  Operation *def = value.getDefiningOp();
  return def &&
         (def->hasTrait<mlir::OpTrait::ConstantLike>() || isa<SplatOp>(def));
}

int64_t triton::countDataRegisters(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || isConstantOrSplat(value))
    return 0;
  Operation *def = value.getDefiningOp();
  Type element = type.getElementType();
  bool isLoaded = isa_and_nonnull<LoadOp, gpu::LocalLoadOp>(def);
  if (!element.isIntOrFloat() || element.isInteger(1) ||
      (element.isInteger() && element.getIntOrFloatBitWidth() >= 32 &&
       !isLoaded && !isa<gpu::MmaEncodingTrait>(type.getEncoding())))
    return 0;
  return countRegisters(type);
}

int64_t triton::countLeastRegisters(FunctionOpInterface function) {
  int64_t most = 0;
  function->walk([&](Block *block) {
    int64_t carried = 0;
    for (BlockArgument argument : block->getArguments())
      carried += countDataRegisters(argument);
    most = std::max(most, carried);
  });
  function->walk([&](gpu::ConvertLayoutOp op) {
    most = std::max({most, countDataRegisters(op.getSrc()),
                     countDataRegisters(op.getResult())});
  });
  return most + gpu::getRegisterNeed(gpu::RegisterNeed::LoopScalars);
}

int64_t triton::countLiveRegisters(FunctionOpInterface function,
                                   function_ref<int64_t(Value)> count) {
  Liveness liveness(function);
  int64_t most = 0;
  for (Block &block : function.getFunctionBody()) {
    // What an operation makes takes the place of what it uses up.
    DenseSet<Value> alive;
    int64_t taken = 0;
    auto add = [&](Value value) {
      if (alive.insert(value).second)
        taken += count(value);
    };
    for (Value value : liveness.getLiveOut(&block))
      add(value);
    for (Operation &op : llvm::reverse(block)) {
      for (Value result : op.getResults())
        if (alive.erase(result))
          taken -= count(result);
      op.walk([&](Operation *nested) {
        for (Value operand : nested->getOperands())
          if (!op.isAncestor(operand.getParentBlock()->getParentOp()))
            add(operand);
      });
      most = std::max(most, taken);
    }
  }
  return most;
}

bool triton::isMadeByElements(Operation *op) {
  return op->hasTrait<mlir::OpTrait::Elementwise>() ||
         isa<BroadcastOp, ExpandDimsOp>(op);
}

/// The one user of an elementwise operation's result that needs none of its
/// elements beside another, if it follows in the block.
static Operation *findUserByElements(Value value) {
  Operation *def = value.getDefiningOp();
  if (!def || !isMadeByElements(def) || !value.hasOneUse())
    return nullptr;
  Operation *user = *value.user_begin();
  bool byElements = isMadeByElements(user) || isa<ReduceOp, StoreOp>(user);
  return byElements && user->getBlock() == def->getBlock() ? user : nullptr;
}

int64_t WaitingRegisters::operator()(Value value) {
  auto known = registers.find(value);
  if (known != registers.end())
    return known->second;
  int64_t least = count(value);
  if (Operation *user = least ? findUserByElements(value) : nullptr) {
    int64_t sources = 0;
    for (Value operand : value.getDefiningOp()->getOperands())
      if (liveness.isDeadAfter(operand, user))
        sources += (*this)(operand);
    least = std::min(least, sources);
  }
  return registers[value] = least;
}
