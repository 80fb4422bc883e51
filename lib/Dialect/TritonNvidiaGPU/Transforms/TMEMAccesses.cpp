//===-- TMEMAccesses.cpp - Accesses of a buffer and their tokens ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "TMEMAccesses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

bool nvidia_gpu::isAccess(Operation *op, Value buffer) {
  if (auto load = dyn_cast<TMEMLoadOp>(op))
    return load.getSrc() == buffer;
  if (auto store = dyn_cast<TMEMStoreOp>(op))
    return store.getDst() == buffer;
  auto mma = dyn_cast<MMAv5OpInterface>(op);
  return mma && mma.getAccumulator() == buffer && mma.getLhs() != buffer;
}

Value nvidia_gpu::getToken(Operation *access) {
  if (auto load = dyn_cast<TMEMLoadOp>(access))
    return load.getToken();
  if (auto store = dyn_cast<TMEMStoreOp>(access))
    return store.getToken();
  return cast<MMAv5OpInterface>(access).getAccumulatorToken();
}

void nvidia_gpu::setDependency(Operation *access, Value token) {
  if (auto load = dyn_cast<TMEMLoadOp>(access))
    load.getDepMutable().assign(token);
  else if (auto store = dyn_cast<TMEMStoreOp>(access))
    store.getDepMutable().assign(token);
  else
    cast<MMAv5OpInterface>(access).setAccumulatorDependency(token);
}

bool nvidia_gpu::isPlainAccess(Operation *op, Value buffer, bool hasToken) {
  return isAccess(op, buffer) && bool(getToken(op)) == hasToken;
}

bool nvidia_gpu::isForAccesses(Value token, Value buffer) {
  return !token || llvm::all_of(token.getUsers(), [&](Operation *user) {
    return isAccess(user, buffer);
  });
}

/// The operation of `body` that `op` is, or that it is in through branches
/// alone; null if there is none.
static Operation *getInBody(Operation *op, Block *body) {
  while (op->getBlock() != body) {
    op = op->getParentOp();
    if (!isa_and_nonnull<scf::IfOp>(op))
      return nullptr;
  }
  return op;
}

BodyAccesses nvidia_gpu::findAccesses(TMEMAllocOp alloc, Block *body) {
  BodyAccesses result{alloc};
  Value buffer = alloc.getResult();
  bool hasTokens = bool(alloc.getToken());
  for (Operation *user : buffer.getUsers()) {
    Operation *inBody = getInBody(user, body);
    if (!inBody || !isPlainAccess(user, buffer, hasTokens) ||
        !isForAccesses(getToken(user), buffer)) {
      result.areKnown = false;
      return result;
    }
    if (!isa<TMEMLoadOp>(user) && result.lastWrite->isBeforeInBlock(inBody))
      result.lastWrite = inBody;
  }
  return result;
}

TMEMLoadOp nvidia_gpu::getFinalLoad(Value value, TMEMAllocOp alloc,
                                    const BodyAccesses &accesses) {
  auto load = value.getDefiningOp<TMEMLoadOp>();
  if (!load || load.getSrc() != alloc.getResult() || load.getRedOp() ||
      load->getBlock() != accesses.lastWrite->getBlock() ||
      !accesses.lastWrite->isBeforeInBlock(load))
    return {};
  return load;
}

static Type getTokenType(TMEMAllocOp alloc) {
  return alloc.getToken() ? alloc.getToken().getType() : Type();
}

TMEMLoadOp nvidia_gpu::createLoad(OpBuilder &builder, Location loc, Type type,
                                  TMEMAllocOp alloc) {
  return TMEMLoadOp::create(builder, loc, type, getTokenType(alloc),
                            /*red=*/Type(), alloc.getResult(), alloc.getToken(),
                            /*redOp=*/RedOpAttr(), /*abs=*/false,
                            /*NaN=*/false);
}

void nvidia_gpu::createStore(OpBuilder &builder, Location loc, Value value,
                             Value pred, TMEMAllocOp alloc) {
  TMEMStoreOp::create(builder, loc, getTokenType(alloc), alloc.getResult(),
                      alloc.getToken(), value, pred);
}

void nvidia_gpu::eraseLoad(TMEMLoadOp load) {
  if (load.getToken())
    load.getToken().replaceAllUsesWith(load.getDep());
  load.erase();
}

static scf::IfOp rebuild(scf::IfOp branch, TypeRange types) {
  OpBuilder builder(branch);
  auto made = scf::IfOp::create(builder, branch.getLoc(), types,
                                branch.getCondition(), /*addThenBlock=*/false,
                                /*addElseBlock=*/false);
  made->setAttrs(branch->getAttrs());
  made.getThenRegion().takeBody(branch.getThenRegion());
  made.getElseRegion().takeBody(branch.getElseRegion());
  return made;
}

scf::IfOp nvidia_gpu::dropResult(scf::IfOp branch, unsigned number) {
  SmallVector<Type> types(branch.getResultTypes());
  types.erase(types.begin() + number);
  branch.thenYield()->eraseOperand(number);
  branch.elseYield()->eraseOperand(number);
  scf::IfOp made = rebuild(branch, types);
  unsigned next = 0;
  for (OpResult result : branch.getResults())
    if (result.getResultNumber() != number)
      result.replaceAllUsesWith(made.getResult(next++));
  branch.erase();
  return made;
}

scf::IfOp nvidia_gpu::addResult(scf::IfOp branch, Type type) {
  SmallVector<Type> types(branch.getResultTypes());
  types.push_back(type);
  scf::IfOp made = rebuild(branch, types);
  if (made.getElseRegion().empty()) {
    OpBuilder builder(made.getContext());
    builder.createBlock(&made.getElseRegion());
    scf::YieldOp::create(builder, made.getLoc());
  }
  for (OpResult result : branch.getResults())
    result.replaceAllUsesWith(made.getResult(result.getResultNumber()));
  branch.erase();
  return made;
}
