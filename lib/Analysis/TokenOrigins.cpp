//===-- TokenOrigins.cpp - What tokens may stand for ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Analysis/TokenOrigins.h"
#include "tile/Analysis/ForwardedValues.h"
#include "tile/Analysis/UnderWay.h"

#include "tile/Dialect/TritonGPU/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton;

namespace ttg = mlir::triton::gpu;

TokenOrigins::TokenOrigins(Operation *function) : aliases(function) {
  llvm::DenseMap<Value, SmallVector<Value>> users;
  SmallVector<Value> worklist;
  llvm::DenseSet<Value> isForwarded;
  auto pass = [&](ValueRange from, ValueRange to) {
    for (auto [f, t] : llvm::zip(from, to))
      if (isAsyncToken(t)) {
        users[f].push_back(t);
        isForwarded.insert(t);
      }
  };
  auto start = [&](Value token, Operation *op) {
    Origins &origins = originsOf[token];
    std::optional<AsyncWork> work = op ? getAsyncWork(op) : std::nullopt;
    if (work && *work != AsyncWork::BarrierCopy &&
        *work != AsyncWork::TensorCore)
      origins.starts.insert(op);
    else
      origins.isUnknown = true;
    origins.isCounted = op && isAsyncWait(op);
    worklist.push_back(token);
  };
  function->walk([&](Operation *op) {
    forEachForwarded(op, pass);
    if (!isAsyncWait(op) && !isa<ttg::AsyncCommitGroupOp>(op))
      return;
    // A group has the copies whose tokens it takes.
    for (Value result : op->getResults())
      for (Value operand : op->getOperands())
        if (isAsyncToken(operand))
          pass(operand, result);
  });
  function->walk([&](Operation *op) {
    for (Value result : op->getResults())
      if (isAsyncToken(result) && !isForwarded.contains(result))
        start(result, op);
    for (Region &region : op->getRegions())
      for (Value argument : region.getArguments())
        if (isAsyncToken(argument) && !isForwarded.contains(argument))
          start(argument, nullptr);
  });
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    Origins from = originsOf[value];
    for (Value user : users[value]) {
      Origins &into = originsOf[user];
      auto measure = [&] {
        return into.starts.size() + into.isUnknown + into.isCounted;
      };
      size_t before = measure();
      into.starts.insert(from.starts.begin(), from.starts.end());
      into.isUnknown |= from.isUnknown;
      into.isCounted |= from.isCounted;
      if (measure() != before)
        worklist.push_back(user);
    }
  }
}

const TokenOrigins::Origins &TokenOrigins::get(Value token) const {
  auto it = originsOf.find(token);
  return it == originsOf.end() ? unknown : it->second;
}

std::optional<unsigned> TokenOrigins::getMaxPendings(Operation *wait) const {
  std::optional<unsigned> most;
  for (Value token : wait->getOperands()) {
    if (!isAsyncToken(token))
      continue;
    const Origins &found = get(token);
    if (found.isUnknown)
      return 0;
    if (!most)
      most = kMostUnderWay;
    for (Operation *start : found.starts)
      followUnderWay(start, aliases,
                     {.visitTokenWait = [&](Operation *at, unsigned numBehind) {
                       if (at == wait)
                         most = std::min(*most, numBehind);
                     }});
  }
  return most;
}

LogicalResult TokenOrigins::verifyWaits(Operation *function) const {
  LogicalResult result = success();
  function->walk([&](Operation *op) {
    if (!isAsyncWait(op))
      return;
    for (Value token : op->getOperands()) {
      if (!isAsyncToken(token))
        continue;
      for (Operation *start : get(token).starts) {
        if (isAbout(op, *getAsyncWork(start)))
          continue;
        InFlightDiagnostic error =
            op->emitOpError("waits for other work than its token is of");
        error.attachNote(start->getLoc()) << "the token is of this";
        result = error;
        break;
      }
    }
  });
  return result;
}
