//===-- EarlyCopies.cpp - Copies among the first dots ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Where dots of one iteration run on into the next, copies follow the wait
// for them, at the end of an iteration. Where all dots of an iteration are
// done by its end, as in the gradients of attention, the buffer that it has
// read is free when the next one begins:
//
//   wait for copies; start the first dots; start copies; ...
//
// which gives the copies the time of a whole iteration more.
//
//===----------------------------------------------------------------------===//

#include "EarlyCopies.h"

#include "AsyncProducts.h"
#include "Buffers.h"

#include "tile/Dialect/TritonGPU/IR/Dialect.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tritongpu-pipeline"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

namespace {

/// Where a copy of the loop writes; null for other operations.
Value getTarget(Operation *op) {
  auto copy = dyn_cast<AsyncCopyOpInterface>(op);
  return copy ? copy.getCopyTarget() : Value();
}

/// Whether `op` goes with the copies: it tells those who wait of them.
bool announcesCopies(Operation *op) {
  auto user = dyn_cast<BarrierUserOpInterface>(op);
  return isa<AsyncCommitGroupOp>(op) ||
         (user && user.getBarrierUse() == BarrierUse::Announce);
}

/// The first operation of the body that uses the result of a dot.
Operation *findFirstUse(Block *body) {
  Operation *first = nullptr;
  for (auto product : body->getOps<MatrixProductOpInterface>()) {
    Value result = product.getProduct();
    Operation *user = result ? findFirstUser(result, body) : nullptr;
    if (user && (!first || user->isBeforeInBlock(first)))
      first = user;
  }
  return first;
}

/// Adds `op` to `moved`, behind the operations that it needs. Operations before
/// `place` are not added: they may stay where they are. Returns false if one of
/// the others has effects, so that it cannot be moved before `place`.
bool addWithSources(Operation *op, Operation *place,
                    llvm::SetVector<Operation *> &moved) {
  for (Value operand : op->getOperands()) {
    Operation *source = operand.getDefiningOp();
    if (!source || source->getBlock() != place->getBlock() ||
        source->isBeforeInBlock(place) || moved.contains(source))
      continue;
    if (source == place || !isPure(source) ||
        !addWithSources(source, place, moved))
      return false;
  }
  moved.insert(op);
  return true;
}

} // namespace

unsigned mlir::triton::gpu::startCopiesEarly(scf::ForOp loop,
                                             const AsyncRings &rings) {
  Block *body = loop.getBody();
  Operation *place = findFirstUse(body);
  if (!place || place == body->getTerminator() ||
      anyProductCanRunOn(loop, rings.buffers))
    return 0;
  llvm::SetVector<Operation *> moved;
  unsigned numCopies = 0;
  for (Operation *op = place; op; op = op->getNextNode()) {
    Value target = getTarget(op);
    if (!target)
      continue;
    // A wait is for all copies; they stay together.
    if (!llvm::is_contained(rings.withSpareBuffer, getBuffers(target)))
      return 0;
    ++numCopies;
  }
  if (!numCopies)
    return 0;
  for (Operation *op = place; op; op = op->getNextNode()) {
    bool isPart = getTarget(op) || announcesCopies(op);
    if (isPart && !addWithSources(op, place, moved))
      return 0;
  }
  LDBG() << numCopies << " copies start early: " << loop.getLoc();
  for (Operation *op : moved)
    op->moveBefore(place);
  return numCopies;
}
