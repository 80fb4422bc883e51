//===-- TestPlantBug.cpp - A pass that is wrong ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What passes that reorder get wrong, done on purpose: execution between passes
// has to find it.
//
//===----------------------------------------------------------------------===//

#include "TestPasses.h"

#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace mlir::triton;
namespace ttg = mlir::triton::gpu;
namespace ttng = mlir::triton::nvidia_gpu;

namespace {

/// Changes an operation; says whether it could.
using Mistake = bool (*)(Operation *op);

/// A dot's wait that waits for none.
bool loosenProductWait(Operation *op) {
  auto wait = dyn_cast<ttng::WarpGroupDotWaitOp>(op);
  if (!wait || wait.getPendings() >= 7)
    return false;
  wait.setPendings(7);
  return true;
}

/// A wait for copies that waits for none.
bool loosenCopyWait(Operation *op) {
  auto wait = dyn_cast<ttg::AsyncWaitOp>(op);
  if (!wait || wait.getAsyncToken().empty())
    return false;
  wait.setNum(wait.getNum() + 64);
  return true;
}

/// The wait for what a copy of TMA writes.
bool dropStoreWait(Operation *op) {
  auto wait = dyn_cast<ttng::AsyncTMAStoreWaitOp>(op);
  if (!wait)
    return false;
  op->erase();
  return true;
}

bool dropBarrierWait(Operation *op) {
  if (!isa<ttng::WaitBarrierOp>(op))
    return false;
  op->erase();
  return true;
}

/// Somebody waits forever.
bool dropArrival(Operation *op) {
  if (!isa<ttng::ArriveBarrierOp, ttng::BarrierExpectOp>(op))
    return false;
  op->erase();
  return true;
}

/// The values that a loop carries, mixed up.
bool swapYields(Operation *op) {
  if (!isa<scf::YieldOp>(op) || !isa<scf::ForOp>(op->getParentOp()))
    return false;
  for (OpOperand &a : op->getOpOperands())
    for (OpOperand &b : op->getOpOperands()) {
      if (a.getOperandNumber() >= b.getOperandNumber() || a.get() == b.get() ||
          a.get().getType() != b.get().getType() ||
          isa<ttg::AsyncTokenType>(a.get().getType()))
        continue;
      Value first = a.get();
      a.set(b.get());
      b.set(first);
      return true;
    }
  return false;
}

/// A load before a store that it follows.
bool hoistLoad(Operation *op) {
  if (!isa<LoadOp>(op))
    return false;
  Operation *store = nullptr;
  for (Operation *before = op->getPrevNode(); before;
       before = before->getPrevNode()) {
    if (llvm::any_of(op->getOperands(), [&](Value operand) {
          return operand.getDefiningOp() == before;
        }))
      break;
    if (isa<StoreOp, AtomicRMWOp, DescriptorStoreOp>(before))
      store = before;
  }
  if (!store)
    return false;
  op->moveBefore(store);
  return true;
}

/// A buffer of a ring that is not the one of the iteration.
bool useFirstSlot(Operation *op) {
  auto index = dyn_cast<ttg::MemDescIndexOp>(op);
  if (!index || index.getIndex().getDefiningOp<arith::ConstantOp>())
    return false;
  OpBuilder builder(op);
  index.getIndexMutable().assign(
      arith::ConstantIntOp::create(builder, op->getLoc(), 0, 32));
  return true;
}

/// Stores where nothing may be stored.
bool dropMask(Operation *op) {
  auto store = dyn_cast<StoreOp>(op);
  if (!store || !store.getMask())
    return false;
  store.getMaskMutable().clear();
  return true;
}

bool swapOperands(Operation *op) {
  if (!isa<arith::SubIOp, arith::SubFOp>(op) ||
      op->getOperand(0) == op->getOperand(1))
    return false;
  Value first = op->getOperand(0);
  op->setOperand(0, op->getOperand(1));
  op->setOperand(1, first);
  return true;
}

/// A loop without its first iteration.
bool skipIteration(Operation *op) {
  auto loop = dyn_cast<scf::ForOp>(op);
  if (!loop)
    return false;
  OpBuilder builder(op);
  loop.setLowerBound(arith::AddIOp::create(
      builder, op->getLoc(), loop.getLowerBound(), loop.getStep()));
  return true;
}

const std::pair<StringRef, Mistake> kMistakes[] = {
    {"loosen-product-wait", loosenProductWait},
    {"loosen-copy-wait", loosenCopyWait},
    {"drop-store-wait", dropStoreWait},
    {"drop-barrier-wait", dropBarrierWait},
    {"drop-arrival", dropArrival},
    {"swap-yields", swapYields},
    {"hoist-load", hoistLoad},
    {"use-first-slot", useFirstSlot},
    {"drop-mask", dropMask},
    {"swap-operands", swapOperands},
    {"skip-iteration", skipIteration}};

struct TestPlantBug : PassWrapper<TestPlantBug, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestPlantBug)

  TestPlantBug() = default;
  TestPlantBug(const TestPlantBug &other) : PassWrapper(other) {}

  StringRef getArgument() const final { return "test-plant-bug"; }
  StringRef getDescription() const final {
    return "Make the first operation wrong that can be";
  }

  void runOnOperation() override {
    SmallVector<Operation *> all;
    getOperation().walk([&](Operation *op) { all.push_back(op); });
    for (auto [name, mistake] : kMistakes) {
      if (name != kind)
        continue;
      // From some place on, and then from the beginning.
      std::rotate(all.begin(), all.begin() + all.size() * percent / 100,
                  all.end());
      for (Operation *op : all)
        if (mistake(op))
          return;
      return;
    }
    getOperation().emitError("there is no mistake of that name");
    signalPassFailure();
  }

  Option<std::string> kind{*this, "kind", llvm::cl::desc("which mistake")};
  Option<unsigned> percent{
      *this, "percent", llvm::cl::init(0),
      llvm::cl::desc("how far down the module the first candidate is")};
};

} // namespace

void mlir::triton::test::registerTestPlantBugPass() {
  PassRegistration<TestPlantBug>();
}
