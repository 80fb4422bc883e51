//===-- MakeProgramLoop.cpp - Programs as tiles of a persistent kernel ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A kernel that goes on with other programs is persistent: its programs are its
// tiles. Written as a loop over them, it can be divided among warps like any
// other loop over tiles.
//
// What is the same for all programs, and has no effect, stays in front of the
// loop. So do buffers in tensor memory.
//
//===----------------------------------------------------------------------===//

#include "tile/Analysis/LoopSchedule.h"
#include "tile/Dialect/TritonGPU/IR/IterationAttributes.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/ProgramLoop.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define DEBUG_TYPE "triton-nvidia-make-program-loop"

namespace mlir::triton::nvidia_gpu {
#define GEN_PASS_DEF_TRITONNVIDIAMAKEPROGRAMLOOP
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::nvidia_gpu

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

namespace {

/// Whether a loop, or one in it, is to be divided among warps.
bool isMarked(scf::ForOp loop) {
  return loop
      ->walk([](scf::ForOp inner) {
        return gpu::LoopPlan(inner).isWarpSpecialized()
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

bool hasDots(scf::ForOp loop) {
  return !loop.getBody()->getOps<MMAv5OpInterface>().empty();
}

bool hasLoops(scf::ForOp loop) {
  return !loop.getBody()->getOps<scf::ForOp>().empty();
}

/// Whether `op` is the same for all programs, given that its operands are. What
/// is computed in a region is left where it is.
bool isOfAllPrograms(Operation *op) {
  if (auto alloc = dyn_cast<TMEMAllocOp>(op))
    return !alloc.getSrc();
  return op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
         !isa<GetProgramIdOp>(op);
}

/// What a program does, in its order.
SmallVector<Operation *> getWork(Block &entry) {
  llvm::SetVector<Operation *> work;
  for (Operation &op : entry.without_terminator()) {
    bool isLeft = isOfAllPrograms(&op) &&
                  llvm::none_of(op.getOperands(), [&](Value operand) {
                    return work.contains(operand.getDefiningOp());
                  });
    if (!isLeft)
      work.insert(&op);
  }
  return work.takeVector();
}

class MakeProgramLoopPass
    : public nvidia_gpu::impl::TritonNvidiaMakeProgramLoopBase<
          MakeProgramLoopPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    for (auto function : getOperation().getOps<FuncOp>())
      if (function.isPublic() && function.getBody().hasOneBlock() &&
          isWanted(function))
        makeLoop(function);
  }

private:
  /// Whether a loop of the kernel may be divided among warps.
  bool isWanted(FuncOp function) const {
    bool isWanted = false;
    Block &entry = function.getBody().front();
    for (auto loop : entry.getOps<scf::ForOp>()) {
      // Its own tiles overlap, as they do without other programs.
      if (hasLoops(loop) && (isMarked(loop) || hasDotsInLoops(loop)))
        return false;
      isWanted |= isMarked(loop) || (!onlyMarked && hasDots(loop));
    }
    if (!isWanted)
      explain(function, "the loop runs under a condition, or in another loop");
    return isWanted;
  }

  static bool hasDotsInLoops(scf::ForOp loop) {
    return llvm::any_of(loop.getBody()->getOps<scf::ForOp>(), hasDots);
  }

  /// Says of dots in loops why other warps do not start the next program.
  void explain(FuncOp function, StringRef why) const {
    function.walk([&](scf::ForOp loop) {
      bool isAsked = isMarked(loop) || (!onlyMarked && hasDots(loop));
      if (!isAsked || hasLoops(loop))
        return;
      remark::missed(
          loop.getLoc(),
          remark::RemarkOpts::name("no-program-loop").category(DEBUG_TYPE))
          << StringRef(
                 ("the next program begins when this one has ended: " + why)
                     .str());
    });
  }

  void makeLoop(FuncOp function) {
    Block &entry = function.getBody().front();
    Location loc = function.getLoc();
    SmallVector<Operation *> work = getWork(entry);
    OpBuilder builder(entry.getTerminator());
    Value first = arith::ConstantIntOp::create(builder, loc, 0, 32);
    Value end = arith::ConstantIntOp::create(builder, loc, INT32_MAX, 32);
    Value one = arith::ConstantIntOp::create(builder, loc, 1, 32);
    auto loop = scf::ForOp::create(builder, loc, first, end, one);
    loop->setAttr(kOverProgramsAttrName, builder.getUnitAttr());
    // What a program acquires, it acquires for itself. The next one might run
    // on another block.
    loop->setAttr(gpu::kIndependentIterationsAttrName, builder.getUnitAttr());
    bool isAsked = false;
    for (Operation *op : work) {
      auto inner = dyn_cast<scf::ForOp>(op);
      isAsked |= inner && isMarked(inner);
      op->moveBefore(loop.getBody()->getTerminator());
    }
    if (isAsked)
      gpu::LoopPlan(loop).setWarpSpecialized();
    askForPrograms(function, loop);
    ++numLoops;
  }

  static void askForPrograms(FuncOp function, scf::ForOp loop) {
    OpBuilder builder = OpBuilder::atBlockBegin(loop.getBody());
    SmallVector<GetProgramIdOp> asks;
    function.walk([&](GetProgramIdOp ask) { asks.push_back(ask); });
    for (GetProgramIdOp ask : asks) {
      Value number =
          CLCProgramIdOp::create(builder, ask.getLoc(), builder.getI32Type(),
                                 loop.getInductionVar(), ask.getAxis());
      ask.replaceAllUsesWith(number);
    }
    for (GetProgramIdOp ask : asks)
      ask.erase();
  }
};

} // namespace
