//===-- LICM.cpp - Loop-invariant code motion with loads ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"
#include "tile/Analysis/MemoryModel.h"
#include "tile/Analysis/Speculation.h"
#include "tile/Analysis/TripCount.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/Triton/Transforms/Passes.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "triton-licm"

namespace mlir::triton {
#define GEN_PASS_DEF_TRITONLICM
#include "tile/Dialect/Triton/Transforms/Passes.h.inc"
} // namespace mlir::triton

using namespace mlir;
using namespace mlir::triton;

/// True if the source asked that nothing be moved out of the loop.
static bool isDisabled(Operation *loop) {
  auto annotation =
      loop->getAttrOfType<LLVM::LoopAnnotationAttr>("llvm.loop_annotation");
  if (!annotation || !annotation.getLicm())
    return false;
  BoolAttr disable = annotation.getLicm().getDisable();
  return disable && disable.getValue();
}

/// True if the loop is known to run at least once.
static bool runsAtLeastOnce(scf::ForOp loop) {
  std::optional<APInt> count = TripCount(loop).getKnown();
  return count && !count->isZero();
}

/// Moves a load in front of the loop, so that it reads nothing if the loop does
/// not run.
static void hoistLoad(scf::ForOp loop, LoadOp load) {
  load->moveBefore(loop);
  if (runsAtLeastOnce(loop))
    return;
  OpBuilder builder(load);
  Location loc = load.getLoc();
  Value mask = hasIterations(builder, loc, loop);
  Type maskType = getMaskType(load.getPtr().getType());
  if (maskType != mask.getType())
    mask = SplatOp::create(builder, loc, maskType, mask);
  if (Value own = load.getMask())
    mask = arith::AndIOp::create(builder, loc, mask, own);
  load.getMaskMutable().assign(mask);
}

/// Moves what a loop that runs no iteration may compute as well. Returns how
/// many operations that were.
static size_t moveInvariantCode(LoopLikeOpInterface loop) {
  return moveLoopInvariantCode(
      loop.getLoopRegions(),
      [&](Value value, Region *) { return loop.isDefinedOutsideOfLoop(value); },
      [](Operation *op, Region *) { return isSafeToSpeculate(op); },
      [&](Operation *op, Region *) { loop.moveOutOfLoop(op); });
}

namespace {

struct TritonLICM : public triton::impl::TritonLICMBase<TritonLICM> {
  using Base::Base;

  void runOnOperation() override {
    // Innermost first, so that code may leave several loops.
    getOperation()->walk([&](LoopLikeOpInterface loop) {
      if (isDisabled(loop)) {
        LDBG() << "disabled by the source: " << *loop;
        return;
      }
      numOps += moveInvariantCode(loop);
      if (auto forOp = dyn_cast<scf::ForOp>(loop.getOperation()))
        hoistLoads(forOp);
    });
  }

private:
  void hoistLoads(scf::ForOp loop) {
    SmallVector<LoadOp> candidates;
    for (LoadOp load : loop.getBody()->getOps<LoadOp>())
      if (canHoist(load, loop))
        candidates.push_back(load);
    // A load may depend on another one, directly or by way of code that could
    // not move before it did.
    bool changed = true;
    while (changed) {
      changed = false;
      for (LoadOp &load : candidates) {
        if (!load || !llvm::all_of(load->getOperands(), [&](Value operand) {
              return loop.isDefinedOutsideOfLoop(operand);
            }))
          continue;
        hoistLoad(loop, load);
        load = {};
        ++numLoads;
        changed = true;
      }
      if (changed)
        numOps +=
            moveInvariantCode(cast<LoopLikeOpInterface>(loop.getOperation()));
    }
  }

  /// Block pointers have no masks.
  static bool canHoist(LoadOp load, scf::ForOp loop) {
    return !isBlockPointer(load.getPtr().getType()) &&
           MemoryModel(loop).mayReadInEarlierIteration(load, loop);
  }
};

} // namespace
